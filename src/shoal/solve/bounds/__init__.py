"""Lower bounds: what any release with this k must lose."""
