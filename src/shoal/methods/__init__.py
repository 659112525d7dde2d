"""The ways to cut a table into groups, one file each."""

from shoal.methods.base import Method, Partition
from shoal.methods.cover import Cover
from shoal.methods.mondrian import Mondrian

METHODS: dict[str, type[Method]] = {method.name: method for method in (Cover, Mondrian)}

__all__ = ["METHODS", "Cover", "Method", "Mondrian", "Partition"]
