"""What `explain` says is what happens: every op is called with spies in place of its kernels.

A spy notes the key that its kernel is registered at (or, for a wrapper, serves) and calls it. So the
notes of a call are the kernels that ran, in order, and must be those that were explained.
"""

import contextlib
import functools

import pytest

import mindtorch_core as torch
from mindtorch_core import plugins
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.inspection import explain
from mindtorch_core.opdefs.define import definitions
from mindtorch_core.opdefs.packets import front
from mindtorch_core.opdefs.torch_ops import overload_of
from mindtorch_core.testing.samples import samples

plugins.load_all()

pytestmark = pytest.mark.slow


class Passing(torch.DispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def noting(fn, key, notes):
    @functools.wraps(fn)
    def spy(*args, **kwargs):
        notes.append(key)
        return fn(*args, **kwargs)

    return spy


@contextlib.contextmanager
def spies(entry):
    """Spies in place of an op's kernels and of the wrappers around them; gives their notes."""
    notes = []
    wrappers = dict(registry.wrappers)
    decomposition = None if entry.definition is None else entry.definition.decomposition

    def spied(key, factory):
        def make(op, below, resolve):
            made = factory(op, below, resolve)
            if made is None or op is not entry:
                return made
            if decomposition is not None and getattr(made, "__wrapped__", made) is decomposition:
                return made
            return noting(made, key, notes)

        return make

    with registry.scope():
        for key, records in list(entry.records.items()):
            r = records[-1]
            registry.register_kernel(
                entry.name, key, noting(r.fn, key, notes),
                with_keyset=r.with_keyset, promoted=r.promoted,
            )  # fmt: skip
        registry.wrappers.update({key: spied(key, f) for key, f in wrappers.items()})
        try:
            yield notes
        finally:
            registry.wrappers.update(wrappers)
    entry.table.clear()


def requiring(value):
    """A result that requires grad in place of each floating-point tensor."""
    if isinstance(value, list):
        return [requiring(v) for v in value]
    floats = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.requires_grad_().clone() if floats else value


def no_context():
    return contextlib.nullcontext()


def autocast():
    return torch.autocast("cpu")


SITUATIONS = {
    "plain": ("cpu", False, no_context),
    "requires grad": ("cpu", True, no_context),
    "no grad": ("cpu", True, torch.no_grad),
    "inference": ("cpu", True, torch.inference_mode),
    "pipeline": ("cpu", False, torch.pipeline),
    "pipeline, requires grad": ("cpu", True, torch.pipeline),
    "autocast": ("cpu", True, autocast),
    "mode": ("cpu", True, Passing),
    "meta": ("meta", False, no_context),
    "meta, requires grad": ("meta", True, no_context),
}


# Modes are shown another op of PyTorch's, and call that.
SHOWN = {
    "_index_positions", "_index_put_positions", "_index_put_positions_", "_to_device", "_to_dtype", "matmul",
}  # fmt: skip


def call_and_explain(d, sample, device, grad, context):
    """The explanation of a call, the notes of it, and what it raised."""
    entry = registry.entry(d.name)
    args, kwargs = sample.build(device)
    if grad:
        args = tuple(map(requiring, args))
    made = raised = None
    with spies(entry) as notes, context():
        explained = explain(overload_of(entry), *args)
        if not any(isinstance(a, torch.Tensor | list) for a in args):
            explained = explain(overload_of(entry), device=device)
        try:
            made = front(entry)(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 (some samples are there to be refused)
            raised = error
    del made  # kept so far: a pipeline does not launch what nobody can see
    return explained, notes, raised


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_kernels_that_run_are_those_explained(situation):
    compared = 0
    for d in definitions():
        for sample in samples(d)[:1]:
            explained, notes, raised = call_and_explain(d, sample, *SITUATIONS[situation])
            assert explained.error is None, d.name
            if raised is not None:
                continue
            running = [r for r in explained.rows if r.outcome in ("chosen", "called", "next")]
            expected = [r.kernel.registered for r in running]
            if running[-1].rule == "wrapper" and running[-1].calls is None:
                expected.pop()  # it runs the op's decomposition, which has no spy
                notes = notes[: len(expected)]
            if situation == "mode" and d.name in SHOWN:
                del expected[expected.index(DispatchKey.Python) + 1 :]
            assert notes[: len(expected)] == expected, f"{d.name}{sample}\n{explained}"
            assert explained.chosen is running[0]
            compared += 1
    assert compared > 200


def test_an_explanation_runs_nothing_and_leaves_no_trace():
    entry = registry.entry("add")
    with spies(entry) as notes:
        before = dict(entry.table)
        for grad in (False, True):
            explain("add", requires_grad=grad, pipeline=True, autocast=True, modes=True)
        assert notes == []
        assert entry.table == before
    assert torch.current_pipeline() is None
    assert not torch.is_inference_mode_enabled()
    assert explain("add").keys.mask == int(
        DispatchKey.CPU | DispatchKey.BackendSelect | DispatchKey.ADInplaceOrView
    )
