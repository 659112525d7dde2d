"""What a release promises: requirements, their feasibility, and what kernels are told of them."""
