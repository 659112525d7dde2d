"""From an encoded table to groups: problem, measures, methods, local search, bounds; persons and counted tables."""
