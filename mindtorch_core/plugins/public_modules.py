"""Which modules of the core are for others than the core."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any, Final

from ..frontend.aliases import source_of

__all__ = ["CORE", "DOOR", "OFFERS", "is_public", "offered", "promised"]

CORE: Final = __name__.partition(".")[0]
DOOR: Final = f"{CORE}.backend"

# Public modules. Those that end in a dot stand for what is below them too.
PUBLIC: Final = (
    "backend", "communication", "library", "plugins",  # for plugins
    "testing", "testing.conformance",
    "dispatch", "dispatch.dispatcher", "dispatch.keys", "dispatch.pipeline", "dispatch.registry",
    "dispatch.schema",
    "runtime", "streams",  # paths of old of what the door has
    "random",
    "inspection", "cli",  # for their tests
    "__future__",
    "amp", "autograd", "autograd.function", "autograd.functional", "autograd.graph", "fft", "func",
    "linalg", "masked", "multiprocessing.", "nn", "nn.functional", "overrides", "serialization",
    "signal", "signal.windows", "sparse", "special", "storage", "utils.",
)  # fmt: skip

# Those of which the names in their ``__all__`` are public alone.
BY_ALL: Final = tuple(f"{CORE}.{each}" for each in PUBLIC[: PUBLIC.index("random")])
# Where the public name of a private one is looked for, the best place first.
OFFERS: Final = (
    DOOR, f"{CORE}.plugins", f"{CORE}.library", f"{CORE}.dispatch.registry", f"{CORE}.dispatch.keys",
    f"{CORE}.dispatch.dispatcher", f"{CORE}.dispatch.pipeline", CORE, f"{CORE}.testing",
)  # fmt: skip
# What has another public form than a name.
OTHERWISE: Final = {"fn": f"the functions of {CORE}"}


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


def promised(module: str, name: str) -> bool:
    """Whether a name of a public module is public, which is no module itself."""
    if module not in BY_ALL or name.startswith("__"):
        return True
    try:
        return name in getattr(importlib.import_module(module), "__all__", [name])
    except ImportError:  # the kit, without pytest
        return True


def offered(module: str, name: str, places: Iterable[str] = OFFERS) -> str:
    """The public name of what a private module, which may be gone, calls so; empty if none is known."""
    try:
        wanted: Any = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        wanted = None
    known = {place: importlib.import_module(place) for place in places}
    for place, public in known.items():
        if name in public.__all__ and (wanted is None or getattr(public, name) is wanted):
            return f"{place}.{name}"
    for place, public in known.items() if callable(wanted) else ():
        for other in public.__all__:
            if getattr(public, other) is wanted:
                return f"{place}.{other}"
    return OTHERWISE.get(name, "")
