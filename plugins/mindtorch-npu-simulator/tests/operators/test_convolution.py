from typing import Any

import pytest
from calling import Formatted, Out, close, refused, run, strided, torch, workspace_size
from samples import case, sample
from simtoolkit import CODES, DTYPES, dtypes

FLT3 = dtypes("FLT3")
FORMS = {3: 47, 4: 0, 5: 30}
ALL = [True, True, True]

# Spatial rank, channels in and out, kernel, stride, padding, dilation, transposed, output padding, groups.
CASES: list[tuple[Any, ...]] = [
    (1, 4, 6, [3], [1], [1], [1], False, [0], 1),
    (1, 4, 6, [3], [2], [0], [2], True, [1], 2),
    (2, 3, 4, [3, 2], [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    (2, 4, 6, [3, 3], [2, 1], [1, 2], [1, 2], False, [0, 0], 2),
    (2, 4, 4, [2, 3], [1, 2], [1, 0], [1, 1], False, [0, 0], 4),
    (2, 4, 6, [3, 3], [2, 2], [1, 1], [1, 1], True, [1, 0], 2),
    (2, 4, 5, [1, 1], [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    (3, 2, 4, [2, 3, 2], [1, 2, 1], [1, 1, 0], [1, 1, 2], False, [0, 0, 0], 2),
    (3, 2, 4, [2, 2, 2], [2, 1, 1], [0, 1, 0], [1, 1, 1], True, [1, 0, 0], 1),
]
SIZES = (6, 7, 5)


def plain(dtype: str, shape: Any, seed: int = 0) -> Any:
    return sample(dtype, shape, seed, special=False)


def image(tensor: Any) -> Formatted:
    return Formatted(tensor, FORMS[tensor.dim()])


def out(dtype: str, shape: Any, strided: bool = False) -> Out:
    return Out(dtype, shape, strided, FORMS[len(shape)])


def dense(tensor: Any) -> Any:
    return tensor.contiguous()


def tensors(case_: tuple[Any, ...], dtype: str) -> tuple[Any, Any, Any]:
    rank, inputs, outputs, kernel, *_, transposed, _, groups = case_
    x = plain(dtype, (2, inputs, *SIZES[:rank]))
    channels = (inputs, outputs // groups) if transposed else (outputs, inputs // groups)
    return x, plain(dtype, (*channels, *kernel), 1), plain(dtype, (outputs,), 2)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_convolution(number: int) -> None:
    _, _, outputs, _, stride, padding, dilation, transposed, extra, groups = CASES[number]
    lists = [stride, padding, dilation, transposed, extra, groups]
    for dtype in FLT3:
        x, w, b = tensors(CASES[number], dtype)
        wide = [t.double().requires_grad_() for t in (x, w, b)]
        right = torch.convolution(*wide, *lists)
        shape = right.shape
        grad = plain(dtype, tuple(shape), 3)
        right.backward(grad.double())
        for change in (dense, strided):
            with case(dtype, change.__name__):
                result = run(
                    "Convolution",
                    image(change(x)),
                    image(change(w)),
                    b,
                    *lists,
                    out(dtype, shape),
                    0,
                )
                close(result, right.detach().to(x.dtype), 4)
                results = run("ConvolutionBackward", image(change(grad)), image(change(x)), image(change(w)),
                              [outputs], *lists, ALL, 0,
                              out(dtype, x.shape), out(dtype, w.shape), Out(dtype, b.shape))  # fmt: skip
                for result, leaf in zip(results, wide, strict=True):
                    close(result, leaf.grad.to(x.dtype), 8)


def test_no_bias_and_uneven_padding() -> None:
    x, w, _ = tensors(CASES[2], "f32")
    lists = [[1, 1], [1, 2, 0, 3], [1, 1], False, [0, 0], 1]
    right = torch.conv2d(torch.nn.functional.pad(x, (0, 3, 1, 2)), w)
    close(
        run("Convolution", image(x), image(w), None, *lists, out("f32", right.shape, True), 1),
        right,
    )
    one = torch.conv1d(torch.nn.functional.pad(x[..., 0], (2, 0)), w[..., 0])
    lists = [[1], [2, 0], [1], False, [0], 1]
    close(
        run(
            "Convolution",
            image(x[..., 0]),
            image(w[..., 0]),
            None,
            *lists,
            out("f32", one.shape),
            0,
        ),
        one,
    )


def test_masked_gradients() -> None:
    x, w, _ = tensors(CASES[2], "f32")
    lists = CASES[2][4:]
    grad = torch.ones_like(torch.convolution(x, w, None, *lists))
    expected = torch.ops.aten.convolution_backward(grad, x, w, [4], *lists, ALL)
    given = [image(grad), image(x), image(w), None, *lists, [False, True, False], 0]
    close(run("ConvolutionBackward", *given, None, out("f32", w.shape), None), expected[1])
    given[3], given[10] = [4], [True, False, True]
    results = run("ConvolutionBackward", *given, out("f32", x.shape), None, Out("f32", [4]))
    close(results[0], expected[0])
    close(results[1], expected[2])


def test_empty_batch() -> None:
    x, w, b = tensors(CASES[2], "f32")
    lists = CASES[2][4:]
    shape = torch.convolution(x[:0], w, b, *lists).shape
    assert (
        run("Convolution", image(x[:0]), image(w), b, *lists, out("f32", shape), 0).shape == shape
    )
    grad = torch.zeros(shape)
    results = run("ConvolutionBackward", image(grad), image(x[:0]), image(w), [4], *lists, ALL, 0,
                  out("f32", x[:0].shape), out("f32", w.shape), Out("f32", [4]))  # fmt: skip
    assert results[1].count_nonzero() == 0
    assert results[2].count_nonzero() == 0


def test_refusals() -> None:
    x, w, b = tensors(CASES[2], "f32")
    lists = CASES[2][4:]
    shape = torch.convolution(x, w, b, *lists).shape
    good = [image(x), image(w), b, *lists, out("f32", shape), 0]
    assert workspace_size("Convolution", *good) > 0
    for place, wrong in [
        (0, x), (1, w), (9, Out("f32", shape)),  # not images: the format is ND
        (0, image(x[:, :2])), (2, b[:3]), (3, [1]), (3, [0, 1]), (4, [-1, 0]), (4, [1, 1, 1]), (5, [1, 9]),
        (8, 0), (8, 2), (9, out("f32", [2, 4, 4, 4])), (10, 4), (10, -1),
    ]:  # fmt: skip
        changed = [*good[:place], wrong, *good[place + 1 :]]
        with case(place, wrong if isinstance(wrong, list | int) else type(wrong)):
            assert refused("Convolution", *changed) == CODES.INVALID
    for place in (0, 1, 3, 4, 5, 9):
        assert refused("Convolution", *good[:place], None, *good[place + 1 :]) == CODES.NULLPTR
    for dtype in DTYPES:
        if dtype not in FLT3:
            changed = [out(dtype, shape) if k == 9 else v for k, v in enumerate(good)]
            assert refused("Convolution", *changed) == CODES.INVALID
    grad = torch.ones(shape)
    outs = [out("f32", x.shape), out("f32", w.shape), Out("f32", [4])]
    back = [image(grad), image(x), image(w), [4], *lists, ALL, 0, *outs]
    assert refused("ConvolutionBackward", *back) == 0
    for k in range(3):
        changed = list(back)
        changed[12 + k] = Out("f32", outs[k].shape, True, outs[k].form)
        assert refused("ConvolutionBackward", *changed) == CODES.INVALID, (
            "outputs must be contiguous"
        )
        changed[12 + k] = None
        assert refused("ConvolutionBackward", *changed) == CODES.NULLPTR
    assert refused("ConvolutionBackward", *back[:3], [5], *back[4:]) == CODES.INVALID
    assert refused("ConvolutionBackward", *back[:10], [True], *back[11:]) == CODES.INVALID
