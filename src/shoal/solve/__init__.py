"""From an encoded table to groups: measures, methods, local search and lower bounds. It must not know frames or
files.
"""
