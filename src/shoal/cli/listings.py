"""The commands that list what there is to choose from."""

from __future__ import annotations


def methods() -> None:
    """List the methods: paper, recoding, guarantee, growth in n, options."""
    from shoal.cli.show import blocks
    from shoal.listing import method_facts

    blocks(method_facts())


def requirements() -> None:
    """List the requirements beyond k with their parameters."""
    from shoal.cli.show import blocks
    from shoal.listing import requirement_facts

    blocks(requirement_facts())


def measures() -> None:
    """List the measures of information loss."""
    from shoal.cli.show import listing
    from shoal.listing import list_measures

    listing(list_measures())
