"""Releases over time of people who stay: everybody keeps the set of sensitive values of their group."""
