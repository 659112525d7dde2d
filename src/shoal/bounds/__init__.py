"""Lower bounds on the loss of any release that meets k."""

from shoal.bounds.ascent import Ascent
from shoal.bounds.cells import Cells
from shoal.bounds.certificate import Certificate, Certifier
from shoal.bounds.diverse import DiverseAscent

__all__ = ["Ascent", "Cells", "Certificate", "Certifier", "DiverseAscent"]
