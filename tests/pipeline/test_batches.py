"""Launches whose work a backend collects and sends at once (`Plan.batch`)."""

import gc
import inspect
import weakref

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.pipeline import Batch, Plan, Unsent
from mindtorch_core.values.devices import row_of


class Recording(Batch):
    """Notes what is called, and refuses one op as it is sent, if told so."""

    def __init__(self, refuse=None, during=None):
        self.calls = []
        self.refuse = refuse  # position of an entry
        self.during = during  # position whose kernel asks for what came before

    def start(self):
        self.calls.append("start")

    def stop(self):
        self.calls.append("stop")

    def send(self):
        self.calls.append("send")
        if self.refuse is not None:
            refuse, self.refuse = self.refuse, None
            raise Unsent(refuse, ValueError("refused"))


@pytest.fixture
def planned(monkeypatch):
    """Have pipelines on the CPU launched through a batch."""
    torch.ones(1)

    def use(batch):
        runtime = row_of("cpu").runtime
        monkeypatch.setattr(runtime, "planned_from", 0)
        monkeypatch.setattr(runtime, "plan", lambda entries: Plan(batch=batch))
        return batch

    return use


def test_kernels_run_in_order_between_start_and_send(planned):
    batch = planned(Recording())
    x = torch.ones(3)
    with torch.pipeline():
        y = x + 1
        z = y * 2
    assert batch.calls == ["start", "send", "stop"]
    assert batch.position == 1
    assert z.tolist() == [4.0] * 3


def test_what_is_not_sent_fails_and_names_its_line(planned):
    batch = planned(Recording(refuse=1))
    x = torch.ones(3)
    with torch.pipeline() as pipe:
        first = x + 1
        second = first * 2
        third = second - 1
        with pytest.raises(torch.PipelineError) as caught:
            pipe.flush()
    line = inspect.currentframe().f_lineno - 4
    assert caught.value.location == f"{__file__}:{line}"
    assert "aten::mul failed when the pipeline launched it: ValueError: refused" in str(
        caught.value
    )
    assert "inputs: [3] torch.float32" in str(caught.value)
    assert caught.value.op == "aten::mul"
    assert isinstance(caught.value.__cause__, ValueError)
    assert batch.calls[-1] == "stop"
    assert first.tolist() == [2.0] * 3
    for lost in (second, third):
        with pytest.raises(torch.PipelineError, match="aten::mul"):
            lost.tolist()


def test_what_interrupts_keep_from_being_sent_has_no_value(planned):
    class Interrupted(Recording):
        def send(self):
            raise KeyboardInterrupt

    planned(Interrupted())
    x = torch.ones(3)
    with torch.pipeline() as pipe:
        y = x + 1
        z = y * 2
        with pytest.raises(KeyboardInterrupt):
            pipe.flush()
    for lost in (y, z):
        with pytest.raises(torch.PipelineError, match="aten::add failed"):
            lost.tolist()


def test_a_kernel_that_has_to_wait_sends_what_came_before(planned):
    batch = planned(Recording(refuse=0))

    @torch.library.custom_op("batches::waits", mutates_args=())
    def waits(x: torch.Tensor) -> torch.Tensor:
        batch.send()
        return x.clone()

    @waits.register_fake
    def _(x):
        return torch.empty_like(x)

    x = torch.ones(3)
    with torch.pipeline() as pipe:
        first = x + 1
        second = torch.ops.batches.waits(x)
        third = x * 2
        with pytest.raises(torch.PipelineError, match="aten::add failed") as caught:
            pipe.flush()
    assert isinstance(caught.value.__cause__, ValueError)
    assert third.tolist() == [2.0] * 3
    for lost in (first, second):
        with pytest.raises(torch.PipelineError, match="aten::add"):
            lost.tolist()


def test_arguments_go_as_soon_as_their_kernel_has_run(planned):
    seen = []

    class Looking(Recording):
        def send(self):
            gc.collect()
            seen.append(gone() is None)

    planned(Looking())
    x = torch.ones(3)
    with torch.pipeline():
        between = x + 1
        gone = weakref.ref(between)
        y = between.exp()
        del between
    assert seen == [True]
    assert y.shape == (3,)
