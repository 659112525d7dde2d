"""Releases over time of people who stay: everybody keeps the set of sensitive values of their group."""

from shoal.series.history import History, Night, history_of
from shoal.series.making import Tonight, make_tonight
from shoal.series.proving import examine_night

__all__ = ["History", "Night", "Tonight", "examine_night", "history_of", "make_tonight"]
