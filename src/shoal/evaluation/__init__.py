"""Is it safe, and is it still useful: risk, distributions, queries, classification, association rules."""
