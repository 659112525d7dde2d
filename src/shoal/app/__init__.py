"""The local web app that `shoal app` starts, for making a release in the browser. Only `worker/` may import frames or
kernels.

The server keeps the state and renders pages. Worker processes read tables and make releases, so the server stays small
and a failed job affects nothing else.
"""
