"""Lower bounds on the loss of any release that meets k."""

from shoal.bounds.certificate import Certificate, Certifier

__all__ = ["Certificate", "Certifier"]
