"""The report on a release as one HTML file, and the summary on the screen. It must not know the steps of a run."""
