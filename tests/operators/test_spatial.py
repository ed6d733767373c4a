"""Convolution, pooling, resizing and attention: layouts, pipelines, wrong arguments, second gradients."""

import itertools

import pytest

import mindtorch_core as torch
import mindtorch_core.nn.functional as F

pt = pytest.importorskip("torch")

CONVOLUTIONS = list(
    itertools.product(
        (1, 2, 3),  # dimensions
        (1, 2, 3),  # stride
        (0, 1, 3),  # padding
        (1, 2),  # dilation
        (1, 2, 4),  # groups
        (False, True),  # transposed
    )
)


def here(t):
    return torch.from_numpy(t.detach().numpy().copy()).requires_grad_(t.requires_grad)


def leaf(*shape, seed=0):
    generator = pt.Generator().manual_seed(seed)
    return pt.randn(shape, generator=generator, dtype=pt.float64).requires_grad_()


def close(ours, theirs):
    pt.testing.assert_close(pt.from_numpy(ours.detach().numpy()), theirs.detach())


def compared(run, *leaves):
    """Run in both libraries; results and gradients agree."""
    mine = [here(t) for t in leaves]
    expected, found = run(pt, *leaves), run(torch, *mine)
    close(found, expected)
    g = leaf(*expected.shape, seed=9).detach()
    theirs = pt.autograd.grad(expected, leaves, g)
    ours = torch.autograd.grad(found, mine, here(g))
    for a, b in zip(ours, theirs, strict=True):
        close(a, b)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize(
    "padding",
    [(3, 0), (0, 3), (2, 3, 1, 0), (4, 4, 2, 2), (-1, 2, 2, -1), (-2, -2, 0, 0), (1, 2, 0, 1, 1, 1), (-4, 4), (4, -4)],
)  # fmt: skip
def test_padding_by_own_elements(padding, mode):
    if mode == "circular" and max(padding) - min(padding) > 5:
        return  # PyTorch copies what it has not yet written
    dims = len(padding) // 2
    compared(lambda lib, x: lib.nn.functional.pad(x, padding, mode), leaf(2, 3, *(5, 6, 5)[-dims:]))


@pytest.mark.parametrize(
    "padding", [(9, 2), (2, 9), (9, 9, 8, 7), (-3, 9), (9, -3), (8, 8, 8, 8, 8, 8)]
)
def test_padding_by_edges_farther_than_the_size(padding):
    dims = len(padding) // 2
    x = leaf(2, 3, *(3, 4, 5)[-dims:])
    compared(lambda lib, x: lib.nn.functional.pad(x, padding, "replicate"), x)


@pytest.mark.parametrize("case", CONVOLUTIONS[:: len(CONVOLUTIONS) // 36])
def test_convolutions_of_any_geometry(case):
    n, stride, padding, dilation, groups, transposed = case
    x = leaf(2, 8, *(9, 7, 8)[:n])
    bias = leaf(8, seed=2)
    w = leaf(8, 8 // groups, *(3, 2, 3)[:n], seed=1)

    def run(lib, x, w, bias):
        numbers = [stride] * n, [padding] * n, [dilation] * n, transposed, [0] * n, groups
        return lib.convolution(x, w, bias, *numbers)

    compared(run, x, w, bias)


def test_deep_and_shallow_channels_take_different_ways_to_the_same_sums():
    for channels, filters, groups in ((40, 36, 1), (3, 16, 1), (64, 64, 64), (80, 40, 2)):
        x, w = leaf(3, channels, 11, 10), leaf(filters, channels // groups, 3, 3, seed=1)
        for stride in (1, 2):
            compared(lambda lib, x, w, s=stride, g=groups: lib.conv2d(x, w, None, s, 1, 1, g), x, w)


def test_layouts_and_batches_of_any_kind():
    w = leaf(4, 6, 3, 3, seed=1)
    compared(
        lambda lib, x, w: lib.conv2d(x.transpose(2, 3), w, padding="same"), leaf(2, 6, 8, 5), w
    )
    compared(lambda lib, x, w: lib.conv2d(x[..., ::2], w, padding=1), leaf(2, 6, 8, 9), w)
    compared(lambda lib, x, w: lib.conv2d(x, w, padding="valid"), leaf(6, 8, 9), w)
    compared(lambda lib, x, w: lib.conv2d(x.expand(3, 6, 8, 9), w), leaf(1, 6, 8, 9), w)
    x = torch.ones(0, 6, 8, 9, dtype=torch.float64)
    assert F.conv2d(x, here(w)).shape == (0, 4, 6, 7)


def test_many_images_at_once():
    compared(
        lambda lib, x, w: lib.conv2d(x, w, None, 1, 1),
        leaf(70, 2, 15, 16),
        leaf(3, 2, 3, 3, seed=1),
    )


@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d"])
def test_pooling_of_strided_images(name):
    for options in ((3, 2, 1), ((2, 3), None, (1, 0)), (4, 3, 2), ((6, 5), 1, 0)):
        compared(
            lambda lib, x, o=options: getattr(lib.nn.functional, name)(
                x.transpose(1, 3)[:, 1:], *o, ceil_mode=True
            ),
            leaf(3, 9, 8, 5),
        )


def test_maxima_that_are_no_numbers():
    x = torch.tensor([[[1.0, float("nan"), 3.0, 2.0, 5.0, 4.0]]])
    values, indices = F.max_pool1d(x, 3, return_indices=True)
    assert values.isnan().tolist() == [[[True, False]]]
    assert indices.tolist() == [[[1, 4]]]


def test_resizing_keeps_infinities_where_they_are():
    x = torch.zeros(1, 1, 4, 4)
    x[0, 0, 0, 0] = float("inf")
    made = F.interpolate(x, scale_factor=2, mode="bilinear")
    theirs = pt.nn.functional.interpolate(pt.from_numpy(x.numpy()), scale_factor=2, mode="bilinear")
    assert made.isfinite().tolist() == theirs.isfinite().tolist()


def test_second_gradients_by_finite_differences():
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True) for _ in range(3))
    mask = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
    assert torch.autograd.gradgradcheck(
        lambda *a: F.scaled_dot_product_attention(*a, attn_mask=mask), (q, k, v)
    )
    x = torch.randn(1, 2, 4, 4, dtype=torch.float64, requires_grad=True)
    w = torch.randn(2, 3, 2, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(
        lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1), (x, w)
    )
    assert torch.autograd.gradgradcheck(lambda x: F.interpolate(x, size=5, mode="bicubic"), (x,))


def test_rows_that_may_attend_to_nothing_are_zero():
    q = torch.ones(1, 2, 4)
    mask = torch.tensor([[True, True], [False, False]])
    made = F.scaled_dot_product_attention(q, q, q, attn_mask=mask)
    assert made.tolist() == [[[1.0] * 4, [0.0] * 4]]


def test_a_network_in_a_pipeline():
    x, w = here(leaf(2, 3, 8, 8)), here(leaf(4, 3, 3, 3, seed=1))
    eager = F.avg_pool2d(F.max_pool2d(F.conv2d(x, w, padding=1), 2), 2)
    (eager_grad,) = torch.autograd.grad(eager.sum(), w)
    with torch.pipeline():
        made = F.avg_pool2d(F.max_pool2d(F.conv2d(x, w, padding=1), 2), 2)
        assert made.shape == (2, 4, 2, 2)
        (grad,) = torch.autograd.grad(made.sum(), w)
    assert made.tolist() == eager.tolist()
    assert torch.allclose(grad, eager_grad)


def test_shapes_are_known_without_data():
    x = torch.empty(2, 3, 32, 32, device="meta")
    w = torch.empty(8, 3, 3, 3, device="meta")
    y = F.max_pool2d(F.conv2d(x, w, stride=2, padding=1), 2)
    assert y.shape == (2, 8, 8, 8)


def test_half_precision_is_rounded_once():
    x, w = leaf(1, 64, 12, 12).half().detach(), leaf(8, 64, 3, 3, seed=1).half().detach()
    exact = pt.conv2d(x.double(), w.double()).half()
    made = F.conv2d(torch.from_numpy(x.numpy()), torch.from_numpy(w.numpy()))
    off = (pt.from_numpy(made.numpy()) != exact).double().mean().item()
    assert off < 0.01


WRONG = [
    (lambda f, x, w: f.conv2d(x, w[:, :2]), RuntimeError, "to have 2 channels, but got 3"),
    (lambda f, x, w: f.conv2d(x[0, 0], w), RuntimeError, "Expected 3D .* input to conv2d"),
    (lambda f, x, w: f.conv2d(x, w, stride=0), RuntimeError, "non-positive stride"),
    (lambda f, x, w: f.conv2d(x, w, padding=-1), RuntimeError, "negative padding"),
    (lambda f, x, w: f.conv2d(x, w, padding="same", stride=2), RuntimeError, "strided conv"),
    (lambda f, x, w: f.conv2d(x, w, dilation=9), RuntimeError, "can't be greater than actual"),
    (lambda f, x, w: f.conv2d(x, w, groups=3), RuntimeError, "expected weight|groups=3"),
    (lambda f, x, w: f.conv2d(x, w, stride=1.5), TypeError, "stride|float"),
    (lambda f, x, w: f.max_pool2d(x, 2, padding=2), RuntimeError, "at most half"),
    (lambda f, x, w: f.avg_pool2d(x, 0), RuntimeError, "greater than zero"),
    (
        lambda f, x, w: f.pad(x, (9, 0, 0, 0), mode="reflect"),
        RuntimeError,
        "less than the corresponding",
    ),
    (lambda f, x, w: f.pad(x, (1,)), RuntimeError, "divisible by 2"),
    (lambda f, x, w: f.interpolate(x), ValueError, "size or scale_factor"),
    (lambda f, x, w: f.interpolate(x, 4, mode="linear"), NotImplementedError, "needs 3D"),
    (lambda f, x, w: f.grid_sample(x, x, align_corners=False), RuntimeError, "size 2 in last"),
    (lambda f, x, w: f.pixel_shuffle(x, 2), RuntimeError, "divisible by"),
    (lambda f, x, w: f.unfold(x, 20), RuntimeError, "at least one|sliding"),
]


@pytest.mark.parametrize(("call", "kind", "text"), WRONG)
def test_wrong_arguments(call, kind, text):
    x, w = leaf(2, 3, 8, 8).detach(), leaf(4, 3, 3, 3).detach()
    with pytest.raises(kind):
        call(pt.nn.functional, x, w)
    with pytest.raises(kind, match=text):
        call(F, here(x), here(w))


def test_sizes_that_are_tensors_of_one_integer():
    x = torch.arange(16.0).view(1, 1, 4, 4)
    for one in (torch.tensor([3]), torch.tensor(3, dtype=torch.int32), torch.tensor([[3]])):
        size = [one, 2]
        expected = pt.nn.functional.interpolate(
            pt.tensor(x.tolist()), size=[pt.tensor(one.tolist()), 2]
        )
        assert F.interpolate(x, size=size).tolist() == expected.tolist()
    for bad in (torch.tensor([3, 2]), torch.tensor(3.0)):
        with pytest.raises(TypeError, match="integers"):
            F.interpolate(x, size=[bad, 2])
