"""Suggestions for a table of the user's own: roles, models and how to read it, each with its reason."""
