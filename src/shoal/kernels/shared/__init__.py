"""What all kernels build on: forms of columns, costs row by row, requirements, groups and cells."""
