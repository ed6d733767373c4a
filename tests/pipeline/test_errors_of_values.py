"""An error that hangs on values is the same in a pipeline: the text, and the op that was called."""

import pytest

import mindtorch_core as torch

F = torch.nn.functional
GOOD, BAD = [0, 1], [0, 9]

# Name of the op: a call of it with positions.
CALLS = {
    "embedding": lambda w, i: F.embedding(i, w),
    "embedding_bag": lambda w, i: F.embedding_bag(i, w, torch.tensor([0])),
    "one_hot": lambda w, i: F.one_hot(i, 4) * 2,
    "gather": lambda w, i: w.gather(0, i[None]),
    "scatter": lambda w, i: torch.scatter(w, 0, i[None], 1.0),
    "scatter_": lambda w, i: w.clone().scatter_(0, i[None], 1.0),
    "scatter_add": lambda w, i: w.scatter_add(0, i[None], torch.ones(1, 2)),
    "scatter_reduce": lambda w, i: w.scatter_reduce(0, i[None], torch.ones(1, 2), "amax"),
    "index_select": lambda w, i: w.index_select(0, i),
    "index_add": lambda w, i: w.index_add(0, i, torch.ones(2, 3)),
    "index_fill": lambda w, i: w.index_fill(0, i, 1.0),
    "index_copy": lambda w, i: w.index_copy(0, i, torch.ones(2, 3)),
    "index_copy_": lambda w, i: w.clone().index_copy_(0, i, torch.ones(2, 3)),
    "index_reduce": lambda w, i: w.index_reduce(0, i, torch.ones(2, 3), "prod"),
    "index_reduce_": lambda w, i: w.clone().index_reduce_(0, i, torch.ones(2, 3), "mean"),
    "index_put": lambda w, i: w.index_put((i,), torch.ones(2, 3)),
    "take": lambda w, i: w.take(i * 3),
    "put": lambda w, i: w.put(i * 3, torch.ones(2)),
    "put_": lambda w, i: w.clone().put_(i * 3, torch.ones(2), accumulate=True),
    "take_along_dim": lambda w, i: torch.take_along_dim(w, i * 3),
    "max_unpool2d": lambda w, i: F.max_unpool2d(w[:1, None, :2], i[None, None], 2),
    "binary_cross_entropy": lambda w, i: F.binary_cross_entropy(i.float(), w[0, :2]),
    "multi_margin_loss": lambda w, i: F.multi_margin_loss(w[:2], i),
    "searchsorted": lambda w, i: torch.searchsorted(w[0, :2], w[0, :2], sorter=i),
    "floor_divide": lambda w, i: torch.floor_divide(i, 9 - i.flip(0)),
}  # fmt: skip
OTHERS = {
    "index_select": lambda w, i: w[i],
    "nll_loss": lambda w, i: F.nll_loss(w[:2], i),
    "cross_entropy": lambda w, i: F.cross_entropy(w[:2], i, label_smoothing=0.1),
}


def text(error):
    return type(error), str(error).partition("\n")[0]


def run(call, positions, before=0):
    for each in [GOOD] * before + [positions]:
        with torch.pipeline():
            seen = call(torch.ones(4, 3), torch.tensor(each))
    return seen


def failures(call):
    """Errors of a call in a block that comes first, one that is replayed, and in a captured function."""
    for before in (0, 5):
        with pytest.raises(torch.PipelineError) as one:
            run(call, BAD, before)
        yield one.value
    weight, positions = torch.ones(4, 3), torch.tensor(GOOD)
    captured = torch.pipeline.capture(lambda: call(weight, positions))
    captured()
    captured()
    positions.copy_(torch.tensor(BAD))
    with pytest.raises(torch.PipelineError) as one:
        captured()
    yield one.value


@pytest.mark.parametrize("name", CALLS)
def test_the_error_is_that_of_the_call_and_names_the_op_that_was_called(name):
    call = CALLS[name]
    with pytest.raises((RuntimeError, IndexError)) as eager:
        call(torch.ones(4, 3), torch.tensor(BAD))
    line = call.__code__.co_firstlineno
    for error in failures(call):
        if (
            name == "embedding_bag"
        ):  # at once a RuntimeError as in PyTorch, in blocks that of its look-up
            assert type(eager.value) is RuntimeError
            assert type(error.__cause__) is IndexError
        else:
            assert text(error.__cause__) == text(eager.value)
        assert error.op.partition(".")[0] == f"aten::{name}"
        assert error.location == f"{__file__}:{line}"
        assert str(error).startswith(f"aten::{name}")


@pytest.mark.parametrize("name", OTHERS)
def test_where_the_call_names_no_op_the_text_is_the_same(name):
    call = OTHERS[name]
    with pytest.raises(IndexError) as eager:
        call(torch.ones(4, 3), torch.tensor(BAD))
    for error in failures(call):
        assert text(error.__cause__) == text(eager.value)


def test_an_op_that_is_a_part_of_the_one_that_was_called_is_named_as_such():
    with pytest.raises(torch.PipelineError, match=r"embedding_bag failed .* aten::.*is made"):
        run(CALLS["embedding_bag"], BAD)


def test_calls_that_stand_within_each_other_and_over_lines_are_told_apart():
    weight = torch.ones(4, 3)
    with torch.pipeline() as pipe:
        seen = (
            torch.abs(torch.neg(weight))
            .take_along_dim(
                torch.tensor([99]).abs(),
            )
            .exp()
        )
        with pytest.raises(torch.PipelineError) as one:
            pipe.flush()
    assert seen.shape == (1,)
    assert one.value.op == "aten::take_along_dim"


@pytest.mark.parametrize("positions", [[0, -13], [0, 12]])
def test_put_and_take_refuse_what_is_outside_before_they_write(positions):
    weight, at = torch.arange(12.0).view(4, 3).t(), torch.tensor(positions)
    for call in (lambda: weight.put_(at, torch.ones(2)), lambda: weight.take(at)):
        with pytest.raises(IndexError, match="out of range: tried to access index"):
            call()
    assert weight.t().flatten().tolist() == list(range(12))


def test_a_loss_whose_gradient_is_refused_is_refused_before_the_step_writes():
    """What hooks on saved tensors give is looked at when backward is recorded, not when it is launched."""

    def as_float(t):
        return t.float() if t.dtype is torch.int64 else t

    w, x, y = torch.ones(4, 3).requires_grad_(), torch.ones(2, 4), torch.tensor([0, 2])
    with (  # noqa: PT012 (all of a step)
        pytest.raises(RuntimeError, match="expected target dtype to be Long or Byte"),
        torch.pipeline(through_backward=True),
        torch.autograd.graph.saved_tensors_hooks(lambda t: t, as_float),
    ):
        torch.nn.functional.nll_loss((x @ w).log_softmax(1), y).backward()
        with torch.no_grad():
            w -= w.grad
    assert torch.equal(w, torch.ones(4, 3))
