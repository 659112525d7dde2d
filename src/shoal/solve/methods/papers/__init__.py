"""Methods from papers, for comparison: others lose less or are faster."""
