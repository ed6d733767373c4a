"""CANN's C interface: functions with their types, codes, enumerations and errors."""

from .codes import NAMES, code_name
from .enums import (
    ACL_TYPES,
    DataType,
    EventFlag,
    EventRecordedStatus,
    Format,
    MallocPolicy,
    MemAttr,
    MemcpyKind,
    StreamFlag,
    StreamStatus,
)
from .errors import ACLError, MissingSymbolError
from .functions import acl, check, raw, recent_message
from .prototypes import CALLBACK, PROTOTYPES, PointerAttributes

__all__ = [
    "ACL_TYPES",
    "CALLBACK",
    "NAMES",
    "PROTOTYPES",
    "ACLError",
    "DataType",
    "EventFlag",
    "EventRecordedStatus",
    "Format",
    "MallocPolicy",
    "MemAttr",
    "MemcpyKind",
    "MissingSymbolError",
    "PointerAttributes",
    "StreamFlag",
    "StreamStatus",
    "acl",
    "check",
    "code_name",
    "raw",
    "recent_message",
]
