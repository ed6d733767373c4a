"""For packages above the core: which lines of a traceback a user is shown."""

from ..values.own_frames import hide, refusing

__all__ = ["hide", "refusing"]
