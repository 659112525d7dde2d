"""What every kernel stands on: forms of columns, costs row by row, requirements, partitions, cells."""
