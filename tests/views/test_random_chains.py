"""Chains of views, writes and memory formats give on both libraries the same tensors, step by step.

After every step all tensors made so far are compared: shape, strides, offset, contiguity in every
format, values, version, and which of them share memory, element by element.
"""

import os

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import mindtorch_core as torch
import view_chains

pt = pytest.importorskip("torch")

EXAMPLES = settings(
    max_examples=int(os.environ.get("MINDTORCH_CHAINS", "300")),
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
STEPS = 8


def start(lib, shape, memory_format):
    """Numbers in a memory format."""
    n = 1
    for size in shape:
        n *= size
    made = lib.arange(0, n, 1, dtype=lib.float32).reshape(shape)
    return made.contiguous(memory_format=getattr(lib, memory_format))


def geometry(t, lib):
    """Where a tensor's elements lie. Strides of empty tensors and of sizes 1 mean nothing."""
    steps = zip(t.shape, t.stride(), strict=True)
    strides = [step for n, step in steps if n != 1] if t.numel() else None
    offset = t.storage_offset() if t.numel() else None
    formats = [t.is_contiguous(memory_format=getattr(lib, f)) for f in view_chains.FORMATS[:3]]
    if not t.numel():
        formats = formats[:1]
    return tuple(t.shape), strides, offset, formats, str(t.dtype)


def sharing(tensors):
    """Address of each tensor's first element, counted from the first tensor that shares its memory."""
    starts, out = {}, []
    for i, t in enumerate(tensors):
        base = t.untyped_storage().data_ptr()
        first = starts.setdefault(base, i) if t.numel() else None
        out.append((first, None if first is None else t.data_ptr() - base))
    return out


def attempt(lib, tensors, step):
    """The tensors a step makes, or the type of the exception it raises."""
    try:
        return view_chains.run(lib, tensors, step)
    except Exception as error:  # noqa: BLE001 (whatever PyTorch raises)
        return type(error)


def overlapping(t):
    """Whether different elements of a tensor may lie in one place; then writes have no one result."""
    step = 0
    for stride, size in sorted(zip(t.stride(), t.shape, strict=True)):
        if size == 1:
            continue
        if size and stride <= step:
            return True
        step += stride * (size - 1)
    return False


@pytest.mark.filterwarnings("ignore")  # PyTorch warns once of some uses
@EXAMPLES
@given(data=st.data())
def test_chains(data):
    shape = data.draw(view_chains.SHAPES)
    memory_format = "contiguous_format"
    if len(shape) in (4, 5) and data.draw(st.booleans()):
        memory_format = view_chains.FORMATS[len(shape) - 3]
    ours, theirs = [start(torch, shape, memory_format)], [start(pt, shape, memory_format)]
    for _ in range(data.draw(st.integers(1, STEPS))):
        step = data.draw(view_chains.steps(theirs))
        kind, at, name, _ = step
        if kind == "write" and name not in ("fill_", "zero_", "setitem"):
            assume(not overlapping(theirs[at]) or 0 in theirs[at].stride())
        made, wanted = attempt(torch, ours, step), attempt(pt, theirs, step)
        if isinstance(wanted, type):
            assert made is wanted, step
            continue
        assert isinstance(made, list), (step, made)
        assert len(made) == len(wanted), step
        ours += [a for a in made if all(a is not b for b in ours)]
        theirs += [a for a in wanted if all(a is not b for b in theirs)]
        assert len(ours) == len(theirs), step
        assert [geometry(t, torch) for t in ours] == [geometry(t, pt) for t in theirs], step
        assert [t.tolist() for t in ours] == [t.tolist() for t in theirs], step
        assert sharing(ours) == sharing(theirs), step
        assert [t._version for t in ours] == [t._version for t in theirs], step
