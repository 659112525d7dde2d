"""Tables of any size as counted combinations: those frequent enough are set aside, and the rest is solved."""
