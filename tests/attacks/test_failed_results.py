"""A value that could not be computed: whoever uses it, and however, is told why it is missing."""

import contextlib
import copy
import gc
import io
import pickle
import threading
import weakref

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch import current_pipeline
from mindtorch_core.dispatch.keys import ACTIVE, DispatchKey, apply_tls_masks
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs.define import definitions
from mindtorch_core.opdefs.packets import front
from mindtorch_core.operators.recipes import build
from mindtorch_core.testing.samples import samples
from mindtorch_core.values.devices import row_of
from mindtorch_cpu.fusion.limits import LIMITS


@pytest.fixture(scope="module", autouse=True)
def lost():
    """An op whose kernel always fails."""
    library = torch.library.Library("failing", "DEF")
    library.define("lost(Tensor x) -> Tensor")

    def raising(x):
        raise ValueError("the kernel's own words")

    library.impl("lost", raising, "CPU")
    library.impl("lost", lambda x: torch.empty_like(x), "Meta")
    yield
    library._destroy()


def failing(program, error=torch.PipelineError):
    """What a program gives in a block that ends with an error."""
    made = []
    with pytest.raises(error), torch.pipeline():
        made.append(program())
    return made[0]


def failed(like):
    """A tensor of some shape and dtype whose value could not be computed."""
    return failing(lambda: torch.ops.failing.lost(like))


def check(error):
    assert error.op == "failing::lost"
    assert error.location.startswith(__file__)
    assert "the kernel's own words" in str(error)
    assert isinstance(error.__cause__, ValueError)


# ---- every op -----------------------------------------------------------------------------------


def calls():
    """For every op its first sample call with a tensor."""
    for d in definitions():
        found = next((s for s in samples(d) if s.recipes()), None)
        if found is not None:
            yield pytest.param(d.name, found, id=d.name)


CALLS = [*calls()]


@pytest.mark.parametrize(("name", "sample"), CALLS)
def test_every_op_raises_whichever_operand_has_failed(name, sample):
    for number in range(len(sample.recipes())):
        place = iter(range(1000))

        def make(recipe, number=number, place=place):
            t = build(recipe, "cpu")
            return failed(t) if next(place) == number else t

        args, kwargs = sample.arguments(make, "cpu")
        with pytest.raises(torch.PipelineError) as caught:
            front(registry.entry(name))(*args, **kwargs)
        check(caught.value)


@pytest.mark.parametrize(("name", "sample"), CALLS)
def test_so_it_does_in_another_pipeline(name, sample):
    first = iter([True])
    lost = []

    def make(recipe):
        t = build(recipe, "cpu")
        return failed(t) if next(first, False) else t

    args, kwargs = sample.arguments(make, "cpu")
    with torch.pipeline(), pytest.raises(torch.PipelineError) as caught:
        lost.append(front(registry.entry(name))(*args, **kwargs))
    check(caught.value)


# ---- every other use ----------------------------------------------------------------------------

USES = {
    **{n: lambda t, n=n: getattr(t, n)() for n in ("tolist", "numpy", "data_ptr", "cpu", "clone")},
    "item": lambda t: t[0].item(),
    "bool": lambda t: bool(t[0]),
    "float": lambda t: float(t[0]),
    "repr": repr,
    "format": "{}".format,
    "contains": lambda t: 1.0 in t,
    "iterate": list,
    "asarray": np.asarray,
    "__dlpack__": lambda t: t.__dlpack__(),
    "from_dlpack": torch.from_dlpack,
    "numpy's functions": lambda t: np.add(np.ones(3), t),
    "pickle": pickle.dumps,
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "save": lambda t: torch.save({"a": t}, io.BytesIO()),
    "bytes of the storage": lambda t: bytes(t.untyped_storage()),
    "address of the storage": lambda t: t.untyped_storage().data_ptr(),
    "data": lambda t: t.data,
    "as data of another": lambda t: setattr(torch.ones(3), "data", t),
    "set_": lambda t: torch.ones(3).set_(t),
    "resize_": lambda t: t.resize_(2),
    "unsqueeze_": lambda t: t.unsqueeze_(0),
    "tensor": torch.tensor,
    "list": lambda t: torch.tensor([t[0], t[1]]),
    "index": lambda t: torch.ones(3)[t.long()],
    "mask": lambda t: torch.ones(3)[t > 0],
    "assign": lambda t: t.__setitem__(0, 1.0),
    "assigned": lambda t: torch.ones(3).__setitem__(slice(None), t),
    "out": lambda t: torch.add(torch.ones(3), 1, out=t),
    "backward": lambda t: t.requires_grad_().sum().backward(),
    "gradient": lambda t: torch.ones(3, requires_grad=True).mul(2).backward(t),
    "saved": lambda t: (torch.ones(3, requires_grad=True) * t).sum().backward(),
    "equal": lambda t: torch.equal(torch.ones(3), t),
    "another device": lambda t: t.to("meta"),
}


@pytest.mark.parametrize("use", USES)
def test_every_use_raises(use):
    lost = failed(torch.ones(3))
    for _ in range(2):
        with pytest.raises(torch.PipelineError) as caught:
            USES[use](lost)
        check(caught.value)


def test_it_raises_in_other_threads_too():
    lost, found = failed(torch.ones(3)), []

    def use():
        try:
            lost + 1
        except torch.PipelineError as error:
            found.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    check(found[0])


@pytest.mark.parametrize("cause", [MemoryError, ValueError, ZeroDivisionError])
def test_views_and_what_shares_memory_raise_as_well(cause):
    """So it is when an op in place fails, on a part of what others see."""

    def kernel(self, other):
        raise cause("the kernel's own words")

    base = torch.zeros(2, 3)
    row, data, apart = base[1], base.data, torch.ones(3)

    def program():
        row.mul_(2)
        return base.sum(), apart + 1

    with registry.scope():
        registry.register_kernel("aten::mul_", DispatchKey.CPU, kernel)
        later, fine = failing(program)
    for lost in (base, row, data, later):
        with pytest.raises(torch.PipelineError, match="the kernel's own words") as caught:
            lost.tolist()
        assert caught.value.op == "aten::mul_"
        told = torch.OutOfMemoryError if cause is MemoryError else cause
        assert isinstance(caught.value.__cause__, told)
    assert fine.tolist() == [2, 2, 2]
    base.data = torch.ones(2, 3)  # what has failed may be given another value
    assert (base + 1).tolist() == [[2, 2, 2]] * 2


# ---- what failures hold, and for how long --------------------------------------------------------


def test_operands_go_at_once_and_the_error_keeps_its_words():
    gc.collect()
    gc.disable()
    try:
        operand = torch.ones(1000)
        gone = weakref.ref(operand)
        lost = failed(operand)
        del operand
        assert gone() is None
        for _ in range(3):
            with pytest.raises(torch.PipelineError) as caught:
                lost.tolist()
            check(caught.value)
            del caught
        storage = weakref.ref(lost.untyped_storage())
        del lost
        assert storage() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("large", [False, True])
def test_so_they_do_where_ops_are_fused(large, monkeypatch):
    if large:
        monkeypatch.setattr(row_of("cpu").runtime, "planned_from", 1)
        monkeypatch.setattr(LIMITS, "min_elements", 2)
    gc.collect()
    gc.disable()
    try:
        operands = [torch.ones(1000).long()]
        gone = weakref.ref(operands[0])
        halves = failing(lambda: (operands[0] + 1) // torch.zeros(1).long() * 0.5 + operands[0])
        operands.clear()
        assert gone() is None
        with pytest.raises(torch.PipelineError, match="floor_divide"):
            halves.tolist()
    finally:
        gc.enable()


def test_calls_are_as_fast_as_ever_once_the_results_are_gone():
    lost = failed(torch.ones(3))
    assert apply_tls_masks(0) & DispatchKey.Pipeline
    del lost
    torch.ones(1) + 1
    assert not apply_tls_masks(0) & DispatchKey.Pipeline
    assert ACTIVE == []


def test_a_backend_that_cannot_plan_loses_nothing(monkeypatch):
    def plan(entries):
        raise MemoryError("no room for a plan")

    x = torch.ones(3)
    runtime = row_of("cpu").runtime
    with monkeypatch.context() as patch:
        patch.setattr(runtime, "planned_from", 0)
        patch.setattr(runtime, "plan", plan)
        with torch.pipeline() as pipe:
            y = x * 2
            x.add_(1)
            with pytest.warns(RuntimeWarning, match="MemoryError: no room"):
                pipe.flush()
    assert not y._pending
    assert (y.tolist(), x.tolist()) == ([2, 2, 2], [2, 2, 2])


def test_a_block_is_left_in_the_thread_in_which_it_was_entered():
    pipe, found = torch.pipeline(), []
    pipe.__enter__()
    x = torch.ones(2) * 3

    def leave():
        try:
            pipe.__exit__(None, None, None)
        except RuntimeError as error:
            found.append(str(error))

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    assert "ends in the thread in which it began" in found[0]
    assert current_pipeline() is pipe
    assert x._pending
    pipe.__exit__(None, None, None)
    assert x.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="no open block"):
        pipe.__exit__(None, None, None)
    assert current_pipeline() is None


def test_blocks_end_with_exit_stacks_and_generators():
    with contextlib.ExitStack() as stack:
        pipe = stack.enter_context(torch.pipeline())
        x = torch.ones(2) * 3
        assert current_pipeline() is pipe
    assert (x._pending, current_pipeline()) == (False, None)

    def suspended():
        with torch.pipeline():
            yield torch.ones(2) * 3

    generator = suspended()
    y = next(generator)
    assert y._pending
    generator.close()
    assert (y._pending, current_pipeline()) == (False, None)


def test_a_signal_handler_that_asks_for_what_is_just_computed_is_told_so():
    told = []

    def asks(x):
        try:
            y.tolist()
        except RuntimeError as error:
            told.append(str(error))
        return x.clone()

    with registry.scope():
        registry.register_schema("asking::op", "op(Tensor x) -> Tensor")
        registry.register("asking::op", DispatchKey.CPU, asks, meta=lambda x: torch.empty_like(x))
        with torch.pipeline():
            torch.ops.asking.op(torch.ones(2))
            y = torch.ones(2) * 3
    assert "just being computed" in told[0]
    assert y.tolist() == [3, 3]
