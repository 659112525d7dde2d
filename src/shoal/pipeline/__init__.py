"""One run, step by step: from an open table to an audited release; nothing else knows the order of the steps."""
