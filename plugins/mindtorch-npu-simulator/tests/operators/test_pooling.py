from typing import Any

import pytest
from calling import Formatted, Out, close, fault, refused, run, strided, torch
from samples import case, check, check_refusals, sample
from simtoolkit import CODES, dtypes

F: Any = torch.nn.functional
FLT3 = dtypes("FLT3")
FORMS = {3: 47, 4: 0, 5: 30}

# Kernel, stride, padding, dilation, ceil mode.
MAXIMA: list[tuple[Any, ...]] = [
    ([2, 2], [2, 2], [0, 0], [1, 1], False),
    ([3, 2], [], [1, 0], [1, 1], True),
    ([2, 3], [1, 2], [1, 1], [2, 1], False),
    ([3], [2], [1], [1], True),
]


def plain(dtype: str, shape: Any, seed: int = 0) -> Any:
    return sample(dtype, shape, seed, special=False)


def image(tensor: Any) -> Formatted:
    return Formatted(tensor, FORMS[tensor.dim()])


def out(dtype: str, shape: Any) -> Out:
    return Out(dtype, shape, form=FORMS[len(shape)])


def back(right: Any, x: Any, grad: Any) -> Any:
    right.backward(grad.double())
    return x.grad.to(grad.dtype)


@pytest.mark.parametrize("number", range(len(MAXIMA)))
def test_max_pool(number: int) -> None:
    lists = MAXIMA[number]
    for dtype in FLT3:
        for shape in [(2, 3, 7, 6), (3, 7, 6)]:
            x = plain(dtype, shape)
            wide = x.double().requires_grad_()
            right, places = F.max_pool2d(
                wide, *[v or None for v in lists[:4]], lists[4], return_indices=True
            )
            grad = plain(dtype, tuple(right.shape), 1)
            expected = back(right, wide, grad)
            size = right.shape
            with case(dtype, shape):
                for index in ("i32", "i64"):
                    outs = [Out(dtype, size), Out(index, size)]
                    check(
                        "MaxPool2dWithIndices",
                        [x, *lists, *outs],
                        right.detach().to(x.dtype),
                        places,
                    )
                check(
                    "MaxPool2dWithIndicesBackward",
                    [grad, x, places, *lists, Out(dtype, shape)],
                    expected,
                    factor=2,
                )


def test_max_pool_by_masks() -> None:
    for lists in [([2, 2], [2, 2], [0, 0], [1, 1], False), ([3, 3], [1, 2], [1, 1], [1, 1], True)]:
        for dtype in FLT3:
            x = plain(dtype, (2, 3, 7, 6))
            wide = x.double().requires_grad_()
            right = F.max_pool2d(wide, *lists)
            grad = plain(dtype, tuple(right.shape), 1)
            area = right.shape[2] * right.shape[3]
            mask = Out("i8", [2, 3, lists[0][0] * lists[0][1], ((area + 15) // 16 + 1) * 32])
            with case(dtype, lists):
                result, bits = run(
                    "MaxPool2dWithMask", strided(x), *lists, Out(dtype, right.shape), mask
                )
                close(result, right.detach().to(x.dtype))
                check("MaxPool2dWithMaskBackward", [grad, x, bits, *lists, Out(dtype, x.shape)],
                      back(right, wide, grad), factor=2)  # fmt: skip
    assert (
        refused(
            "MaxPool2dWithMask",
            x,
            [2, 2],
            [2, 2],
            [0, 0],
            [2, 2],
            False,
            Out("bf16", [2, 3, 2, 2]),
            mask,
        )
        == CODES.INVALID
    )


def test_max_pool_propagates_nan() -> None:
    x = torch.tensor([[[1.0, torch.nan], [3.0, -torch.inf]]])
    outs = [Out("f32", [1, 1, 1]), Out("i32", [1, 1, 1])]
    value, place = run("MaxPool2dWithIndices", x, [2, 2], [2, 2], [0, 0], [1, 1], False, *outs)
    assert value.isnan().all()
    assert place.item() == 1
    low = torch.full((1, 2, 2), -torch.inf)
    value, place = run("MaxPool2dWithIndices", low, [2, 2], [2, 2], [0, 0], [1, 1], False, *outs)
    assert (value.item(), place.item()) == (-torch.inf, 0)


def test_three_dims() -> None:
    for dtype in FLT3:
        x = plain(dtype, (2, 3, 4, 5, 6))
        lists = ([2, 3, 2], [1, 2, 2], [1, 1, 0], [1, 1, 1], True)
        wide = x.double().requires_grad_()
        right, places = F.max_pool3d(wide, *lists, return_indices=True)
        grad = plain(dtype, tuple(right.shape), 1)
        expected = back(right, wide, grad)
        outs = [Out(dtype, right.shape), Out("i32", right.shape)]
        check("MaxPool3dWithArgmax", [x, *lists, *outs], right.detach().to(x.dtype), places)
        check(
            "MaxPool3dWithArgmaxBackward",
            [grad, x, places.int(), *lists, Out(dtype, x.shape)],
            expected,
            factor=2,
        )
        for include in (False, True):
            wide = x.double().requires_grad_()
            right = F.avg_pool3d(wide, *lists[:3], True, include)
            more = [*lists[:3], True, include, 0]
            check("AvgPool3d", [x, *more, Out(dtype, right.shape)], right.detach().to(x.dtype))
            check(
                "AvgPool3dBackward", [grad, x, *more, Out(dtype, x.shape)], back(right, wide, grad)
            )
        wide = x.double().requires_grad_()
        right = F.adaptive_avg_pool3d(wide, (3, 2, 4))
        grad = plain(dtype, tuple(right.shape), 1)
        check(
            "AdaptiveAvgPool3d", [x, [3, 2, 4], Out(dtype, right.shape)], right.detach().to(x.dtype)
        )
        check("AdaptiveAvgPool3dBackward", [grad, x, Out(dtype, x.shape)], back(right, wide, grad))


AVERAGES: list[tuple[Any, ...]] = [
    ([2, 2], [2, 2], [0, 0], False, True, 0),
    ([3, 2], [], [1, 1], True, True, 0),
    ([3, 3], [2, 1], [1, 0], True, False, 0),
    ([2], [1], [0], False, False, 3),
]


@pytest.mark.parametrize("number", range(len(AVERAGES)))
def test_average(number: int) -> None:
    kernel, stride, padding, ceil, include, divisor = AVERAGES[number]
    for dtype in FLT3:
        for shape in [(2, 3, 7, 6), (3, 7, 6)]:
            x = plain(dtype, shape)
            wide = x.double().requires_grad_()
            right = F.avg_pool2d(
                wide, kernel, stride or None, padding, ceil, include, divisor or None
            )
            grad = plain(dtype, tuple(right.shape), 1)
            expected = back(right, wide, grad)
            with case(dtype, shape):
                for given in (x, strided(x)):
                    result = run(
                        "AvgPool2d", image(given), *AVERAGES[number], 0, out(dtype, right.shape)
                    )
                    close(result, right.detach().to(x.dtype))
                    result = run(
                        "AvgPool2dBackward",
                        image(grad),
                        image(given),
                        *AVERAGES[number],
                        0,
                        out(dtype, shape),
                    )
                    close(result, expected)


def test_adaptive() -> None:
    for sizes in ([1, 1], [3, 4], [7, 6], [9, 2]):
        for dtype in FLT3:
            for shape in [(2, 3, 7, 6), (3, 7, 6)]:
                x = plain(dtype, shape)
                wide = x.double().requires_grad_()
                right = F.adaptive_avg_pool2d(wide, sizes)
                grad = plain(dtype, tuple(right.shape), 1)
                with case(dtype, sizes, shape):
                    check(
                        "AdaptiveAvgPool2d",
                        [x, sizes, Out(dtype, right.shape)],
                        right.detach().to(x.dtype),
                    )
                    check(
                        "AdaptiveAvgPool2dBackward",
                        [grad, x, Out(dtype, shape)],
                        back(right, wide, grad),
                    )
                    best, places = F.adaptive_max_pool2d(x.double(), sizes, return_indices=True)
                    outs = [Out(dtype, best.shape), Out("i64", best.shape)]
                    check("AdaptiveMaxPool2d", [x, sizes, *outs], best.to(x.dtype), places)


def test_refusals() -> None:
    x, size = torch.ones(1, 1, 4, 4), [1, 1, 2, 2]
    lists = [[2, 2], [2, 2], [0, 0], [1, 1], False]
    outs = [Out("f32", size), Out("i32", size)]
    check_refusals("MaxPool2dWithIndices", [x, *lists, *outs], [["f32"], ["f32"], ["i32", "i64"]])
    for place, wrong in [
        (0, [0, 2]),
        (0, [2, 2, 2]),
        (0, [9, 9]),
        (1, [0, 1]),
        (2, [2, 2]),
        (2, [-1, 0]),
        (3, [0, 0]),
    ]:
        changed = [*lists[:place], wrong, *lists[place + 1 :]]
        assert refused("MaxPool2dWithIndices", x, *changed, *outs) == CODES.INVALID
    assert refused("MaxPool2dWithIndices", x[0, 0], *lists, *outs) == CODES.INVALID
    assert (
        refused("MaxPool2dWithIndices", x, *lists, Out("f32", [1, 1, 3, 3]), outs[1])
        == CODES.INVALID
    )
    grad, bad = torch.ones(size), torch.full(size, 16)
    back_ = ["MaxPool2dWithIndicesBackward", grad, x, bad, *lists, Out("f32", x.shape)]
    assert fault(*back_) == CODES.AICORE
    more = [[2, 2], [2, 2], [0, 0], False, True, 0]
    assert refused("AvgPool2d", image(x), *more, 0, out("f32", size)) == 0
    assert refused("AvgPool2d", image(x), *more, 4, out("f32", size)) == CODES.INVALID
    assert refused("AvgPool2d", x, *more, 0, out("f32", size)) == CODES.INVALID, "the format is ND"
    assert refused("AdaptiveAvgPool2d", x, [2], outs[0]) == CODES.INVALID
    assert refused("AdaptiveAvgPool2d", x, [2, 0], outs[0]) == CODES.INVALID
    mask = Out("i8", [1, 1, 4, 31])
    assert refused("MaxPool2dWithMask", x, *lists, outs[0], mask) == CODES.INVALID


def test_gradients_are_added_where_windows_overlap() -> None:
    x = torch.tensor([[[0.0, 5.0, 0.0]]])
    grad, places = torch.ones(1, 1, 2), torch.tensor([[[1, 1]]])
    lists = [[1, 2], [1, 1], [0, 0], [1, 1], False]
    result = run("MaxPool2dWithIndicesBackward", grad, x, places, *lists, Out("f32", [1, 1, 3]))
    assert result.tolist() == [[[0, 2, 0]]]
