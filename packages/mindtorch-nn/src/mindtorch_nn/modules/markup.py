"""What notebooks show of a module: its submodules as a tree, with the numbers of their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mindtorch_core.utils._markup import box, escaped

if TYPE_CHECKING:
    from .module import Module

__all__ = ["module_html"]

_LIST = "margin:0;padding-left:1.4em;list-style:none"


def module_html(module: Module) -> str:
    """The tree of a module; only its first level is unfolded."""
    return box(_part("", module, unfolded=True))


def _part(name: str, module: Module, *, unfolded: bool = False) -> str:
    inner = {n: m for n, m in module._modules.items() if m is not None}
    label = f"<code>({escaped(name)})</code> " if name else ""
    count = _counted(module)
    if not inner:
        return f"{label}<code>{escaped(module)}</code>{count}"
    extra = module.extra_repr()
    head = f"{label}<code>{escaped(f'{module._get_name()}({extra})')}</code>{count}"
    items = "".join([f"<li>{_part(n, m)}</li>" for n, m in inner.items()])
    state = " open" if unfolded else ""
    return f'<details{state}><summary>{head}</summary><ul style="{_LIST}">{items}</ul></details>'


def _counted(module: Module) -> str:
    """How many numbers the module's parameters hold, those of its submodules included."""
    total = frozen = 0
    for each in module.parameters():
        if type(each).__name__.startswith("Uninitialized"):
            return " <small>parameters of unknown shape</small>"
        total += each.numel()
        frozen += 0 if each.requires_grad else each.numel()
    if not total:
        return ""
    rest = f", {frozen:,} of them frozen" if frozen else ""
    return f" <small>{total:,} parameters{rest}</small>"
