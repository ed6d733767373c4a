"""Notes on errors that end a program: what it wanted that only PyTorch or CUDA has, and the way out."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final

from ..dispatch.nearest import missing
from .extensions import way_out

__all__ = ["install", "note_on", "reword"]

_KERNELS: Final = (
    "its kernels are compiled for CUDA, and mindtorch runs none. Leave the package out: {instead}"
)
# Packages that are nothing without their kernels, and what does the same here.
_INSTEAD: Final = {
    "apex": "torch.amp and torch.optim have what it has",
    "bitsandbytes": "load the model without quantization, in torch.bfloat16",
    "causal_conv1d": "transformers has a slower way that needs no package",
    "deepspeed": "accelerate and Trainer run in one process without it",
    "flash_attn": "say attn_implementation='sdpa' or 'eager'",
    "flash_attn_2_cuda": "say attn_implementation='sdpa' or 'eager'",
    "mamba_ssm": "transformers has a slower way that needs no package",
    "torch_npu": "say 'mindtorch run --device npu', and device 'npu'",
    "torch_xla": "use another device",
    "transformer_engine": "torch.nn has the layers",
    "triton": "write the function with ops, in a torch.pipeline() to have them fused",
    "xformers": "torch.nn.functional.scaled_dot_product_attention does what its attention does",
}
_LIBRARY: Final = re.compile(r"lib(torch\w*|c10\w*|caffe2\w*)\.(so|dylib)|\b(torch\w*|c10)\.dll")


def note_on(error: BaseException) -> str:
    """What is to be said beside an error's text; empty for most."""
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        name = error.name.partition(".")[0]
        if name in _INSTEAD:
            return f"{name}: {_KERNELS.format(instead=_INSTEAD[name])}."
    if isinstance(error, OSError):
        found = _LIBRARY.search(str(error))
        if found is not None:
            return f"There is no {found[0]} here. {way_out('What loads it')}"
    return ""


_NAME: Final = re.compile(r"cannot import name '(\w+)' from '((?:torch|mindtorch_\w+)[\w.]*)' \(")


def reword(error: BaseException) -> None:
    """Have an ImportError for a name of ``torch`` say what an AttributeError for it says.

    Python writes its text itself, with a module's own path, whatever the module raises.
    """
    found = _NAME.match(str(error)) if isinstance(error, ImportError) else None
    module = sys.modules.get(found[2]) if found is not None else None
    if found is None or module is None or not isinstance(error, ImportError):
        return
    said = str(missing(found[2], found[1], lambda: [n for n in dir(module) if n[0] != "_"]))
    _, path, rest = said.split("'", 2)
    error.msg = f"cannot import name {found[1]!r} from {path!r}{rest[rest.index(':') :]}"


_Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]


def install() -> None:
    """Have errors that nobody catches say the way out too."""
    before: _Hook = sys.excepthook
    if getattr(before, "of_mindtorch", False):
        return

    def hook(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        reword(error)
        note = note_on(error)
        if note:
            error.add_note(note)
        before(kind, error, traceback)

    hook.of_mindtorch = True  # type: ignore[attr-defined]  # so that it is there once
    sys.excepthook = hook
