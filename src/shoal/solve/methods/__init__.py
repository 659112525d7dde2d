"""The methods that make groups, one file each."""

from typing import Literal

from shoal.solve.methods.agglomerative import Agglomerative
from shoal.solve.methods.base import Method, Partition
from shoal.solve.methods.cover import Auto, Cover
from shoal.solve.methods.exact import Exact
from shoal.solve.methods.incognito import Incognito
from shoal.solve.methods.mondrian import Mondrian
from shoal.solve.methods.papers.bottom_up import BottomUp
from shoal.solve.methods.papers.enhanced_pk import EnhancedPK
from shoal.solve.methods.papers.forest import Forest
from shoal.solve.methods.papers.greedy_pk import GreedyPK
from shoal.solve.methods.papers.hilbert import Hilbert
from shoal.solve.methods.papers.k_member import KMember
from shoal.solve.methods.papers.non_homogeneous import NonHomogeneous
from shoal.solve.methods.papers.sequential import Sequential
from shoal.solve.methods.papers.top_down import TopDown
from shoal.solve.methods.papers.two_means import TwoMeans

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
