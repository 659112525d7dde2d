"""Suggestions for a table of the user's own: roles, models and how to read it, each with its reason."""

from shoal.suggesting.suggestions import ColumnSuggestion, Suggestions, suggest

__all__ = ["ColumnSuggestion", "Suggestions", "suggest"]
