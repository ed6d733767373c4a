"""Ops that take functions. Control flow is Python's own here, and one scan is made of ordinary ops."""

from ..absent import names_of
from .associative_scan import associative_scan

__all__ = ["associative_scan"]

__getattr__ = names_of(__name__)
