"""Copies between devices are recorded: they flush nothing, and no backend plans them.

So in pipelines that go through backward; in others, `to` is where values are looked at.
"""

# ruff: noqa: F811 (a fixture)

import pytest
from compilers import compiler, names, ones  # noqa: F401 (a fixture)

import mindtorch_core as torch


def through():
    return torch.pipeline(through_backward=True)


def reasons(pipe):
    return pipe.stats()["flush_reasons"], pipe.stats()["breaks"]


FORMS = {
    "to": (lambda t: t.to("toy"), lambda t: t.to("cpu")),
    "to other": (lambda t: t.to(ones(1)), lambda t: t.to(torch.ones(1))),
    "device and dtype": (
        lambda t: t.to("toy", torch.float64),
        lambda t: t.to("cpu", torch.float32),
    ),
    "type_as": (lambda t: t.type_as(ones(1)), lambda t: t.cpu()),
    "copy_": (
        lambda t: torch.empty(t.shape, device="toy").copy_(t),
        lambda t: torch.empty(t.shape).copy_(t),
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_there_and_back(toy, form):
    there, back = FORMS[form]
    x = torch.arange(6.0).reshape(2, 3)
    with through() as pipe:
        y = there(x * 2)
        z = y + 1
        w = back(z) * 10
        assert (y._pending, z._pending, w._pending) == (True, True, True)
    assert reasons(pipe) == ({"end of block": 1}, {})
    assert (y.device.type, w.device.type) == ("toy", "cpu")
    assert w.tolist() == ((x * 2 + 1) * 10).tolist()
    assert y.tolist() == (x * 2).tolist()


def test_each_backend_compiles_its_own_and_no_copies(compiler):
    x = torch.arange(4.0)
    with through() as pipe:
        before = x + 1
        first = (before.to("toy") * 2).relu()
        aside = ones(4) + 5
        second = first.cpu().neg().to("toy") + aside
    assert reasons(pipe) == ({"end of block": 1}, {})
    assert second.tolist() == pytest.approx((5 + 1 - ((x + 1) * 2)).tolist())
    assert sorted(name for p in compiler.programs for name in names(p)) == [
        "add", "add", "fill_.Scalar", "mul", "relu",
    ]  # fmt: skip
    assert all(v.device.type == "toy" for p in compiler.programs for v in p.values)


def test_between_two_devices_of_a_backend(toy):
    x = torch.ones(3, device="toy:1")
    with through() as pipe:
        y = (x + 1).to("toy:0") * 3
    assert reasons(pipe) == ({"end of block": 1}, {})
    assert (y.device.index, y.tolist()) == (0, [6, 6, 6])


@pytest.mark.parametrize("deferred", [True, False])
def test_gradients_cross(toy, deferred):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.pipeline(through_backward=deferred) as pipe:
        y = (x * 3).to("toy")
        (y * y).sum().cpu().backward()
    if deferred:
        assert reasons(pipe) == ({"end of block": 1}, {})
    assert x.grad.tolist() == [18, 36]


def test_dense_layouts_are_kept(toy):
    x = torch.arange(6.0).reshape(2, 3).t()
    eager = x.to("toy")
    with through():
        y = (x + 0).to("toy")
        row = torch.arange(6.0).reshape(2, 3)[:, 1].to("toy")
    assert (y.stride(), row.stride()) == (eager.stride(), (1,))
    assert (y.tolist(), row.tolist()) == (x.tolist(), [1, 4])


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 4)], ids=str)
def test_layouts_without_elements_are_those_of_eager_copies(toy, shape):
    x = torch.zeros(shape)
    given = [x, x.mT, x.movedim(0, -1), x[..., :1]]
    eager = [(t.to("toy").stride(), t.to("toy").cpu().stride()) for t in given]
    with through():
        copied = [t.to("toy") for t in given]
        found = [(t.stride(), t.cpu().stride()) for t in copied]
    assert found == eager


def test_what_is_written_after_the_copy_is_not_in_it(toy):
    x = torch.zeros(2)
    with through():
        x.add_(1)
        y = x.to("toy")
        x.add_(1)
        z = x.to("toy")
        y.mul_(10)
        back = y.cpu()
        y.zero_()
    assert [t.tolist() for t in (x, y, z, back)] == [[2, 2], [0, 0], [2, 2], [10, 10]]


@pytest.mark.parametrize("look", [lambda t: t.tolist(), lambda t: t.view(torch.int32).tolist()])
def test_a_look_at_a_copy_comes_before_what_is_written_later(toy, look):
    """Only the copy is launched then: what its kernel asks for does not have the rest launched."""
    x = torch.zeros(2)
    with through():
        y = x.to("toy", copy=True)
        x.add_(1)
        z = y.to("cpu", copy=True)
        y.add_(3)
        found = look(z)
    assert (found, x.tolist(), y.tolist()) == ([0, 0], [1, 1], [3, 3])


def test_a_kernel_that_reads_values_sees_them_before_later_writes():
    @torch.library.custom_op("copies::read", mutates_args=())
    def read(x: torch.Tensor) -> torch.Tensor:
        return torch.tensor(x.tolist())

    read.register_fake(torch.empty_like)
    x = torch.zeros(2)
    with through():
        y = read(x)
        x.add_(1)
        found = y.tolist()
    assert (found, x.tolist()) == ([0, 0], [1, 1])


def test_copies_that_nobody_wants_are_dropped(toy):
    before = len(toy.CALLS)
    with through() as pipe:
        (ones(2) * 2).cpu()
    assert pipe.stats()["dropped"] >= 2
    assert "aten::mul" not in toy.CALLS[before:]


def test_errors_name_the_op_and_leave_the_rest(toy):
    pipe = through()
    with pipe:
        bad = torch.tensor([1]) // torch.tensor([0])
        moved = bad.to("toy") + 1
        good = torch.ones(2).to("toy") + 1
        with pytest.raises(torch.PipelineError, match="floor_divide") as caught:
            pipe.flush()
    assert __file__ in str(caught.value)
    assert good.tolist() == [2, 2]
    with pytest.raises(torch.PipelineError):
        moved.tolist()


def test_elsewhere_only_copies_into_tensors_are_recorded(toy):
    h = torch.ones(2)
    with torch.pipeline() as pipe:
        x = h.to("toy") * 2
        y = torch.zeros(2).copy_(x)
        assert (x._pending, y._pending) == (True, True)
        there = x.cpu()
        assert (x._pending, there._pending) == (False, False)
    assert reasons(pipe) == ({"cpu()": 1}, {})
    assert (y.tolist(), there.tolist()) == ([2, 2], [2, 2])


def test_a_device_without_data(toy):
    with through() as pipe:
        y = torch.ones(2) * 2
        shape = torch.ones(2, 3).to("meta")
        moved = y.to("meta")
    assert (shape.device.type, tuple(moved.shape)) == ("meta", (2,))
    assert y.tolist() == [2, 2]
    assert pipe.stats()["breaks"] == {"to()": 2}


def test_a_look_needs_only_its_own(toy):
    with torch.pipeline(through_backward=True) as pipe:
        a = torch.ones(2).to("toy") * 3
        b = torch.ones(2).to("toy") * 4
        assert a.tolist() == [3, 3]
        assert b._pending
    assert b.tolist() == [4, 4]
    assert pipe.stats()["breaks"] == {"tolist()": 1}


def test_steps_on_several_devices_cannot_be_captured(toy):
    @torch.pipeline.capture
    def step(x):
        return x.to("toy")

    with pytest.raises(torch.CaptureError, match="several devices: cpu, toy") as caught:
        step(torch.ones(2))
    assert caught.value.result.tolist() == [1, 1]
