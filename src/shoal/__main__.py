"""Lets `python -m shoal` be the command line."""

from shoal.cli import main

main()
