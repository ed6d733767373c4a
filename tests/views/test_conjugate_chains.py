"""Random programs of complex tensors, their conjugate and negative views, and writes, on both libraries.

After every step all tensors made so far are compared: marks, geometry, values, versions, and which of
them share memory. In pipelines they are compared at the end, and under autograd with their gradients.
"""

import os
import warnings

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import mindtorch_core as torch
import view_chains
from mindtorch_core.testing.comparison import assert_same_outcome, from_pytorch

pt = pytest.importorskip("torch")

EXAMPLES = settings(
    max_examples=int(os.environ.get("MINDTORCH_CHAINS", "200")),
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
STEPS = 8
SHAPES = st.sampled_from([(), (1,), (4,), (2, 3), (3, 2), (2, 1, 3), (0, 2)])

MARKS = ("conj", "conj", "imag", "real", "_neg_view", "mH", "H", "adjoint")
READS = ("resolve_conj", "resolve_neg", "conj_physical", "clone", "square", "neg", "detach")
PAIRS = ("view_as_real", "view_as_complex")
VIEWS = {
    name: view_chains.VIEWS[name]
    for name in (
        "view",
        "reshape",
        "transpose",
        "permute",
        "select",
        "narrow",
        "getitem",
        "unsqueeze",
    )
}
WRITES = {
    "add_": lambda lib, t, other: t.add_(one(t)),
    "mul_": lambda lib, t, other: t.mul_(one(t)),
    "fill_": lambda lib, t, other: t.fill_(one(t)),
    "neg_": lambda lib, t, other: t.neg_(),
    "conj_physical_": lambda lib, t, other: t.conj_physical_(),
    "square_": lambda lib, t, other: t.square_(),
    "copy_": lambda lib, t, other: t.copy_(other),
    "add_other": lambda lib, t, other: t.add_(other),
    "setitem": lambda lib, t, other: t.__setitem__(..., one(t)),
    "out": lambda lib, t, other: lib.mul(t.clone(), one(t), out=t),
    "index_fill_": lambda lib, t, other: t.index_fill_(0, lib.tensor([0]), one(t)),
}


def one(t):
    """A number whose conjugate and negative are others."""
    return 2 - 1j if t.is_complex() else 3


@st.composite
def steps(draw, tensors):
    """One step: what to do with which of the tensors, which are PyTorch's, as they are now."""
    at = draw(st.integers(max(len(tensors) - 4, 0), len(tensors) - 1))
    kind = draw(
        st.sampled_from(["mark", "mark", "mark", "read", "pair", "view", "view", "write", "write"])
    )
    if kind == "view":
        name = draw(st.sampled_from(sorted(VIEWS)))
        return kind, at, name, VIEWS[name](draw, tensors[at])
    names = {"mark": MARKS, "read": READS, "pair": PAIRS, "write": sorted(WRITES)}[kind]
    return kind, at, draw(st.sampled_from(names)), draw(st.integers(0, len(tensors) - 1))


def run(lib, tensors, step):
    """Do one step; returns the tensors that it makes."""
    kind, at, name, args = step
    t = tensors[at]
    if kind == "write":
        WRITES[name](lib, t, tensors[args])
        return []
    if kind == "pair":
        return [getattr(lib, name)(t)]
    if name == "getitem":
        return [t[args[0]]]
    made = getattr(t, name)
    return [made if isinstance(made, lib.Tensor) else made(*args) if kind == "view" else made()]


def start(lib, shape):
    """Complex numbers, none of which is its own conjugate or negative."""
    n = pt.Size(shape).numel()
    return lib.tensor(
        [complex(i + 1, n - i + 0.5) for i in range(n)], dtype=lib.complex128
    ).reshape(shape)


def attempt(lib, tensors, step):
    """The tensors a step makes, or the type of the exception it raises."""
    try:
        return run(lib, tensors, step)
    except Exception as error:  # noqa: BLE001 (whatever PyTorch raises)
        return type(error)


def shares(a, b):
    """Whether two tensors of PyTorch lie in one memory."""
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def sound(tensors, step):
    """Whether a step of PyTorch's has one result: it reads nothing of what it writes."""
    kind, at, name, args = step
    if kind != "write":
        return True
    t, other = tensors[at], tensors[args]
    if name in ("copy_", "add_other") and shares(t, other):
        return False
    if name == "index_fill_" and not t.numel():  # a pipeline finds the wrong index later
        return False
    return not (0 in t.stride() and t.numel() > 1)


def facts(t):
    """What is compared of a tensor after each step."""
    strides = [s for n, s in zip(t.shape, t.stride(), strict=True) if n != 1] if t.numel() else None
    offset = t.storage_offset() if t.numel() else None
    return t.is_conj(), t.is_neg(), tuple(t.shape), strides, offset, str(t.dtype), t.tolist()


def sharing(tensors):
    """For each tensor the first one whose memory it lies in."""
    addresses = [t.untyped_storage().data_ptr() if t.numel() else None for t in tensors]
    return [addresses.index(a) for a in addresses]


def both(ours, theirs, step):
    """Do one step on both libraries; whether it did not fail, on both."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both warn where imaginary parts are discarded
        made, wanted = attempt(torch, ours, step), attempt(pt, theirs, step)
    if isinstance(wanted, type):
        assert made is wanted, (step, made)
        return False
    assert isinstance(made, list), (step, made, wanted)
    ours += [a for a in made if all(a is not b for b in ours)]
    theirs += [a for a in wanted if all(a is not b for b in theirs)]
    assert len(ours) == len(theirs), step
    return True


@EXAMPLES
@given(data=st.data())
def test_chains(data):
    shape = data.draw(SHAPES)
    ours, theirs = [start(torch, shape)], [start(pt, shape)]
    for _ in range(data.draw(st.integers(1, STEPS))):
        step = data.draw(steps(theirs))
        assume(sound(theirs, step))
        if both(ours, theirs, step):
            assert [facts(t) for t in ours] == [facts(t) for t in theirs], step
            assert sharing(ours) == sharing(theirs), step
            assert [t._version for t in ours] == [t._version for t in theirs], step


@EXAMPLES
@given(data=st.data())
def test_chains_that_wait_in_a_pipeline(data):
    shape = data.draw(SHAPES)
    theirs = [start(pt, shape)]
    ours = [from_pytorch(theirs[0])]
    with torch.pipeline():
        ours[0] = ours[0] * 1
        for _ in range(data.draw(st.integers(1, STEPS))):
            step = data.draw(steps(theirs))
            assume(sound(theirs, step))
            both(ours, theirs, step)
            marks = [(t.is_conj(), t.is_neg(), tuple(t.shape)) for t in theirs]
            assert [(t.is_conj(), t.is_neg(), tuple(t.shape)) for t in ours] == marks, step
    assert [facts(t) for t in ours] == [facts(t) for t in theirs]


def gradient(lib, leaf, tensors):
    """The leaf's gradient of a real function of everything that was made."""
    total = lib.zeros((), dtype=lib.float64)
    for i, t in enumerate(tensors):
        if t.requires_grad:
            weighted = t * (complex(i + 1, 0.5) if t.is_complex() else i + 1)
            total = total + (weighted.real if t.is_complex() else weighted).sum()
    return lib.autograd.grad(total, leaf)[0] if total.requires_grad else lib.zeros(())


@pytest.mark.parametrize("deferred", [False, True], ids=["eager", "pipeline"])
@EXAMPLES
@given(data=st.data())
def test_gradients_of_chains(deferred, data):
    shape = data.draw(SHAPES)
    theirs = [start(pt, shape).requires_grad_()]
    ours = [start(torch, shape).requires_grad_()]
    leaves = ours[0], theirs[0]
    ours[0], theirs[0] = ours[0] * 1, theirs[0] * 1
    with torch.pipeline(max_ops=100_000 if deferred else 1):
        for _ in range(data.draw(st.integers(1, STEPS))):
            step = data.draw(steps(theirs))
            assume(sound(theirs, step))
            both(ours, theirs, step)
        assert [t.requires_grad for t in ours] == [t.requires_grad for t in theirs]
        assert_same_outcome(
            lambda: gradient(torch, leaves[0], ours),
            lambda: gradient(pt, leaves[1], theirs),
            rtol=1e-9,
            atol=1e-9,
        )
