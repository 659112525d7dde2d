"""A release used again: its closures taken by new records, batch after batch."""

from shoal.recoding.batch import Batch
from shoal.recoding.recoding import Recoding, recoding_of

__all__ = ["Batch", "Recoding", "recoding_of"]
