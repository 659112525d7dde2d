"""The audit: proves requirements from what finished columns read, in code that shares nothing with their making.

Nothing here imports anything else of the package but the errors: no encoding, model, method or kernel. The trees
of hierarchies are data that the user gave.
"""
