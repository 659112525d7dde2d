"""The report on a release as one HTML file. It must not know the steps of a run."""
