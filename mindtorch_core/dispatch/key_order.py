"""The dispatch keys in their order, and the groups they form.

A key is one bit of an int, and a higher bit is a higher priority: the winner of a mask is its
highest bit. Names and relative order are PyTorch 2.4's (``c10/core/DispatchKey.h``), one bit for
each pair of a functionality and a backend. Some keys are this project's own: the NPU backend has a
slot of its own below PrivateUse1, `DispatchKey.Pipeline` is directly below
`DispatchKey.BackendSelect` and `DispatchKey.Inference` directly above it, `DispatchKey.ForwardGrad`
is directly above those of autograd, and PrivateUse2 and 3 have Autocast keys. Names that changed their
place between PyTorch 2.4 and 2.13 (MAIA, Fake, Named) and test-only ones are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, auto
from typing import Any, Final

from .nearest import nearest

__all__ = ["DISPATCH_KEY_PRIORITY", "DispatchKey", "parse_key"]


class DispatchKey(IntEnum):
    """What an op can be dispatched on; values are ``1 << priority``."""

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[Any]) -> int:
        return 1 << count

    # backends: dense tensors
    CPU = auto()
    CUDA = auto()
    HIP = auto()
    XLA = auto()
    MPS = auto()
    IPU = auto()
    XPU = auto()
    HPU = auto()
    VE = auto()
    Lazy = auto()
    MTIA = auto()
    NPU = auto()
    PrivateUse1 = auto()
    PrivateUse2 = auto()
    PrivateUse3 = auto()
    Meta = auto()
    # backends with one key for everything
    FPGA = auto()
    Vulkan = auto()
    Metal = auto()
    # backends: quantized tensors
    QuantizedCPU = auto()
    QuantizedCUDA = auto()
    QuantizedHIP = auto()
    QuantizedXLA = auto()
    QuantizedMPS = auto()
    QuantizedIPU = auto()
    QuantizedXPU = auto()
    QuantizedHPU = auto()
    QuantizedVE = auto()
    QuantizedLazy = auto()
    QuantizedMTIA = auto()
    QuantizedNPU = auto()
    QuantizedPrivateUse1 = auto()
    QuantizedPrivateUse2 = auto()
    QuantizedPrivateUse3 = auto()
    QuantizedMeta = auto()
    CustomRNGKeyId = auto()
    MkldnnCPU = auto()
    # backends: sparse, compressed sparse and nested tensors
    SparseCPU = auto()
    SparseCUDA = auto()
    SparseHIP = auto()
    SparseXLA = auto()
    SparseMPS = auto()
    SparseIPU = auto()
    SparseXPU = auto()
    SparseHPU = auto()
    SparseVE = auto()
    SparseLazy = auto()
    SparseMTIA = auto()
    SparseNPU = auto()
    SparsePrivateUse1 = auto()
    SparsePrivateUse2 = auto()
    SparsePrivateUse3 = auto()
    SparseMeta = auto()
    SparseCsrCPU = auto()
    SparseCsrCUDA = auto()
    SparseCsrHIP = auto()
    SparseCsrXLA = auto()
    SparseCsrMPS = auto()
    SparseCsrIPU = auto()
    SparseCsrXPU = auto()
    SparseCsrHPU = auto()
    SparseCsrVE = auto()
    SparseCsrLazy = auto()
    SparseCsrMTIA = auto()
    SparseCsrNPU = auto()
    SparseCsrPrivateUse1 = auto()
    SparseCsrPrivateUse2 = auto()
    SparseCsrPrivateUse3 = auto()
    SparseCsrMeta = auto()
    NestedTensorCPU = auto()
    NestedTensorCUDA = auto()
    NestedTensorHIP = auto()
    NestedTensorXLA = auto()
    NestedTensorMPS = auto()
    NestedTensorIPU = auto()
    NestedTensorXPU = auto()
    NestedTensorHPU = auto()
    NestedTensorVE = auto()
    NestedTensorLazy = auto()
    NestedTensorMTIA = auto()
    NestedTensorNPU = auto()
    NestedTensorPrivateUse1 = auto()
    NestedTensorPrivateUse2 = auto()
    NestedTensorPrivateUse3 = auto()
    NestedTensorMeta = auto()
    # deferral, choice of the backend, inference mode, dispatch modes
    Pipeline = auto()
    BackendSelect = auto()
    Inference = auto()
    Python = auto()
    FuncTorchDynamicLayerBackMode = auto()
    Functionalize = auto()
    Conjugate = auto()
    Negative = auto()
    ZeroTensor = auto()
    ADInplaceOrView = auto()
    # autograd
    AutogradOther = auto()
    AutogradCPU = auto()
    AutogradCUDA = auto()
    AutogradHIP = auto()
    AutogradXLA = auto()
    AutogradMPS = auto()
    AutogradIPU = auto()
    AutogradXPU = auto()
    AutogradHPU = auto()
    AutogradVE = auto()
    AutogradLazy = auto()
    AutogradMTIA = auto()
    AutogradNPU = auto()
    AutogradPrivateUse1 = auto()
    AutogradPrivateUse2 = auto()
    AutogradPrivateUse3 = auto()
    AutogradMeta = auto()
    AutogradNestedTensor = auto()
    ForwardGrad = auto()
    Tracer = auto()
    # mixed precision
    AutocastCPU = auto()
    AutocastXPU = auto()
    AutocastIPU = auto()
    AutocastHPU = auto()
    AutocastXLA = auto()
    AutocastCUDA = auto()
    AutocastNPU = auto()
    AutocastPrivateUse1 = auto()
    AutocastPrivateUse2 = auto()
    AutocastPrivateUse3 = auto()
    # function transforms and tracing
    FuncTorchBatched = auto()
    BatchedNestedTensor = auto()
    FuncTorchVmapMode = auto()
    Batched = auto()
    VmapMode = auto()
    FuncTorchGradWrapper = auto()
    DeferredInit = auto()
    PythonTLSSnapshot = auto()
    FuncTorchDynamicLayerFrontMode = auto()
    PreDispatch = auto()
    PythonDispatcher = auto()
    # aliases: groups at registration, never the key a kernel is looked up under in the end
    Autograd = auto()
    CompositeImplicitAutograd = auto()
    FuncTorchBatchedDecomposition = auto()
    CompositeImplicitAutogradNestedTensor = auto()
    CompositeExplicitAutograd = auto()
    CompositeExplicitAutogradNonFunctional = auto()

    def __str__(self) -> str:
        return self.name


DISPATCH_KEY_PRIORITY: Final[tuple[DispatchKey, ...]] = tuple(reversed(DispatchKey))


def parse_key(key: DispatchKey | int | str) -> DispatchKey:
    """A dispatch key from itself, its value or its exact name.

    Raises:
        RuntimeError: if there is no such key; the text suggests the nearest names.
    """
    if isinstance(key, DispatchKey):
        return key
    try:
        return DispatchKey[key] if isinstance(key, str) else DispatchKey(key)
    except (KeyError, ValueError):
        raise RuntimeError(f"could not parse dispatch key: {key}.{_nearest(key)}") from None


def _nearest(key: int | str) -> str:
    """A hint at the names that an unknown one may have meant."""
    if not isinstance(key, str):
        return " The value of a key is a power of two, such as DispatchKey.CPU."
    names = {name.lower(): name for name in DispatchKey.__members__}
    near = [names[n] for n in nearest(key.lower(), names)]
    return f" Did you mean {' or '.join(near)}?" if near else " Keys are spelt as in DispatchKey."


def mask_of(keys: Iterable[int]) -> int:
    """Union of keys as an int."""
    out = 0
    for k in keys:
        out |= k
    return int(out)


def _family(prefix: str) -> dict[DispatchKey, DispatchKey]:
    """The key of each backend in a functionality, such as ``Sparse``."""
    return {b: DispatchKey[f"{prefix}{b.name}"] for b in BACKEND_KEYS}


# ---- backends ----------------------------------------------------------------------------------

BACKEND_KEYS: Final = tuple(k for k in DispatchKey if k <= DispatchKey.Meta)
PRIVATE_USE_KEYS: Final = (
    DispatchKey.PrivateUse1,
    DispatchKey.PrivateUse2,
    DispatchKey.PrivateUse3,
)
AUTOGRAD_OF: Final = _family("Autograd")

BACKENDS: Final = mask_of(BACKEND_KEYS)
# Every key below Pipeline is a place where memory lives, in one layout or another.
BACKEND_BITS: Final = int(DispatchKey.Pipeline) - 1
PRIVATE_USE: Final = mask_of(PRIVATE_USE_KEYS)
NESTED: Final = mask_of(_family("NestedTensor").values())
_SPARSE: Final = mask_of(_family("Sparse").values())
# What is neither dense nor nested has its gradients at AutogradOther.
_OTHER: Final = BACKEND_BITS & ~BACKENDS & ~NESTED
_LAZY: Final = mask_of(k for k in DispatchKey if k.name.endswith(("XLA", "Lazy")))

# ---- autograd ----------------------------------------------------------------------------------

ADINPLACE: Final = DispatchKey.ADInplaceOrView
# Bits of tensors whose elements are the conjugates, or negatives, of what their memory holds.
CONJUGATE: Final = int(DispatchKey.Conjugate)
NEGATIVE: Final = int(DispatchKey.Negative)
UNRESOLVED: Final = CONJUGATE | NEGATIVE
# The bit of tensors that have a tangent.
FORWARD: Final = int(DispatchKey.ForwardGrad)
# Calls with these are handed on as they were written, before they are dispatched: to the
# ``__torch_function__`` of their arguments' classes, and to that of the thread's function modes.
FUNCTION_CLASSES: Final = int(DispatchKey.PythonDispatcher)
FUNCTION_MODES: Final = int(DispatchKey.PreDispatch)
OVERRIDDEN: Final = FUNCTION_CLASSES | FUNCTION_MODES
# PyTorch keeps these two in every thread's include mask. Here they are bits of every tensor, so
# that the masks of a thread are empty by default and a call need not apply them.
DEFAULT_INCLUDED: Final = int(DispatchKey.BackendSelect | ADINPLACE)
AUTOGRAD_RUNTIME: Final = mask_of(
    [*AUTOGRAD_OF.values(), DispatchKey.AutogradOther, DispatchKey.AutogradNestedTensor]
)
AUTOGRAD: Final = AUTOGRAD_RUNTIME | DispatchKey.Autograd

# Backend keys behind each Autograd key. Those of HIP, VE and MTIA have none, as in PyTorch.
BEHIND_AUTOGRAD: Final[dict[DispatchKey, int]] = {
    **{a: int(b) for b, a in AUTOGRAD_OF.items() if b.name not in ("HIP", "VE", "MTIA")},
    DispatchKey.AutogradOther: _OTHER,
    DispatchKey.AutogradNestedTensor: NESTED,
}

# The keys of a functionality on all backends, for each of them. They are skipped together: a
# fallthrough of the strongest backend in a call counts, as in PyTorch.
FUNCTIONALITY: Final[dict[DispatchKey, int]] = {
    key: mask_of(family.values())
    for family in (
        *(_family(f) for f in ("", "Quantized", "Sparse", "SparseCsr", "NestedTensor")),
        AUTOGRAD_OF,
    )
    for key in family.values()
}


class _WithAutograd(dict[int, int]):
    """A tensor's keys with those of autograd added, by its keys without.

    The same int object is given each time: a union of keys is spared where two tensors have the
    very same one.
    """

    def __missing__(self, keys: int) -> int:
        found = self[keys] = keys | mask_of(a for b, a in AUTOGRAD_OF.items() if keys & b)
        return found


WITH_AUTOGRAD: Final = _WithAutograd()

# ---- aliases -----------------------------------------------------------------------------------

ALIAS_KEYS: Final = tuple(k for k in DispatchKey if k >= DispatchKey.Autograd)
ALIASES: Final = mask_of(ALIAS_KEYS)
COMPOSITES: Final = ALIASES & ~DispatchKey.Autograd

# Runtime keys that each alias stands for at registration.
ALIAS_MEMBERS: Final[dict[DispatchKey, int]] = {
    DispatchKey.Autograd: AUTOGRAD_RUNTIME,
    DispatchKey.CompositeImplicitAutograd: (
        BACKENDS | _OTHER | NESTED | AUTOGRAD_RUNTIME | DispatchKey.Functionalize
    ),
    DispatchKey.CompositeExplicitAutograd: BACKENDS | _OTHER,
    DispatchKey.CompositeExplicitAutogradNonFunctional: (BACKENDS | _OTHER) & ~_SPARSE & ~_LAZY,
    DispatchKey.CompositeImplicitAutogradNestedTensor: NESTED | DispatchKey.AutogradNestedTensor,
    DispatchKey.FuncTorchBatchedDecomposition: int(DispatchKey.FuncTorchBatched),
}


def expand_aliases(mask: int) -> int:
    """Replace alias bits by the runtime keys they stand for in this mask.

    ``Autograd`` becomes the Autograd keys of the mask's backends (AutogradOther without a
    backend); Composite keys name no place of their own and are dropped.
    """
    if mask & DispatchKey.Autograd:
        found = mask_of(a for b, a in AUTOGRAD_OF.items() if mask & b)
        if mask & NESTED:
            found |= DispatchKey.AutogradNestedTensor
        if mask & _OTHER:
            found |= DispatchKey.AutogradOther
        mask |= found or int(DispatchKey.AutogradOther)
    return mask & ~ALIASES
