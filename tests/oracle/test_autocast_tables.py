"""The tables of autocast's policies against PyTorch, read off by behaviour.

Each of PyTorch's Autocast kernels is called with a kernel of ours in place of the op below it, which
sees what was done to the arguments. CUDA's kernels take fake tensors, which need no CUDA device.
"""

import contextlib

import pytest

from mindtorch_core.amp.policies import Policy, tables

pt = pytest.importorskip("torch")

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

pytestmark = [
    pytest.mark.skipif(
        tuple(map(int, pt.__version__.split(".")[:2])) < (2, 13),
        reason="the tables are those of PyTorch 2.13",
    ),
    pytest.mark.filterwarnings("ignore:Warning only once for all operators"),
]


class Reached(Exception):
    """Raised in place of an op's kernel, once its arguments were seen."""


def synthesized(schema, dtypes, device):
    """Arguments that a schema accepts; the first tensors have the given dtypes."""
    wanted = iter(dtypes)

    def tensor():
        return pt.empty(2, 2, dtype=next(wanted, dtypes[-1]), device=device)

    makers = {
        "Tensor": tensor,
        "List[Tensor]": lambda: [tensor(), tensor()],
        "List[Optional[Tensor]]": lambda: [pt.zeros(2, dtype=pt.int64, device=device)],
        "int": lambda: 1,
        "float": lambda: 1.0,
        "bool": lambda: False,
        "number": lambda: 1,
        "str": lambda: "none",
        "List[int]": lambda: [1],
        "List[float]": lambda: [1.0],
        "List[bool]": lambda: [False, False, False],
    }
    args, kwargs = [], {}
    for a in schema.arguments:
        kind = str(a.type)
        tensors = kind in ("Tensor", "List[Tensor]", "List[Optional[Tensor]]")
        if not tensors and a.has_default_value():
            value = a.default_value
        else:
            value = makers[kind]() if kind in makers else None
        if a.kwarg_only:
            kwargs[a.name] = value
        else:
            args.append(value)
    return args, kwargs


def seen_below_autocast(library, name, device, dtypes):
    """The dtypes of the tensors, and the other values, that PyTorch's Autocast kernel passes on."""
    seen = []

    def kernel(*args, **kwargs):
        for value in (*args, *kwargs.values()):
            many = isinstance(value, list | tuple) and value and isinstance(value[0], pt.Tensor)
            for v in value if many else [value]:
                floating = isinstance(v, pt.Tensor) and v.is_floating_point()
                seen.append(str(v.dtype) if floating else repr(v) if v is pt.float32 else "")
        raise Reached

    packet, _, overload = name.partition(".")
    op = getattr(getattr(pt.ops.aten, packet), overload or "default")
    library.impl(
        name, kernel, "AutogradCPU" if device == "cpu" else "AutogradCUDA", allow_override=True
    )
    args, kwargs = synthesized(op._schema, dtypes, device)
    with pytest.raises(Reached):
        op(*args, **kwargs)
    return {s for s in seen if s}


# These go on as another overload, one with a dtype.
REDIRECTED = {"norm.Scalar", "norm.ScalarOpt_dim"}


def policy_by_behaviour(library, name, device, lower):
    """The policy of one of PyTorch's ops, from what it does to float32, lower and mixed arguments."""

    def seen(*dtypes):
        return seen_below_autocast(library, name, device, dtypes)

    try:
        wide, narrow, mixed = seen(pt.float32), seen(lower), seen(pt.float32, lower)
    except RuntimeError as error:
        return Policy.BANNED if "unsafe" in str(error) else None
    low, full = {str(lower)}, {"torch.float32"}
    if (wide, narrow) == (low, low):
        return Policy.LOWER_PRECISION_FP
    if narrow == full:
        return Policy.FP32
    if narrow == low | full:
        return Policy.FP32_SET_OPT_DTYPE
    return Policy.PROMOTE if (wide, narrow, mixed) == (full, low, full) else None


@contextlib.contextmanager
def cuda_autocast():
    """Autocast for fake CUDA tensors; ``torch.autocast("cuda")`` wants a real device."""
    pt.set_autocast_enabled("cuda", True)
    try:
        with FakeTensorMode():
            yield
    finally:
        pt.set_autocast_enabled("cuda", False)


def policies(table):
    return {name: policy for policy, names in table.items() for name in names.split()}


@pytest.mark.parametrize(("device", "table"), [("cpu", tables()[0]), ("cuda", tables()[1])])
def test_the_names_are_those_of_pytorchs_autocast_kernels(device, table):
    has_kernel = pt._C._dispatch_has_kernel_for_dispatch_key
    key = f"Autocast{device.upper()}"
    theirs = {
        name.removeprefix("aten::")
        for name in pt._C._dispatch_get_all_op_names()
        if name.startswith("aten::") and has_kernel(name, key)
    }
    assert policies(table).keys() == theirs


@pytest.mark.parametrize(("device", "table"), [("cpu", tables()[0]), ("cuda", tables()[1])])
def test_each_policy_does_what_pytorchs_kernel_does(device, table):
    expected = {name: p for name, p in policies(table).items() if name not in REDIRECTED}
    lower = pt.get_autocast_dtype(device)
    on = cuda_autocast() if device == "cuda" else pt.autocast("cpu")
    with on, pt.library._scoped_library("aten", "IMPL") as library:
        found = {name: policy_by_behaviour(library, name, device, lower) for name in expected}
    assert found == expected
