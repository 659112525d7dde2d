"""Settings: everything that decides a release beside the table."""

from shoal.settings.checks import make_method
from shoal.settings.settings import Others, Settings, make_settings

__all__ = ["Others", "Settings", "make_method", "make_settings"]
