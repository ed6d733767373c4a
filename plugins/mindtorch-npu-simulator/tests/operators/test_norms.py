from typing import Any

import pytest
from calling import Formatted, InOut, Out, close, refused, run, strided, torch
from samples import case, check, check_refusals, sample
from simtoolkit import CODES, dtypes

F: Any = torch.nn.functional
FLT3 = dtypes("FLT3")
ALL = [True, True, True]
EPS = 1e-5


def plain(dtype: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    return sample(dtype, shape, seed, special=False) + 1


def gradients(function: Any, tensors: list[Any], grad: Any) -> list[Any]:
    """Gradients of function(*tensors) in double precision."""
    wide = [t.double().requires_grad_() for t in tensors]
    function(*wide).backward(grad.double())
    return [w.grad.to(t.dtype) for w, t in zip(wide, tensors, strict=True)]


def statistics(rows: Any) -> tuple[Any, Any]:
    """Mean and reciprocal deviation of each row."""
    wide = rows.double()
    return wide.mean(1), (wide.var(1, correction=0) + EPS).rsqrt()


@pytest.mark.parametrize("dtype", FLT3)
def test_layer_norm(dtype: str) -> None:
    for shape, normalized in [((4, 6), (6,)), ((2, 3, 4), (3, 4)), ((5,), (5,))]:
        x, w, b = plain(dtype, shape), plain(dtype, normalized, 1), plain(dtype, normalized, 2)
        rest = shape[: len(shape) - len(normalized)] + (1,) * len(normalized)
        mean, rstd = (s.float().view(rest) for s in statistics(x.reshape(-1, w.numel())))

        def norm(x: Any, w: Any, b: Any, n: Any = normalized) -> Any:
            return F.layer_norm(x, n, w, b, EPS)

        right = norm(x.double(), w.double(), b.double()).to(x.dtype)
        outs = [Out(dtype, shape), Out("f32", rest), Out("f32", rest)]
        with case(shape):
            check("LayerNorm", [x, normalized, w, b, EPS, *outs], right, mean, rstd)
            bare = F.layer_norm(x.double(), normalized, eps=EPS).to(x.dtype)
            check("LayerNorm", [x, normalized, None, None, EPS, outs[0], None, None], bare)
            grad = plain(dtype, shape, 3)
            back = gradients(norm, [x, w, b], grad)
            outs = [Out(dtype, shape), Out(dtype, normalized), Out(dtype, normalized)]
            check(
                "LayerNormBackward",
                [grad, x, normalized, mean, rstd, w, b, ALL, *outs],
                *back,
                factor=4,
            )
            given = [
                grad,
                x,
                normalized,
                mean,
                rstd,
                w,
                None,
                [False, True, False],
                None,
                outs[1],
                None,
            ]
            check("LayerNormBackward", given, back[1], factor=4)


@pytest.mark.parametrize("dtype", FLT3)
def test_group_norm(dtype: str) -> None:
    for shape, groups in [((2, 6, 3, 2), 3), ((2, 4), 2), ((3, 4, 5), 1)]:
        n, c, inner = shape[0], shape[1], torch.Size(shape[2:]).numel()
        x, w, b = plain(dtype, shape), plain(dtype, (c,), 1), plain(dtype, (c,), 2)
        mean, rstd = (s.float().view(n, groups) for s in statistics(x.reshape(n * groups, -1)))

        def norm(x: Any, w: Any, b: Any, g: int = groups) -> Any:
            return F.group_norm(x, g, w, b, EPS)

        sizes = [n, c, inner, groups]
        right = norm(x.double(), w.double(), b.double()).to(x.dtype)
        outs = [Out(dtype, shape), Out("f32", [n, groups]), Out("f32", [n, groups])]
        with case(shape):
            check("GroupNorm", [x, w, b, *sizes, EPS, *outs], right, mean, rstd)
            grad = plain(dtype, shape, 3)
            back = gradients(norm, [x, w, b], grad)
            outs = [Out(dtype, shape), Out(dtype, [c]), Out(dtype, [c])]
            check(
                "GroupNormBackward", [grad, x, mean, rstd, w, *sizes, ALL, *outs], *back, factor=4
            )


@pytest.mark.parametrize("dtype", FLT3)
def test_rms_norm(dtype: str) -> None:
    x, w = plain(dtype, (4, 6)), plain(dtype, (6,), 1)
    wide = x.double()
    rstd = (wide.square().mean(1, keepdim=True) + EPS).rsqrt().float()

    def norm(x: Any, w: Any) -> Any:
        return F.rms_norm(x, (6,), w, EPS)

    right = norm(wide, w.double()).to(x.dtype)
    check("RmsNorm", [x, w, EPS, Out(dtype, x.shape), Out("f32", [4, 1])], right, rstd)
    grad = plain(dtype, (4, 6), 3)
    back = gradients(norm, [x, w], grad)
    wide_grad = gradients(norm, [x.double(), w.double()], grad)[1].float()
    check(
        "RmsNormGrad",
        [grad, x, rstd, w, Out(dtype, x.shape), Out("f32", [6])],
        back[0],
        wide_grad,
        factor=4,
    )


# ---- batch norm ----------------------------------------------------------------------------------

FORMS = {2: 2, 3: 47, 4: 0, 5: 30}
SHAPES = [(6, 3), (4, 3, 5), (2, 3, 4, 2), (2, 3, 2, 2, 2)]


def image(tensor: Any) -> Formatted:
    return Formatted(tensor, FORMS[tensor.dim()])


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", FLT3)
def test_batch_norm(dtype: str, training: bool) -> None:
    for shape in SHAPES:
        x, w, b = plain(dtype, shape), plain("f32", (3,), 1), plain("f32", (3,), 2)
        mean, var = plain("f32", (3,), 3), plain("f32", (3,), 4).abs()
        right_mean, right_var = mean.double(), var.double()

        def norm(x: Any, w: Any, b: Any, mean: Any = mean, var: Any = var) -> Any:
            return F.batch_norm(x, mean.double(), var.double(), w, b, training, 0.3, EPS)

        right = F.batch_norm(
            x.double(), right_mean, right_var, w.double(), b.double(), training, 0.3, EPS
        )
        save = [s.float() for s in statistics(x.transpose(0, 1).reshape(3, -1))]
        for given in (x, strided(x)):
            with case(shape):
                results = run("BatchNorm", image(given), w, b, InOut(mean), InOut(var), training, 0.3, EPS,
                              Out(dtype, shape, form=FORMS[len(shape)]), Out("f32", [3]), Out("f32", [3]))  # fmt: skip
                running_mean, running_var, out, save_mean, save_invstd = results
                close(out, right.to(x.dtype))
                close(running_mean, right_mean.float())
                close(running_var, right_var.float())
                if training:
                    close(save_mean, save[0])
                    close(save_invstd, save[1])
                grad = plain(dtype, shape, 5)
                back = gradients(norm, [x, w, b], grad)
                results = run("BatchNormBackward", image(grad), image(given), w, mean, var, *save, training, EPS, ALL,
                              Out(dtype, shape, form=FORMS[len(shape)]), Out("f32", [3]), Out("f32", [3]))  # fmt: skip
                for result, expected in zip(results, back, strict=True):
                    close(result, expected, 4)


def test_batch_norm_without_options() -> None:
    x = plain("f32", (6, 3))
    outs = [Out("f32", [6, 3]), Out("f32", [3]), Out("f32", [3])]
    out, *_ = run("BatchNorm", x, None, None, None, None, True, 0.1, EPS, *outs)
    close(out, F.batch_norm(x, None, None, training=True, eps=EPS))
    assert refused("BatchNorm", x, None, None, None, None, False, 0.1, EPS, *outs) == CODES.INVALID


def test_refusals() -> None:
    x, w = torch.ones(4, 6), torch.ones(6)
    outs = [Out("f32", [4, 6]), Out("f32", [4, 1]), Out("f32", [4, 1])]
    check_refusals("LayerNorm", [x, [6], w, w, EPS, *outs], [FLT3, None, None, FLT3, None, None])
    assert refused("LayerNorm", x, [5], None, None, EPS, *outs) == CODES.INVALID
    assert refused("LayerNorm", x, [], None, None, EPS, *outs) == CODES.INVALID
    assert refused("LayerNorm", x, [6], w[:5], None, EPS, *outs) == CODES.INVALID
    assert (
        refused("LayerNorm", x, [6], w, None, EPS, outs[0], Out("f32", [4]), outs[2])
        == CODES.INVALID
    )
    assert refused("LayerNorm", x, [6], w.double(), None, EPS, *outs) == CODES.INVALID
    back = [x, x, [6], torch.ones(4, 1), torch.ones(4, 1), w, w]
    assert refused("LayerNormBackward", *back, [True], *outs) == CODES.INVALID
    assert refused("LayerNormBackward", *back, ALL, None, None, None) == CODES.NULLPTR
    pairs = [Out("f32", [4, 2]), Out("f32", [4, 2])]
    assert refused("GroupNorm", x, w, w, 4, 6, 2, 2, EPS, outs[0], *pairs) == CODES.INVALID
    assert refused("GroupNorm", x, w, w, 4, 6, 1, 4, EPS, outs[0], *pairs) == CODES.INVALID
    y = torch.ones(2, 3, 4, 4)
    three = [Out("f32", [3]), Out("f32", [3])]
    given = [None, None, None, None, True, 0.1, EPS]
    good = Out("f32", y.shape, form=0)
    assert refused("BatchNorm", image(y), *given, good, *three) == 0
    assert refused("BatchNorm", y, *given, good, *three) == CODES.INVALID, "the format is ND"
    assert refused("BatchNorm", image(y), *given, Out("f32", y.shape), *three) == CODES.INVALID
    assert refused("RmsNorm", x, w, EPS, outs[0], Out("f16", [4, 1])) == CODES.INVALID
