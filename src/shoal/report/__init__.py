"""What people read of a release: a report as one HTML file, and a summary in a few lines."""
