"""The ways to cut a table into groups, one file each."""

from typing import Literal

from shoal.methods.agglomerative import Agglomerative
from shoal.methods.auto import Auto
from shoal.methods.base import Method, Partition
from shoal.methods.bottom_up import BottomUp
from shoal.methods.cover import Cover
from shoal.methods.enhanced_pk import EnhancedPK
from shoal.methods.exact import Exact
from shoal.methods.forest import Forest
from shoal.methods.greedy_pk import GreedyPK
from shoal.methods.hilbert import Hilbert
from shoal.methods.incognito import Incognito
from shoal.methods.k_member import KMember
from shoal.methods.mondrian import Mondrian
from shoal.methods.non_homogeneous import NonHomogeneous
from shoal.methods.sequential import Sequential
from shoal.methods.top_down import TopDown
from shoal.methods.two_means import TwoMeans

MethodName = Literal[  # for editors; a test compares it with METHODS
    "auto",
    "cover",
    "sequential",
    "agglomerative",
    "k_member",
    "mondrian",
    "hilbert",
    "bottom_up",
    "top_down",
    "two_means",
    "forest",
    "enhanced_pk",
    "greedy_pk",
    "incognito",
    "non_homogeneous",
    "exact",
]
METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        Auto,
        Cover,
        Sequential,
        Agglomerative,
        KMember,
        Mondrian,
        Hilbert,
        BottomUp,
        TopDown,
        TwoMeans,
        Forest,
        EnhancedPK,
        GreedyPK,
        Incognito,
        NonHomogeneous,
        Exact,
    )
}

__all__ = [
    "METHODS",
    "Agglomerative",
    "Auto",
    "BottomUp",
    "Cover",
    "EnhancedPK",
    "Exact",
    "Forest",
    "GreedyPK",
    "Hilbert",
    "Incognito",
    "KMember",
    "Method",
    "MethodName",
    "Mondrian",
    "NonHomogeneous",
    "Partition",
    "Sequential",
    "TopDown",
    "TwoMeans",
]
