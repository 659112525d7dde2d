"""A release used again: its closures taken by new records, batch after batch."""
