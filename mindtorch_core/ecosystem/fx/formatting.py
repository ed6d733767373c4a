"""Nodes and their arguments as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindtorch_core import Tensor

from .naming import qualified_name, type_name

if TYPE_CHECKING:
    from .node import Node

__all__ = ["dtype_text", "formatted", "metadata_text", "node_line", "target_text"]


def formatted(value: Any, max_list_len: float = float("inf")) -> str:
    """An argument as graphs show it: nodes with a percent sign, strings without quotes.

    Args:
        value: the argument.
        max_list_len: how many elements of a list or tuple are shown.
    """
    if hasattr(value, "_custom_fx_repr_fn"):
        return str(value._custom_fx_repr_fn())
    if isinstance(value, list | tuple):
        left, right = "[]" if isinstance(value, list) else "()"
        shown = [formatted(v) for n, v in enumerate(value) if n < max_list_len]
        more = f", ...[total_len={len(value)}]" if len(value) >= max_list_len + 1 else ""
        comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"{left}{', '.join(shown)}{comma}{more}{right}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {formatted(each)}" for key, each in value.items()) + "}"
    return f"%{value}" if hasattr(value, "_input_nodes") else str(value)


def target_text(target: Any) -> str:
    """A target as graphs show it."""
    if isinstance(target, str):
        return target
    if hasattr(target, "__module__"):
        if target.__module__ in ("builtins", "_operator"):
            return f"{target.__module__.lstrip('_')}.{target.__name__}"
        return qualified_name(target)
    return qualified_name(target)


def dtype_text(dtype: Any) -> str:
    """A dtype in a few letters, as ``f32``, ``i64`` or ``b8``."""
    name = str(dtype).rpartition(".")[2]
    if name == "bool":
        return "b8"
    kind = (
        name.rstrip("0123456789_efmnuz") if name.startswith("float8") else name.rstrip("0123456789")
    )
    short = {"bfloat": "bf", "float": "f", "complex": "c", "int": "i", "uint": "u"}
    return short.get(kind, kind) + name.removeprefix(kind).replace("_", "")


def metadata_text(value: Any) -> str:
    """Dtype and shape of a tensor, or of what `ShapeProp` keeps about one."""
    return f"{dtype_text(value.dtype)}[{', '.join(map(str, value.shape))}]"


def node_line(
    node: Node, names: list[str] | None, returns: list[str] | None, with_metadata: bool
) -> str | None:
    """What `Node.format_node` gives."""
    kind = f"{type_name(node.type)} " if node.type is not None else ""
    start = f"%{node.name} : {kind}[num_users={len(node.users)}] = {node.op}[target="
    if node.op == "placeholder":
        if names:
            names.append(f"{node.target}: {type_name(node.type)}" if node.type else node.target)
            return None
        default = f"(default={node.args[0]!s})" if node.args else ""
        return f"{start}{node.target}]{default}"
    if node.op == "get_attr":
        return f"{start}{target_text(node.target)}]"
    if node.op == "output":
        if node.type and returns:
            returns[0] = f" -> {type_name(node.type)}"
        return f"return {node.args[0]}"
    meta = node.meta
    value = meta.get("val", meta.get("tensor_meta", meta.get("example_value")))
    if with_metadata and isinstance(value, Tensor):
        strides = ", ".join(map(str, value.stride()))
        kind = f'Tensor "{metadata_text(value)}[{strides}]{value.device}"'
        start = f"%{node.name} : {kind}[num_users={len(node.users)}] = {node.op}[target="
    args, kwargs = formatted(node.args), formatted(node.kwargs)
    return f"{start}{target_text(node.target)}](args = {args}, kwargs = {kwargs})"
