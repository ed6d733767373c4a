"""What each dispatch key is for, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..dispatch.keys import BACKEND_KEYS, DispatchKey

__all__ = ["ROLES", "Role", "functionality", "role_of"]


@dataclass(frozen=True, slots=True)
class Role:
    """What a key is for.

    Attributes:
        purpose: what is registered there.
        does: what the key's wrapper does to a call, where it has one.
        idle: why the wrapper leaves an op alone.
    """

    purpose: str
    does: str = "does its part and calls what is below"
    idle: str = "its wrapper has nothing to do for this op"


_RESOLVES: Final = (
    "hands views on marked, other ops resolved copies, and writes back what they wrote to these",
    "a composition: the ops it is made of come here",
)

ROLES: Final[dict[str, Role]] = {
    "PythonDispatcher": Role(
        "tensors of classes with __torch_function__",
        "hands the call, as it was written, to the __torch_function__ of its arguments' classes",
    ),
    "PreDispatch": Role(
        "function modes",
        "hands the call, as it was written, to the thread's innermost function mode",
    ),
    "FuncTorchDynamicLayerFrontMode": Role("the way into function transforms"),
    "PythonTLSSnapshot": Role("the thread's state on entry, for the Python key"),
    "DeferredInit": Role("modules whose parameters are made later"),
    "FuncTorchGradWrapper": Role("levels of the grad transform"),
    "VmapMode": Role("random ops under the older vmap"),
    "Batched": Role("the older vmap"),
    "FuncTorchVmapMode": Role("random ops under vmap"),
    "BatchedNestedTensor": Role("vmap over nested tensors"),
    "FuncTorchBatched": Role("vmap"),
    "Autocast": Role(
        "mixed precision on one backend",
        "converts the arguments by the op's autocast policy and calls the op again without the key",
        "autocast leaves this op alone here",
    ),
    "Tracer": Role("tracing of calls into a graph"),
    "ForwardGrad": Role(
        "tensors that move along a tangent",
        "runs what is below and gives its results their tangents",
    ),
    "AutogradNestedTensor": Role("gradients of nested tensors"),
    "AutogradFunctionality": Role(
        "gradients of tensors on one backend",
        "runs what is below and records a node for backward",
        "the op has no gradient to record",
    ),
    "AutogradOther": Role("gradients on backends without an Autograd key of their own"),
    "ADInplaceOrView": Role(
        "version counters",
        "raises the version of the tensors that the op writes",
        "the op writes none of its arguments",
    ),
    "ZeroTensor": Role("tensors known to be zero"),
    "Negative": Role("views that negate when they are read", *_RESOLVES),
    "Conjugate": Role("views that conjugate when they are read", *_RESOLVES),
    "Functionalize": Role("removal of writes and aliases"),
    "FuncTorchDynamicLayerBackMode": Role("re-entry of function transforms after autograd"),
    "Python": Role(
        "dispatch modes",
        "hands the op to the thread's dispatch modes",
        "a composition: the modes are handed the ops it is made of",
    ),
    "Inference": Role(
        "inference mode and the tensors made in it",
        "marks new tensors as made in inference mode, and refuses writes to such tensors outside it",
    ),
    "BackendSelect": Role("choice of the backend for ops without tensor arguments"),
    "Pipeline": Role(
        "deferred execution",
        "finds shape and dtype by the op's rule and records the call for later",
        "nothing to defer: a composition, or a device that computes nothing",
    ),
    "NestedTensor": Role("tensors of rows that differ in length"),
    "SparseCsr": Role("sparse tensors by compressed rows or columns"),
    "Sparse": Role("sparse tensors by coordinates"),
    "MkldnnCPU": Role("tensors in oneDNN's layout"),
    "CustomRNGKeyId": Role("random generators supplied by users"),
    "Quantized": Role("quantized tensors"),
    "Metal": Role("a backend with one key for everything"),
    "Vulkan": Role("a backend with one key for everything"),
    "FPGA": Role("a backend with one key for everything"),
    "Dense": Role("kernels for ordinary tensors of one backend"),
    # aliases
    "Autograd": Role("gradients, whatever the backend"),
    "CompositeExplicitAutogradNonFunctional": Role(
        "an op made of others, for backends that keep no memory to write to"
    ),
    "CompositeExplicitAutograd": Role("an op made of others, with a gradient of its own"),
    "CompositeImplicitAutogradNestedTensor": Role("an op made of others, on nested tensors"),
    "FuncTorchBatchedDecomposition": Role("an op made of others, under vmap"),
    "CompositeImplicitAutograd": Role("an op made of others, whose gradient comes from its parts"),
}

_BACKENDS: Final = frozenset(b.name for b in BACKEND_KEYS)
_FAMILIES: Final = {
    "Autocast": "Autocast",
    "Autograd": "AutogradFunctionality",
    "NestedTensor": "NestedTensor",
    "SparseCsr": "SparseCsr",
    "Sparse": "Sparse",
    "Quantized": "Quantized",
}


def functionality(key: DispatchKey) -> str:
    """The functionality that a key is one backend's part of; its own name if it belongs to none."""
    if key.name in _BACKENDS:
        return "Dense"
    for prefix, family in _FAMILIES.items():
        if key.name.startswith(prefix) and key.name.removeprefix(prefix) in _BACKENDS:
            return family
    return key.name


def role_of(key: DispatchKey) -> Role:
    """What a key is for."""
    found = ROLES[functionality(key)]
    if key in (DispatchKey.AutogradOther, DispatchKey.AutogradNestedTensor):
        like = ROLES["AutogradFunctionality"]
        return Role(found.purpose, like.does, like.idle)
    return found
