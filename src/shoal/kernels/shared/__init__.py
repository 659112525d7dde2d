"""What every kernel stands on: forms of columns, rows, rules, states of groups, cells."""
