"""For packages above the core: which lines of a traceback a user is shown."""

from ..dispatch.calls.own_frames import hide

__all__ = ["hide"]
