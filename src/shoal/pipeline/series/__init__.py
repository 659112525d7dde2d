"""Releases over time of people who stay: everybody keeps the same set of possible sensitive values."""
