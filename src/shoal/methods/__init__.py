"""The ways to cut a table into groups, one file each."""

from shoal.methods.agglomerative import Agglomerative
from shoal.methods.base import Method, Partition
from shoal.methods.bottom_up import BottomUp
from shoal.methods.cover import Cover
from shoal.methods.k_member import KMember
from shoal.methods.mondrian import Mondrian
from shoal.methods.sequential import Sequential

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (Cover, Sequential, Agglomerative, KMember, BottomUp, Mondrian)
}

__all__ = [
    "METHODS",
    "Agglomerative",
    "BottomUp",
    "Cover",
    "KMember",
    "Method",
    "Mondrian",
    "Partition",
    "Sequential",
]
