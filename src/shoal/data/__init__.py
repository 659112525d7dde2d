"""Where tables come from and go to: files, databases, engines, and folders for work in progress."""
