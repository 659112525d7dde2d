"""Local search, which improves any groups under any objective and keeps every requirement."""
