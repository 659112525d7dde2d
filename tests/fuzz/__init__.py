"""Campaigns that try to break shoal: random tables, killed runs, full disks and hostile files."""
