"""What a block writes arrives: through views when it comes again, in memory shown twice, in inference mode."""

import contextlib

import pytest

import mindtorch_core as torch
from mindtorch_core.deferred.replay.sites import Site
from mindtorch_core.values.devices import row_of
from mindtorch_cpu.fusion.limits import LIMITS

VIEWS = {
    "transposed": lambda x: x.mT,
    "all of it": lambda x: x[:],
    "rows": lambda x: x[1:],
    "rows transposed": lambda x: x[1:].mT,
    "columns": lambda x: x[:, 1:],
    "a column": lambda x: x[:, 2],
    "one more dimension": lambda x: x.unsqueeze(0),
    "diagonal": lambda x: x.diagonal(),
    "halves": lambda x: x.chunk(2, -1)[1],
    "unfolded": lambda x: x.unfold(0, 2, 2),
    "with itself": lambda x: x.view_as(x),
    "moved": lambda x: x.movedim(0, -1),
}
BEYOND = {  # what they are views of: such blocks are computed op by op
    "more": lambda x: x[0].narrow(0, 0, 1).as_strided((3,), (1,)),
    "what stands before": lambda x: x[1, 1:].as_strided((3,), (1,), x.storage_offset()),
}
WHOLE = {
    "plain": lambda: torch.arange(24.0).reshape(4, 6),
    "part": lambda: torch.arange(36.0).reshape(4, 9)[:, 2:8],
    "rows of it": lambda: torch.arange(54.0).reshape(6, 9)[2:, 1:7],
    "turned": lambda: torch.arange(24.0).reshape(6, 4).t(),
    "steps": lambda: torch.arange(48.0).reshape(4, 12)[:, ::2],
}


@pytest.mark.parametrize("whole", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("view", (VIEWS | BEYOND).values(), ids=VIEWS | BEYOND)
def test_writes_through_views_arrive_each_time(view, whole):
    def written(x):
        part = view(x)
        part.add_(1)
        part.mT.mul_(2) if part.dim() > 1 else part.neg_()
        return x * 2

    site = Site(written)
    for _ in range(6):
        x, y = whole(), whole()
        pipe = torch.pipeline()
        pipe.place = site
        with pipe:
            found = written(x)
        wanted = written(y)
        assert torch.equal(found, wanted)
        assert torch.equal(x, y)
    if view not in BEYOND.values():
        assert pipe.stats()["replayed"] == pipe.stats()["recorded"]


SHOWN_TWICE = {
    "rows": lambda n, d: torch.arange(n, dtype=d).expand(3, n),
    "columns": lambda n, d: torch.arange(n, dtype=d)[:, None].expand(n, 3),
    "a number": lambda n, d: torch.tensor(5, dtype=d).expand(n, 2),
    "overlapping": lambda n, d: torch.arange(2 * n, dtype=d).as_strided((n, n), (1, 1)),
}
FILLS = {
    "fill_": lambda x: x.fill_(7),
    "zero_": lambda x: x.zero_(),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("elements", [2, 7, 64])
@pytest.mark.parametrize("fill", FILLS.values(), ids=FILLS)
@pytest.mark.parametrize("shown", SHOWN_TWICE.values(), ids=SHOWN_TWICE)
def test_who_reads_before_a_fill_reads_what_was_there(shown, fill, elements, dtype, monkeypatch):
    """Each element is written once for each place that shows it, and another tile may have to read it first."""
    monkeypatch.setattr(LIMITS, "min_elements", 2)
    monkeypatch.setattr(LIMITS, "tile_elements", elements)
    monkeypatch.setattr(row_of("cpu").runtime, "planned_from", 2)

    def block(x):
        before = (x + 1).tanh(), x * 2
        fill(x)
        return *before, x + 1, x

    with torch.pipeline():
        found = block(shown(20, dtype))
    for mine, wanted in zip(found, block(shown(20, dtype)), strict=True):
        assert torch.allclose(mine, wanted, rtol=1e-2 if dtype is torch.bfloat16 else 1e-6)


INSIDE = {
    "lerp_": lambda x, y: x.lerp_(y, 0.5),
    "addcmul_": lambda x, y: x.addcmul_(y, y),
    "index_put_": lambda x, y: x.index_put_((torch.tensor([0]),), y[0]),
    "masked_fill_": lambda x, y: x.masked_fill_(y > 1, 3.0),
    "fill_diagonal_": lambda x, y: x.fill_diagonal_(2.0),
    "cumsum_": lambda x, y: x.cumsum_(0),
    "a write through a view": lambda x, y: x.mT[0].copy_(y[:, 0]),
    "out=": lambda x, y: torch.softmax(y, 0, out=x),
    "in steps": lambda x, y: (
        torch.addcmul(y, y, y).clamp(-3, 3).lerp_(y.amax(-1, keepdim=True), 0.5)
    ),
    "less precise": lambda x, y: x.bfloat16().addcmul_(
        y.bfloat16().var(-1, keepdim=True), y.bfloat16()
    ),
}


@pytest.mark.parametrize("made_inside", [True, False], ids=["of inference", "from outside"])
@pytest.mark.parametrize("write", INSIDE.values(), ids=INSIDE)
def test_writes_in_inference_mode(write, made_inside):
    """Whatever kernels are made of: they meet tensors of inference, inside the mode."""

    def block(pipeline):
        given = torch.arange(16.0).reshape(4, 4), torch.arange(16.0).reshape(4, 4).t() / 8
        with torch.inference_mode():
            if made_inside:
                given = tuple(t.clone() for t in given)
            with torch.pipeline() if pipeline else contextlib.nullcontext():
                result = write(*given)
        return result, given[0]

    for mine, wanted in zip(block(True), block(False), strict=True):
        assert torch.equal(mine, wanted)
        assert mine.is_inference() == wanted.is_inference()


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_a_number_of_a_tensor_fills_in_inference_mode():
    """Where the block comes again as well: its kernel is made of others."""
    number = torch.tensor(7.0)

    def f(a, b):
        first, made = a.cumsum(-1).tanh(), a.erf()
        torch.neg(b, out=first)
        made.masked_fill_(made > 0.5, number)
        return first, made

    compiled = torch.compile(f)
    for _ in range(6):
        with torch.inference_mode():
            a, b = torch.arange(18.0).reshape(3, 6) - 2, torch.ones(4, 6)
            found, wanted = compiled(a, b), f(a, b)
        for mine, own in zip(found, wanted, strict=True):
            assert torch.equal(mine, own)
            assert mine.is_inference()
