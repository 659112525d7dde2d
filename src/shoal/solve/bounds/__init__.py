"""Lower bounds on the loss of any release that meets k."""
