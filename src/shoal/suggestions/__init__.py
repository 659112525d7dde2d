"""Suggested roles, models and reading options for a table, each with its reason. It must not know how a release is
made.
"""
