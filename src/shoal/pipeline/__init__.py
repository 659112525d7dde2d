"""One run, step by step, from an open table to a proved release; no other package knows the order of the steps. It must
not know how a method makes groups.
"""
