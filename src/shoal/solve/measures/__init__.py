"""The measures of information loss: what a closure costs, or a whole release."""

from shoal.solve.measures.additive import ADDITIVE, compile_measure
from shoal.solve.measures.catalogue import (
    MEASURES,
    Aggregate,
    MeasureName,
    ObjectiveName,
    column_losses,
    compute_loss,
)

__all__ = [
    "ADDITIVE",
    "MEASURES",
    "Aggregate",
    "MeasureName",
    "ObjectiveName",
    "column_losses",
    "compile_measure",
    "compute_loss",
]
