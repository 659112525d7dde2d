"""Methods of the papers that matter for comparison: others lose less, or take less time."""
