"""The local web app that `shoal app` starts, for making a release in the browser. It must not know frames or kernels
outside `worker/`.

The server keeps state and draws pages. Worker processes read tables and make releases, so the server stays small and
a failed job takes nothing else with it.
"""
