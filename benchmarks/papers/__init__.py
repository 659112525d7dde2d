"""Published tables and figures, one command each: ours beside what the paper prints or says.

A paper is a file here; its `RESULTS` name a function for every table and figure.
"""
