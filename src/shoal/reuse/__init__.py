"""A release used again: new records take its closures, batch after batch. It must not know methods."""
