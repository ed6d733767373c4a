"""A `GraphModule` as a package: its code, its state, and its modules."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import mindtorch_core as torch

from ...utils._own_frames import warn_user
from .naming import surroundings

__all__ = ["to_folder"]

# Modules that are made anew from their texts.
_TEXTS: Final = (
    "Linear", "Conv1d", "Conv2d", "Conv3d", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d",
)  # fmt: skip


def to_folder(module: Any, folder: Any, module_name: str) -> None:
    """Write a package; see `GraphModule.to_folder`."""
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    torch.save(module.state_dict(), folder / "state_dict.pt")
    imports = "\n".join(line for _, line in surroundings().values())
    lines: list[str] = []
    pickled: list[str] = []
    texts = tuple(getattr(torch.nn, name) for name in _TEXTS)
    for name, child in module.named_children():
        if type(child) in texts:
            lines.append(f"setattr(self, '{name}', torch.nn.{child!r})")
            continue
        file = folder / f"{name}.pt"
        torch.save(child, file)
        pickled.append(name)
        comment = repr(child).replace("\r", " ").replace("\n", " ")
        loaded = f"torch.load(r'{file}', weights_only=False)"
        lines.append(f"setattr(self, '{name}', {loaded}) # {comment}")
    for name, tensor in module._buffers.items():
        if tensor is not None:
            lines.append(f"self.register_buffer('{name}', {_empty(tensor)})")
    for name, tensor in module._parameters.items():
        if tensor is not None:
            lines.append(f"setattr(self, '{name}', torch.nn.Parameter({_empty(tensor)}))")
    lines.append(f"self.load_state_dict(torch.load(r'{folder}/state_dict.pt'))")
    made = "".join(f"        {line}\n" for line in lines)
    code = module.code.replace("\n", "\n    ")
    (folder / "module.py").write_text(
        f"{imports}\n\n\nclass {module_name}(torch.nn.Module):\n"
        f"    def __init__(self):\n        super().__init__()\n{made}{code}\n"
    )
    (folder / "__init__.py").write_text("from .module import *\n")
    if pickled:
        warn_user(
            "Was not able to save the following children modules as reprs -"
            f"saved as pickled files instead: {pickled}"
        )


def _empty(tensor: Any) -> str:
    return f"torch.empty({[*tensor.shape]}, dtype={tensor.dtype})"
