"""For packages above the core: lines of a traceback that users are shown, words for wrong calls."""

from ..dispatch.asked_wrongly import arguments_of, guarded
from ..values.circles import ending
from ..values.own_frames import hide, refusing, reword
from ..values.user_warnings import warn_user

__all__ = ["arguments_of", "ending", "guarded", "hide", "refusing", "reword", "warn_user"]
