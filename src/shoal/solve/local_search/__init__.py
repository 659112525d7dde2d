"""Local search that improves any partition under any objective, keeping every requirement."""
