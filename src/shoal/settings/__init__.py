"""Settings: everything that decides a release beside the table."""

from shoal.settings.settings import Settings, make_method, make_settings

__all__ = ["Settings", "make_method", "make_settings"]
