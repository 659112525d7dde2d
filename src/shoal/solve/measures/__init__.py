"""What a closure costs: every measure of information loss, in two families."""

from shoal.solve.measures.additive import ADDITIVE, compile_measure
from shoal.solve.measures.catalogue import (
    MEASURES,
    Aggregate,
    MeasureName,
    ObjectiveName,
    column_losses,
    loss,
)

__all__ = [
    "ADDITIVE",
    "MEASURES",
    "Aggregate",
    "MeasureName",
    "ObjectiveName",
    "column_losses",
    "compile_measure",
    "loss",
]
