"""Operator schemas: PyTorch's grammar for signatures, parsed into plain data.

Source of the grammar: the schema strings of PyTorch's ``native_functions.yaml``, such as
``sum.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor``.
``str()`` of a schema is its canonical text, and schemas are equal when their texts are.
"""

from __future__ import annotations

from functools import lru_cache

from .data import AliasInfo, Argument, OperatorSchema

__all__ = ["AliasInfo", "Argument", "OperatorSchema", "parse_schema", "split_name"]


def split_name(name: str) -> tuple[str, str, str]:
    """Split ``ns::op.overload`` into its parts; the namespace is ``aten`` when none is given."""
    namespace, colons, rest = name.partition("::")
    if not colons:
        namespace, rest = "aten", name
    base, _, overload = rest.partition(".")
    return namespace, base, overload


def parse_schema(text: str) -> OperatorSchema:
    """Parse a schema string such as ``add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor``.

    Raises:
        SchemaError: if it does not parse; the text shows the position.
        TypeError: if it is not a string.
    """
    if not isinstance(text, str):
        raise TypeError(
            f"a schema must be a str such as 'foo(Tensor x) -> Tensor', not {type(text).__name__}"
        )
    return _parsed(text)


@lru_cache(maxsize=4096)  # more than the core has ops
def _parsed(text: str) -> OperatorSchema:
    # Imported here, because a process that defines no op of its own may never parse one.
    from .parser import Parser

    return Parser(text).schema()
