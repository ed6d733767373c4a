"""Between PyTorch's values and ours: tensors with their layout and shared memory, and nested values."""

import ml_dtypes
import numpy as np
import torch as oracle

import mindtorch_core as torch

BFLOAT16 = oracle.bfloat16
DTYPES = {
    theirs: getattr(torch, name)
    for name in [
        "bool",
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
    if (theirs := getattr(oracle, name, None)) is not None
}
THEIRS = {ours: theirs for theirs, ours in DTYPES.items()}


class Unsupported(Exception):
    """A value that has no counterpart here, such as a sparse tensor."""


def to_numpy(t):
    """A PyTorch tensor's elements as an array of the same dtype."""
    t = t.detach().resolve_conj().resolve_neg()
    if t.dtype is BFLOAT16:
        return t.view(oracle.int16).numpy().view(ml_dtypes.bfloat16)
    return t.numpy()


def to_theirs(t):
    """One of our tensors as a PyTorch tensor."""
    if t.is_sparse:
        parts = (to_theirs(t._indices()), to_theirs(t._values()))
        return oracle.sparse_coo_tensor(
            *parts, tuple(t.shape), is_coalesced=t.is_coalesced(), check_invariants=True
        )
    a = t.to("cpu").numpy(force=True)
    if t.dtype is torch.bfloat16:
        return oracle.from_numpy(a.view(np.int16).copy()).view(BFLOAT16)
    return oracle.from_numpy(a.copy())


class Converter:
    """Converts the arguments of one call; tensors that share memory share it here as well."""

    def __init__(self, device="cpu"):
        self.device = device
        self.tensors = {}  # id of theirs: (theirs, ours)
        self.memory = {}  # (address, dtype) of a storage: our tensor of all its elements

    def tensor(self, t):
        found = self.tensors.get(id(t))
        if found is None:
            found = self.tensors[id(t)] = t, self._converted(t)
        return found[1]

    def _converted(self, t):
        if t.layout is not oracle.strided or t.dtype not in DTYPES or t.device.type != "cpu":
            raise Unsupported(f"a {t.layout} tensor of {t.dtype} on {t.device}")
        if t.is_nested or type(t) not in (oracle.Tensor, oracle.nn.Parameter):
            raise Unsupported(f"a tensor of type {type(t)}")
        whole = self._whole(t)
        ours = whole.as_strided(tuple(t.shape), t.stride(), t.storage_offset())
        if t.is_conj():
            ours = ours.conj()
        if t.is_neg():
            ours = ours._neg_view()
        ours = ours.detach()
        if getattr(t, "on_host", False):  # what `traits.ON_HOST` says of the op
            ours = ours.cpu()
        return ours.requires_grad_() if t.requires_grad else ours

    def _whole(self, t):
        storage = t.untyped_storage()
        key = storage.data_ptr() or id(storage), t.dtype
        found = self.memory.get(key)
        if found is None:
            n = storage.nbytes() // t.dtype.itemsize
            flat = oracle.empty(0, dtype=t.dtype).set_(storage, 0, (n,), (1,))
            found = self.memory[key] = torch.from_numpy(to_numpy(flat).copy()).to(self.device)
        return found

    def __call__(self, value):
        """Any argument: tensors, dtypes, devices, layouts, formats, and containers of them."""
        if isinstance(value, oracle.Tensor):
            return self.tensor(value)
        if isinstance(value, oracle.Size):
            return torch.Size(value)
        if isinstance(value, list | tuple):
            made = [self(v) for v in value]
            return tuple(made) if isinstance(value, tuple) else made
        if isinstance(value, dict):
            return {k: self(v) for k, v in value.items()}
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        if isinstance(value, oracle.dtype):
            if value not in DTYPES:
                raise Unsupported(str(value))
            return DTYPES[value]
        if isinstance(value, oracle.device):
            return torch.device(self.device if value.type == "cpu" else str(value))
        if isinstance(value, oracle.layout):
            if value is not oracle.strided:
                raise Unsupported(str(value))
            return torch.strided
        if isinstance(value, oracle.memory_format):
            return getattr(torch, str(value).removeprefix("torch."))
        if isinstance(value, oracle.nn.PairwiseDistance):
            return lambda a, b: torch.pairwise_distance(a, b, value.norm, value.eps, value.keepdim)
        if isinstance(value, oracle.Generator):
            return torch.Generator(self.device).manual_seed(value.initial_seed())
        if value == "cpu":
            return self.device
        return value


def tensors_in(value, kind):
    """All tensors of a kind in nested containers, in order."""
    if isinstance(value, kind):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [t for v in value for t in tensors_in(v, kind)]
    return []
