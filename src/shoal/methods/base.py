"""What a method is: options, validated at once, and one function from a problem to a partition."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from shoal.progress import Progress

if TYPE_CHECKING:
    from shoal.generalization.forms import Ints
    from shoal.problem import Problem


@dataclass(frozen=True)
class Partition:
    """A group number for every record, and what the method has to say about its run."""

    groups: Ints
    notes: tuple[str, ...] = ()


class Method(ABC):
    """A partition algorithm with its options."""

    name: ClassVar[str]
    summary: ClassVar[str]

    @abstractmethod
    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        """Cut the problem's records into groups of at least k."""

    def problems(self) -> list[str]:
        """Sentences for options that cannot be."""
        return []
