"""Softmax and the losses, forward and backward, against PyTorch in double precision."""

from typing import Any

import pytest
from calling import TORCH, Out, close, fault, refused, run, strided, torch, workspace_size
from samples import case, check, check_refusals, sample
from simtoolkit import CODES, dtypes

F: Any = torch.nn.functional
FLT3 = dtypes("FLT3")
REDUCTIONS = ["none", "mean", "sum"]


def plain(dtype: str, shape: tuple[int, ...] = (4, 5), seed: int = 0) -> Any:
    return sample(dtype, shape, seed, special=False)


def gradient(function: Any, inputs: Any, grad: Any) -> Any:
    """The gradient of function(inputs), all in double precision."""
    x = inputs.double().requires_grad_()
    function(x).backward(grad.double())
    return x.grad.to(inputs.dtype)


@pytest.mark.parametrize("name", ["Softmax", "LogSoftmax"])
def test_softmax(name: str) -> None:
    oracle = {"Softmax": torch.softmax, "LogSoftmax": torch.log_softmax}[name]
    for dtype in dtypes("FLT4"):
        for shape, dim in [
            ((4, 5), 1),
            ((4, 5), 0),
            ((2, 3, 4), -2),
            ((), 0),
            ((1000,), 0),
            ((0, 3), 1),
        ]:
            x = plain(dtype, shape) * 3
            with case(dtype, shape):
                right = oracle(x.double(), dim).to(x.dtype)
                check(name, [x, dim, Out(dtype, shape)], right)
    large = torch.tensor([[1000.0, 1001.0], [-torch.inf, 0.0], [torch.nan, 1.0]])
    check(name, [large, 1, Out("f32", [3, 2])], oracle(large, 1))
    check_refusals(name, [large, 1, Out("f32", [3, 2])], [dtypes("FLT4")] * 2)
    assert refused(name, large, 2, Out("f32", [3, 2])) == CODES.INVALID
    assert refused(name, large, 1, Out("f32", [2, 3])) == CODES.INVALID
    assert workspace_size(name, strided(large), 1, Out("f32", [3, 2])) == large.nbytes


@pytest.mark.parametrize("name", ["Softmax", "LogSoftmax"])
def test_softmax_backward(name: str) -> None:
    oracle = {"Softmax": torch.softmax, "LogSoftmax": torch.log_softmax}[name]
    for dtype in FLT3:
        x, grad = plain(dtype), plain(dtype, seed=1)
        for dim in (0, -1):
            result = oracle(x.double(), dim).to(x.dtype)
            back = torch.ops.aten._softmax_backward_data if name == "Softmax" else torch.ops.aten._log_softmax_backward_data  # fmt: skip
            right = back(grad.double(), result.double(), dim, torch.float64).to(x.dtype)
            with case(dtype, dim):
                check(f"{name}Backward", [grad, result, dim, Out(dtype, x.shape)], right)
    arguments = [torch.ones(2, 3), torch.ones(2, 3), 1, Out("f32", [2, 3])]
    check_refusals(f"{name}Backward", arguments, [FLT3] * 3)


# ---- element by element --------------------------------------------------------------------------

PAIRS: dict[str, tuple[Any, list[Any]]] = {
    "MseLoss": (F.mse_loss, []),
    "L1Loss": (F.l1_loss, []),
    "SmoothL1Loss": (lambda x, t, reduction: F.smooth_l1_loss(x, t, reduction=reduction, beta=0.7), [0.7]),
    "KlDiv": (lambda x, t, reduction: F.kl_div(x, t, reduction=reduction), [False]),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
@pytest.mark.parametrize("name", PAIRS)
def test_distances(name: str) -> None:
    oracle, more = PAIRS[name]
    for dtype in FLT3:
        x, t = plain(dtype), plain(dtype, seed=1)
        for number, reduction in enumerate(REDUCTIONS):
            shape = x.shape if reduction == "none" else ()
            right = oracle(x.double(), t.double(), reduction=reduction)
            grad = plain(dtype, tuple(shape), 2)
            back = gradient(lambda y, t=t, r=reduction: oracle(y, t.double(), reduction=r), x, grad)
            with case(dtype, reduction):
                check(name, [x, t, number, *more, Out(dtype, shape)], right.to(x.dtype))
                check(f"{name}Backward", [grad, x, t, number, *more, Out(dtype, x.shape)], back)
    x, out = torch.ones(2, 3), Out("f32", [])
    allowed = [*FLT3, "i64"] if name == "L1Loss" else FLT3
    check_refusals(name, [x, x, 1, *more, out], [allowed] * 3)
    assert refused(name, x, x, 4, *more, out) == CODES.INVALID
    assert refused(name, x, x, -1, *more, out) == CODES.INVALID
    assert refused(name, x, x[:, :2], 1, *more, out) == CODES.INVALID
    assert refused(name, x, x, 0, *more, out) == CODES.INVALID


def test_kl_div_with_logarithms() -> None:
    x, t = plain("f32"), plain("f32", seed=1)
    right = F.kl_div(x, t, reduction="batchmean", log_target=True)
    check("KlDiv", [x, t, 3, True, Out("f32", [])], right)
    grad = torch.tensor(2.0)
    back = gradient(
        lambda y: F.kl_div(y, t.double(), reduction="batchmean", log_target=True), x, grad
    )
    check("KlDivBackward", [grad, x, t, 3, True, Out("f32", x.shape)], back)
    whole = torch.tensor([1, 5, -7]), torch.tensor([2, 2, 2])
    assert run("L1Loss", *whole, 2, Out("i64", [])).item() == 13
    check("MseLossOut", [x, t, 0, Out("f32", x.shape)], F.mse_loss(x, t, reduction="none"))


@pytest.mark.parametrize("weighted", [False, True])
def test_binary_cross_entropy(weighted: bool) -> None:
    for dtype in FLT3:
        x, t, w = plain(dtype), plain(dtype, seed=1).sigmoid(), plain(dtype, (5,), 2).abs()
        p, weight, positive = x.sigmoid(), w if weighted else None, w.flip(0) if weighted else None
        wide = [None if v is None else v.double() for v in (weight, positive)]
        for number, reduction in enumerate(REDUCTIONS):
            shape = x.shape if reduction == "none" else ()
            grad = plain(dtype, tuple(shape), 3)

            def plain_loss(y: Any, t: Any = t, r: str = reduction, wide: Any = wide) -> Any:
                return F.binary_cross_entropy(y, t.double(), wide[0], reduction=r)

            def logits_loss(y: Any, t: Any = t, r: str = reduction, wide: Any = wide) -> Any:
                return F.binary_cross_entropy_with_logits(
                    y, t.double(), wide[0], reduction=r, pos_weight=wide[1]
                )

            with case(dtype, reduction):
                out, of_x = Out(dtype, shape), Out(dtype, x.shape)
                name = "BinaryCrossEntropy"
                check(name, [p, t, weight, number, out], plain_loss(p.double()).to(x.dtype))
                check(
                    f"{name}Backward",
                    [grad, p, t, weight, number, of_x],
                    gradient(plain_loss, p, grad),
                )
                name += "WithLogits"
                check(
                    name, [x, t, weight, positive, number, out], logits_loss(x.double()).to(x.dtype)
                )
                check(f"{name}Backward", [grad, x, t, weight, positive, number, of_x],
                      gradient(logits_loss, x, grad), factor=2)  # fmt: skip
    x = torch.rand(3)
    check_refusals("BinaryCrossEntropy", [x, x, None, 1, Out("f32", [])], [["f32"]] * 3)
    edge = torch.tensor([0.0, 1.0])
    assert run("BinaryCrossEntropy", edge, edge.flip(0), None, 0, Out("f32", [2])).tolist() == [
        100,
        100,
    ]


# ---- classes -------------------------------------------------------------------------------------

IGNORED = 3


@pytest.mark.parametrize("pixels", [False, True])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_nll_loss(number: int, pixels: bool) -> None:
    name, shape = ("NLLLoss2d", (2, 5, 3, 2)) if pixels else ("NLLLoss", (4, 5))
    labels = (
        torch.tensor([4, 3, 0, 1, 1, 2, 4, 3, 0, 0, 1, 2]) if pixels else torch.tensor([4, 3, 0, 1])
    )
    labels = labels.view(shape[:1] + shape[2:])
    for dtype in FLT3:
        x, w = plain(dtype, shape), plain(dtype, (5,), 1).abs()
        for target in ("i32", "i64", "u8"):

            def loss(y: Any, w: Any = w) -> Any:
                return F.nll_loss(
                    y, labels, w.double(), ignore_index=IGNORED, reduction=REDUCTIONS[number]
                )

            t = labels.to(TORCH[target])
            total = w.double()[labels[labels != IGNORED]].sum().to(w.dtype)
            right = loss(x.double())
            grad = plain(dtype, tuple(right.shape), 2)
            outs = Out(dtype, right.shape), Out(dtype, [])
            with case(dtype, target):
                kept = total if number else torch.zeros_like(total)
                check(name, [x, t, w, number, IGNORED, *outs], right.to(x.dtype), kept)
                check(f"{name}Backward", [grad, x, t, w, number, IGNORED, total, Out(dtype, shape)],
                      gradient(loss, x, grad), factor=2)  # fmt: skip


def test_nll_loss_of_one_sample_and_of_none() -> None:
    x, w = plain("f32", (5,)), torch.ones(5)
    loss, total = run("NLLLoss", x, torch.tensor(2), w, 1, -100, Out("f32", []), Out("f32", []))
    close(loss, -x[2])
    assert total.item() == 1
    empty = torch.zeros(0, 5), torch.zeros(0, dtype=torch.int64)
    loss, total = run("NLLLoss", *empty, w, 1, -100, Out("f32", []), Out("f32", []))
    assert loss.isnan()
    assert total.item() == 0


def test_a_class_that_does_not_exist_fails_on_the_stream() -> None:
    x, w, outs = torch.randn(2, 5), torch.ones(5), [Out("f32", []), Out("f32", [])]
    for bad in (5, -1):
        t = torch.tensor([0, bad])
        assert fault("NLLLoss", x, t, w, 1, -100, *outs) == CODES.AICORE
        one = torch.tensor(1.0)
        back = ["NLLLossBackward", one, x, t, w, 1, -100, one, Out("f32", [2, 5])]
        assert fault(*back) == CODES.AICORE


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_cross_entropy(reduction: str) -> None:
    labels = torch.tensor([4, 3, 0, 1])
    for dtype in FLT3:
        x, w = plain(dtype), plain("f32", (5,), 1).abs()
        for weight, smoothing in [(None, 0.0), (w, 0.0), (w, 0.25), (None, 0.1)]:

            def loss(y: Any, weight: Any = weight, smoothing: float = smoothing) -> Any:
                return F.cross_entropy(y, labels, None if weight is None else weight.double(),
                                       ignore_index=IGNORED, reduction=reduction, label_smoothing=smoothing)  # fmt: skip

            right = loss(x.double())
            log_prob = torch.log_softmax(x.double(), 1).to(x.dtype)
            outs = [Out(dtype, right.shape), Out(dtype, x.shape), Out(dtype, [0]), Out(dtype, [0])]
            with case(dtype, smoothing):
                results = run("CrossEntropyLoss", strided(x), labels, weight, reduction, IGNORED, smoothing, 0.0, False, *outs)  # fmt: skip
                close(results[0], right.to(x.dtype))
                close(results[1], log_prob)
                grad = plain(dtype, tuple(right.shape), 2)
                check("CrossEntropyLossGrad",
                      [grad, log_prob, labels, weight, None, None, reduction, IGNORED, smoothing, 0.0, Out(dtype, x.shape)],
                      gradient(loss, x, grad), factor=8)  # fmt: skip


def test_class_refusals() -> None:
    x, t, w = torch.randn(4, 5), torch.tensor([0, 1, 2, 3]), torch.ones(5)
    out = Out("f32", [])
    labels = ["i32", "i64", "u8"]
    check_refusals("NLLLoss", [x, t, w, 1, -100, out, out], [FLT3, labels, FLT3, FLT3, FLT3])
    assert refused("NLLLoss", x, t, w[:4], 1, -100, out, out) == CODES.INVALID
    assert refused("NLLLoss", x, t[:3], w, 1, -100, out, out) == CODES.INVALID
    assert refused("NLLLoss", x, t, w, 3, -100, out, out) == CODES.INVALID
    assert refused("NLLLoss", x, t, w, 0, -100, out, out) == CODES.INVALID
    assert refused("NLLLoss2d", x, t, w, 1, -100, out, out) == CODES.INVALID
    outs = [out, Out("f32", [4, 5]), out, out]
    for words in (
        ["avg", -100, 0.0, 0.0, False],
        ["mean", -100, 2.0, 0.0, False],
        ["mean", -100, 0.0, 0.5, True],
    ):
        assert refused("CrossEntropyLoss", x, t, w, *words, *outs) == CODES.INVALID
