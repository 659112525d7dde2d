"""Where tables come from and where releases go: files, databases and engines. It must not know settings or what a
release is.
"""
