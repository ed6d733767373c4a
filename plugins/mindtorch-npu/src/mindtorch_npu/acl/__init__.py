"""CANN's C interface: functions with their types, codes and errors; `enums` has its numbers."""

from .codes import NAMES, code_name
from .errors import ACLError, MissingSymbolError
from .functions import acl, check, raw, recent_message
from .prototypes import CALLBACK, PROTOTYPES, PointerAttributes

__all__ = [
    "CALLBACK",
    "NAMES",
    "PROTOTYPES",
    "ACLError",
    "MissingSymbolError",
    "PointerAttributes",
    "acl",
    "check",
    "code_name",
    "raw",
    "recent_message",
]
