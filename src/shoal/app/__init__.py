"""The app: a local web page on which a steward makes a release; `shoal app` starts it.

The server keeps state and draws pages; tables are read and released by processes of their own (`worker/`), so that
the server stays small and a failed job takes nothing with it.
"""
