"""Tables of any size as counted combinations: what meets the requirement alone is set aside, the rest is solved."""
