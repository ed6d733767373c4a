"""Which of several results require grad, and what is saved only if it is needed: as PyTorch."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch", reason="PyTorch is the oracle")

SEVERAL = {
    "native_layer_norm": lambda lib, x: lib.native_layer_norm(x, [3], None, None, 1e-5),
    "native_batch_norm": lambda lib, x: lib.native_batch_norm(
        x, None, None, lib.zeros(3), lib.ones(3), True, 0.1, 1e-5
    ),
    "_linalg_slogdet": lambda lib, x: lib.ops.aten._linalg_slogdet(x @ x.mT + lib.eye(4)),
    "_linalg_det": lambda lib, x: lib.ops.aten._linalg_det(x @ x.mT + lib.eye(4)),
    "_ctc_loss": lambda lib, x: lib._ctc_loss(
        x.log_softmax(1)[:, None], lib.tensor([[1, 2]]), [4], [2]
    ),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_results_that_carry_no_gradient(name):
    flags = {}
    for lib in (torch, pt):
        x = lib.arange(12.0).reshape(4, 3).requires_grad_()
        flags[lib] = [r.requires_grad for r in SEVERAL[name](lib, x)]
    assert flags[torch] == flags[pt]
    assert len(set(flags[pt])) == 2 or name == "native_layer_norm"


def test_statistics_that_evaluation_reads_may_not_change_before_backward():
    for lib in (torch, pt):
        x = lib.arange(12.0).reshape(4, 3).requires_grad_()
        mean, var = lib.zeros(3), lib.ones(3)
        y = lib.nn.functional.batch_norm(x, mean, var)
        mean.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


X = [[3.0, 1.0, 2.0], [5.0, 4.0, 9.0]]
PLACES = {
    "max": lambda lib, x: x.max(1),
    "min": lambda lib, x: x.min(1),
    "sort": lambda lib, x: x.sort(1),
    "topk": lambda lib, x: x.topk(2),
    "kthvalue": lambda lib, x: x.kthvalue(2),
    "median": lambda lib, x: x.median(1),
    "nanmedian": lambda lib, x: x.nanmedian(1),
    "mode": lambda lib, x: x.mode(1),
    "cummax": lambda lib, x: x.cummax(1),
    "cummin": lambda lib, x: x.cummin(1),
    "max_pool1d": lambda lib, x: lib.nn.functional.max_pool1d(x, 2, return_indices=True),
    "max_pool2d": lambda lib, x: lib.nn.functional.max_pool2d(x[None], 2, return_indices=True),
    "max_pool3d": lambda lib, x: lib.nn.functional.max_pool3d(
        x[None, None], (1, 2, 2), return_indices=True
    ),
    "adaptive_max_pool2d": lambda lib, x: lib.nn.functional.adaptive_max_pool2d(
        x[None], 2, return_indices=True
    ),
}


@pytest.mark.parametrize("name", PLACES)
def test_places_that_backward_reads_may_not_change_before(name):
    for lib in (torch, pt):
        for change in (lambda t: t.zero_(), lambda t: t[:1].add_(1)):
            values, places = PLACES[name](lib, lib.tensor(X, requires_grad=True))
            change(places)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                values.sum().backward()
        leaf = lib.tensor(X, requires_grad=True)
        values, places = PLACES[name](lib, leaf)
        assert places.clone().zero_().sum() == 0
        values.sum().backward()
        assert leaf.grad.sum() == values.numel()


def test_training_twice_before_backward_updates_statistics_in_between():
    gradients = []
    for lib in (torch, pt):
        x = (lib.arange(12.0) ** 2).reshape(4, 3).requires_grad_()
        mean, var = lib.zeros(3), lib.ones(3)
        first = lib.nn.functional.batch_norm(x, mean, var, training=True)
        second = lib.nn.functional.batch_norm(x * 2, mean, var, training=True)
        (first**3 + second**3).sum().backward()
        gradients.append([*x.grad.flatten().tolist(), *mean.tolist(), *var.tolist()])
    assert gradients[0] == pytest.approx(gradients[1], rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("op", ["relu_", "tanh_", "sigmoid_", "exp_", "sqrt_"])
@pytest.mark.parametrize(
    "view", [lambda t: t.view(6), lambda t: t[0], lambda t: t.mT], ids=["all", "row", "mT"]
)
def test_a_changed_view_is_differentiated_several_times(op, view):
    """The op's saved result has the view's history, which leads over the base: not one around it."""
    found = {}
    for lib in (torch, pt):
        x = lib.tensor([[0.5, 1.5, 0.25], [2.0, -0.5, 0.75]], dtype=lib.float64, requires_grad=True)
        base = x * x + x
        getattr(view(base), op)()
        (first,) = lib.autograd.grad((base**2).sum(), x, create_graph=True)
        (second,) = lib.autograd.grad((first**2).sum(), x, create_graph=True)
        (third,) = lib.autograd.grad(second.sum(), x)
        found[lib] = [t.nan_to_num(7).tolist() for t in (first, second, third)]
    for ours, theirs in zip(found[torch], found[pt], strict=True):
        assert ours == [pytest.approx(row, rel=1e-9) for row in theirs]
