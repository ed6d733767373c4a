"""Calls of many samples that few programs make: each is as the calls one by one, or refused."""

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome

F = torch.nn.functional
pytestmark = pytest.mark.filterwarnings("ignore:There is a performance drop")
GIVEN = torch.arange(24.0).reshape(2, 3, 4) % 7 - 2


def one_by_one(function, *args, dims=0):
    """What a function gives for each sample, stacked."""
    dims = dims if isinstance(dims, tuple) else (dims,) * len(args)
    count = next(a.shape[d] for a, d in zip(args, dims, strict=True) if d is not None)
    found = [
        function(
            *(a if d is None else a.select(d, n).clone() for a, d in zip(args, dims, strict=True))
        )
        for n in range(count)
    ]
    if isinstance(found[0], tuple):
        return tuple(torch.stack(each) for each in zip(*found, strict=True))
    return torch.stack(found)


def assert_as_one_by_one(function, *args, dims=0):
    together = torch.func.vmap(function, in_dims=dims)(*args)
    apart = one_by_one(function, *args, dims=dims)
    for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in (together, apart)), strict=True):
        torch.testing.assert_close(a, b)


def _put(x, v):
    x = x.clone()
    x[torch.tensor([0, 1]), :, torch.tensor([1, 0])] = v
    return x


CASES = {
    "norm of rows that are the same for all": (
        lambda w: F.layer_norm(GIVEN, (4,), w), (torch.arange(8.0).reshape(2, 4),), 0,
    ),
    "norm with a bias of each": (
        lambda x, b: F.layer_norm(x, (4,), None, b), (GIVEN, torch.arange(8.0).reshape(2, 4)), 0,
    ),
    "filled with a number": (lambda x: x.new_full((2, 2), 3.0) + x.sum(), (GIVEN,), 0),
    "written at places that are apart": (
        _put, (torch.zeros(2, 2, 3, 2), torch.arange(12.0).reshape(2, 2, 3)), 0,
    ),
    "moved": (lambda x: x.movedim((0, 1), (1, 0)), (GIVEN,), 0),
    "triangle of columns": (lambda x: torch.tril(x), (GIVEN,), 1),
    "sums of columns": (lambda x: torch.cumsum(x, 0), (GIVEN,), 2),
    "largest of all, kept": (lambda x: x.argmax(keepdim=True), (GIVEN,), 0),
    "largest of all": (lambda x: x.argmax(), (GIVEN,), 1),
    "largest of a number, kept": (lambda x: x.argmax(keepdim=True), (torch.arange(3.0),), 0),
    "smallest of a number": (lambda x: x.argmin(), (torch.arange(3.0),), 0),
    "sum of no dimensions": (lambda x: x.sum(()), (GIVEN,), 0),
    "sum of all, kept": (lambda x: x.sum(dim=None, keepdim=True), (GIVEN,), 1),
    "order by name": (lambda x: x.sort(dim=0), (GIVEN,), 0),
    "gathered of numbers": (
        lambda x, i: torch.gather(x, 0, i), (torch.arange(3.0), torch.zeros(3, dtype=torch.int64)), 0,
    ),
    "gathered by a number": (
        lambda x, i: torch.take_along_dim(x, i.reshape(1), 0), (torch.arange(6.0).reshape(2, 3), torch.tensor([2, 0])), 0,
    ),
    "outer products of matrices' rows": (lambda x: torch.outer(x[0], x[1]), (GIVEN,), 0),
    "strided": (lambda x: x.as_strided((2, 2), (1, 2)), (GIVEN,), 0),
    "strided by an offset": (lambda x: x.contiguous().as_strided((2, 2), (1, 2), 1), (GIVEN,), 0),
    "unfolded": (lambda x: x.unfold(0, 2, 1), (GIVEN,), 0),
    "unfolded number": (lambda x: x.unfold(0, 1, 1), (torch.arange(3.0),), 0),
    "enlarged": (lambda x: F.interpolate(x[None], scale_factor=2.0), (GIVEN,), 0),
    "one mask for all": (lambda x: x[torch.tensor([True, False, True])], (GIVEN,), 0),
    "added at places": (
        lambda x, s: x.index_add(0, torch.tensor([0, 2]), s), (GIVEN, torch.ones(2, 2, 4)), 0,
    ),
    "added at places of each": (
        lambda x, i: x.index_add(0, i, torch.ones(2, 4)), (GIVEN, torch.tensor([[0, 1], [2, 2]])), 0,
    ),
    "several results": (lambda x: torch.var_mean(x, 0), (GIVEN,), 2),
    "of a sample and a whole": (lambda x, y: torch.mm(x, y.t()), (GIVEN, GIVEN[0]), (0, None)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_as_one_by_one(case):
    function, args, dims = CASES[case]
    assert_as_one_by_one(function, *args, dims=dims)


@pytest.mark.parametrize("case", CASES)
def test_within_another(case):
    """As two levels: the outer one has two copies of all."""
    function, args, dims = CASES[case]
    dims = dims if isinstance(dims, tuple) else (dims,) * len(args)
    twice = [torch.stack([a, a + 1 if a.is_floating_point() else a]) for a in args]
    inner = torch.func.vmap(function, in_dims=dims)
    together = torch.func.vmap(inner)(*twice)
    apart = one_by_one(lambda *a: one_by_one(function, *a, dims=dims), *twice)
    for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in (together, apart)), strict=True):
        torch.testing.assert_close(a, b)


# ---- refusals -------------------------------------------------------------------------------------

REFUSED = {
    "filled with a number of each": (lambda x: x.new_full((2, 2), x.sum()), RuntimeError, "vmap"),
    "tolist": (lambda x: x.tolist(), RuntimeError, "vmap"),
    "numpy": (lambda x: x.numpy(), RuntimeError, "vmap"),
    "a branch": (lambda x: x if x.sum() > 0 else -x, RuntimeError, "data-dependent control flow"),
    "moved twice": (
        lambda x: x.movedim((0, 0), (0, 1)),
        RuntimeError,
        "repeated|more than once|unique|dim",
    ),
    "a mask of each": (lambda x: x[x > x[0, 0]], RuntimeError, "size"),
    "products of three that differ in rank": (
        lambda x: torch.linalg.cross(x[0, :3], x[:, :3]), RuntimeError, "must have the same number of dim",
    ),
    "a number": (lambda x: 3, ValueError, "must only return Tensors, got type <class 'int'>"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    function, kind, words = REFUSED[case]
    with pytest.raises(kind, match=words):
        torch.func.vmap(function)(GIVEN)
    assert torch.func.vmap(lambda x: x + 1)(GIVEN).shape == GIVEN.shape


def test_an_op_that_answers_without_a_tensor():
    """The same answer for all goes on; answers that differ cannot."""
    same = torch.ones(2, 3)
    scaled = torch.func.vmap(lambda x: x * (2 if torch.equal(x, torch.ones(3)) else 3))(same)
    assert scaled.tolist() == [[2, 2, 2], [2, 2, 2]]
    same[1, 0] = 5
    with pytest.raises(RuntimeError, match="answers differently for each sample"):
        torch.func.vmap(lambda x: x * (2 if torch.equal(x, torch.ones(3)) else 3))(same)


def test_masks_drawn_for_each_sample():
    shares = torch.tensor([[0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    drawn = torch.func.vmap(torch.bernoulli, randomness="different")(shares)
    assert drawn.tolist() == shares.tolist()
    with pytest.raises(RuntimeError, match="same randomness with a batched tensor input"):
        torch.func.vmap(torch.bernoulli, randomness="same")(shares)
    with pytest.raises(RuntimeError, match="randomness error mode"):
        torch.func.vmap(torch.bernoulli)(shares)
    alike = torch.func.vmap(lambda x: x * 0 + torch.rand(3), randomness="same")(shares)
    assert alike[0].tolist() == alike[1].tolist()
    apart = torch.func.vmap(lambda x: x * 0 + torch.rand(3), randomness="different")(shares)
    assert apart[0].tolist() != apart[1].tolist()


@pytest.mark.parametrize("out_dims", [1, (1,), -1])
def test_where_the_samples_of_a_result_lie(out_dims):
    found = torch.func.vmap(lambda x: x.sum(0), out_dims=out_dims)(GIVEN)
    assert found.tolist() == GIVEN.sum(1).t().tolist()


@pytest.mark.parametrize("out_dims", [(0, 1), 3, "one", None])
def test_where_they_cannot_lie(out_dims):
    found = outcome(torch.func.vmap(lambda x: x.sum(0), out_dims=out_dims), GIVEN)
    assert isinstance(found, ValueError | IndexError | TypeError), found


# ---- what a sample says of itself -----------------------------------------------------------------


def asked(question, value, dim):
    told = []
    torch.func.vmap(lambda x: (told.append(question(x)), x.sum())[1], in_dims=dim)(value)
    return told[0]


@pytest.mark.parametrize(
    ("dim", "contiguous", "stride"), [(0, True, (4, 1)), (1, False, (12, 1)), (2, False, (12, 4))]
)
def test_memory_of_a_sample(dim, contiguous, stride):
    assert asked(lambda x: x.is_contiguous(), GIVEN, dim) is contiguous
    assert asked(lambda x: x.stride(), GIVEN, dim) == stride
    assert asked(lambda x: x.stride(1), GIVEN, dim) == stride[1]
    assert asked(lambda x: tuple(x.shape), GIVEN, dim) == (
        *GIVEN.shape[:dim],
        *GIVEN.shape[dim + 1 :],
    )


def test_a_sample_is_shown_with_its_level():
    shown = asked(repr, torch.ones(2, 3), 1)
    assert shown.startswith("BatchedTensor(lvl=")
    assert "bdim=1" in shown
    assert "[1., 1., 1.]" in shown


def test_gradients_of_a_sample_are_not_asked_for_inside():
    def function(x, wanted):
        x.requires_grad = wanted
        return x.sum()

    assert torch.func.vmap(lambda x: function(x, False))(torch.ones(2, 3)).tolist() == [3, 3]
    with pytest.raises(RuntimeError, match=r"attempting to call Tensor\.requires_grad_\(\)"):
        torch.func.vmap(lambda x: function(x, True))(torch.ones(2, 3))


# ---- functions with gradients of their own --------------------------------------------------------


class Scaled(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, factor):
        return x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, _ = ctx.saved_tensors
        return torch.ones_like(x) * 3, (g * x).sum()


def test_a_gradient_that_is_the_same_for_all_samples():
    """The function's own gradient does not look at the samples, yet each gets one."""
    x, factor = torch.arange(6.0).reshape(2, 3), torch.tensor(2.0)

    def loss(x, factor):
        return Scaled.apply(x, factor).sum()

    grads = torch.func.vmap(torch.func.grad(loss, argnums=(0, 1)), in_dims=(0, None))(x, factor)
    assert grads[0].tolist() == [[3, 3, 3], [3, 3, 3]]
    assert grads[1].tolist() == [3, 12]
    x.requires_grad_()
    torch.func.vmap(lambda each: Scaled.apply(each, factor))(x).sum().backward()
    assert x.grad.tolist() == [[3, 3, 3], [3, 3, 3]]
