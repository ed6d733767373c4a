"""``torch.return_types``: the named tuples that ops give, such as ``max`` along a dimension."""

from __future__ import annotations

from typing import Any

from ..opdefs.torch_ops import ops
from ..opdefs.variants import return_type


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        packet: Any = getattr(ops.aten, name, None)
        for overload in packet.overloads() if packet is not None else ():
            made = return_type(packet._entry("" if overload == "default" else overload))
            if made is not None:
                globals()[name] = made
                return made
    raise AttributeError(f"module 'torch.return_types' has no attribute {name!r}", name=name)
