"""Settings: everything that decides a release beside the table."""

from shoal.settings.checks import make_method
from shoal.settings.problems import Others
from shoal.settings.settings import Settings, make_settings

__all__ = ["Others", "Settings", "make_method", "make_settings"]
