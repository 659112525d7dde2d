"""What could break the promise of a release: limits for groups, feasibility, leaks of unchanged columns. It must not
know methods.
"""
