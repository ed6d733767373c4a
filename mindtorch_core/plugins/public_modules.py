"""Which modules of the core are for others than the core."""

from __future__ import annotations

from typing import Final

from ..frontend.aliases import source_of

__all__ = ["CORE", "DOOR", "is_public"]

CORE: Final = __name__.partition(".")[0]
DOOR: Final = f"{CORE}.backend"

# Public modules. Those that end in a dot stand for what is below them too.
PUBLIC: Final = (
    "backend", "communication", "library", "plugins", "testing.",  # for plugins
    "dispatch", "dispatch.dispatcher", "dispatch.keys", "dispatch.pipeline", "dispatch.registry",
    "dispatch.schema",
    "runtime", "streams", "random",  # paths of old
    "inspection", "cli",  # for their tests
    "__future__",
    "amp", "autograd", "autograd.function", "autograd.functional", "autograd.graph", "fft", "func",
    "linalg", "masked", "multiprocessing.", "nn", "nn.functional", "overrides", "serialization",
    "signal", "signal.windows", "sparse", "special", "storage", "utils.",
)  # fmt: skip


def is_public(module: str) -> bool:
    """Whether a module of the core, by its path, is for plugins or programs.

    So are those at PyTorch's paths, such as ``mindtorch_core.cuda``, wherever they lie.
    """
    inner = module.removeprefix(CORE).removeprefix(".")
    if inner in ("", *PUBLIC):
        return True
    if any(part.startswith("_") for part in inner.split(".")):
        return False
    if source_of(module):
        return True
    return any(f"{inner}.".startswith(p) for p in PUBLIC if p[-1] == ".")
