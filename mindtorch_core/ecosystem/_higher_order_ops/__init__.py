"""Ops that take functions. Control flow is Python's own here, and one scan is made of ordinary ops."""

from ..absent import names_of
from .associative_scan import associative_scan
from .control_flow import cond, while_loop
from .out_dtype import out_dtype

__all__ = ["associative_scan", "cond", "out_dtype", "while_loop"]

__getattr__ = names_of(__name__)
