"""Special functions: those of ``torch.special``, each defined with its op."""

from typing import TYPE_CHECKING

from .opdefs.namespaces import serve

if TYPE_CHECKING:
    from .stubs.special import *  # noqa: F403
else:
    __getattr__, __dir__ = serve("special", globals())
