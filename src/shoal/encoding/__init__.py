"""Tables as integers: cells become codes, and the closures of groups become text again. It must not know how groups are
made.
"""
