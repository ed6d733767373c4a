"""Linear algebra: the functions of ``torch.linalg``, each defined with its op."""

from typing import TYPE_CHECKING

from .opdefs.namespaces import serve
from .values.errors import LinAlgError as LinAlgError

if TYPE_CHECKING:
    from .stubs.linalg import *  # noqa: F403
else:
    __getattr__, __dir__ = serve("linalg", globals())
