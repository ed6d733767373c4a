"""The ops of torchvision's library, against plain loops and ordinary convolutions."""

import importlib
import itertools
import math
from importlib.metadata import entry_points

import pytest

import mindtorch_core as torch
from mindtorch_core.testing import assert_close

ops = torch.ops.torchvision


@pytest.fixture(autouse=True, scope="module")
def _library():
    """Defined while these tests run: others count the ops that there are."""
    vision = importlib.import_module("mindtorch_vision")
    yield
    vision.LIBRARY._destroy()


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def some_rois(n=6):
    corner = torch.rand(n, 2) * 10 - 2
    return torch.cat(
        [torch.randint(0, 2, (n, 1)).float(), corner, corner + torch.rand(n, 2) * 12], 1
    )


@pytest.mark.skipif(
    not entry_points(group="mindtorch.extensions", name="torchvision._C_stable"),
    reason="the package is on the path, and not installed",
)
def test_the_library_is_found_by_its_file():
    torch.ops.load_library("/somewhere/torchvision/_C_stable.so")
    with pytest.raises(OSError, match=r"cannot load .*elsewhere/_C.so.*mindtorch.extensions"):
        torch.ops.load_library("/elsewhere/_C.so")


def overlap(a, b):
    sides = [max(0.0, min(a[i + 2], b[i + 2]) - max(a[i], b[i])) for i in (0, 1)]
    areas = [(c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)]
    shared = sides[0] * sides[1]
    return shared / (sum(areas) - shared)


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.7, 1.0])
def test_nms(threshold):
    low = torch.rand(40, 2) * 20
    boxes, scores = torch.cat([low, low + 1 + torch.rand(40, 2) * 10], 1), torch.rand(40)
    kept = []
    for i in scores.argsort(descending=True).tolist():
        if all(overlap(boxes[i].tolist(), boxes[j].tolist()) <= threshold for j in kept):
            kept.append(i)
    assert ops.nms(boxes, scores, threshold).tolist() == kept


def test_nms_of_nothing_and_of_nonsense():
    found = ops.nms(torch.zeros(0, 4), torch.zeros(0), 0.5)
    assert found.shape == (0,)
    assert found.dtype is torch.int64
    with pytest.raises(RuntimeError, match="boxes should have 4 elements in dimension 1, got 3"):
        ops.nms(torch.zeros(2, 3), torch.zeros(2), 0.5)
    with pytest.raises(RuntimeError, match="same number of elements in dimension 0, got 2 and 3"):
        ops.nms(torch.zeros(2, 4), torch.zeros(3), 0.5)


def at(plane, y, x):
    """A value between pixels, as torchvision defines it."""
    h, w = len(plane), len(plane[0])
    if y < -1 or y > h or x < -1 or x > w:
        return 0.0
    y, x = min(max(y, 0), h - 1), min(max(x, 0), w - 1)
    y0, x0 = int(y), int(x)
    y1, x1 = min(y0 + 1, h - 1), min(x0 + 1, w - 1)
    fy, fx = y - y0, x - x0
    top = plane[y0][x0] * (1 - fx) + plane[y0][x1] * fx
    return top * (1 - fy) + (plane[y1][x0] * (1 - fx) + plane[y1][x1] * fx) * fy


@pytest.mark.parametrize("ratio", [-1, 2])
@pytest.mark.parametrize("aligned", [True, False])
def test_roi_align(aligned, ratio):
    x, rois, scale, (ph, pw) = torch.randn(2, 2, 7, 9), some_rois(), 0.8, (3, 2)
    found = ops.roi_align(x, rois, scale, ph, pw, ratio, aligned)
    planes = x.tolist()
    for k, c, i, j in itertools.product(range(6), range(2), range(ph), range(pw)):
        n, *box = rois[k].tolist()
        x1, y1, x2, y2 = (v * scale - 0.5 * aligned for v in box)
        h, w = (v if aligned else max(v, 1.0) for v in (y2 - y1, x2 - x1))
        gh = ratio if ratio > 0 else math.ceil(h / ph)
        gw = ratio if ratio > 0 else math.ceil(w / pw)
        total = sum(
            at(
                planes[int(n)][c],
                y1 + (i + (a + 0.5) / gh) * h / ph,
                x1 + (j + (b + 0.5) / gw) * w / pw,
            )
            for a, b in itertools.product(range(gh), range(gw))
        )
        assert found[k, c, i, j].item() == pytest.approx(total / max(gh * gw, 1), abs=1e-4)


def gradient_agrees(forward, backward, x):
    """A linear op's gradient is its transpose: <f(x), g> = <x, b(g)>."""
    out = forward(x)
    g = torch.randn_like(out)
    assert_close((out * g).sum(), (x * backward(g)).sum(), rtol=1e-4, atol=1e-4)


def test_gradients_of_what_is_linear():
    x, rois = torch.randn(2, 8, 7, 9), some_rois()
    sizes = (2, 8, 7, 9)
    gradient_agrees(
        lambda x: ops.roi_align(x, rois, 0.8, 3, 2, -1, True),
        lambda g: ops._roi_align_backward(g, rois, 0.8, 3, 2, *sizes, -1, True), x,
    )  # fmt: skip
    mapping = ops.ps_roi_align(x, rois, 0.8, 2, 2, 2)[1]
    gradient_agrees(
        lambda x: ops.ps_roi_align(x, rois, 0.8, 2, 2, 2)[0],
        lambda g: ops._ps_roi_align_backward(g, rois, mapping, 0.8, 2, 2, 2, *sizes), x,
    )  # fmt: skip
    gradient_agrees(
        lambda x: ops.ps_roi_pool(x, rois, 0.8, 2, 2)[0],
        lambda g: ops._ps_roi_pool_backward(g, rois, mapping, 0.8, 2, 2, *sizes), x,
    )  # fmt: skip
    where = ops.roi_pool(x, rois, 0.8, 3, 2)[1]
    gradient_agrees(
        lambda x: ops.roi_pool(x, rois, 0.8, 3, 2)[0],
        lambda g: ops._roi_pool_backward(g, rois, where, 0.8, 3, 2, *sizes), x,
    )  # fmt: skip


def test_each_bin_has_channels_of_its_own():
    x, rois = torch.randn(2, 8, 7, 9), some_rois()
    own, mapping = ops.ps_roi_align(x, rois, 0.8, 2, 2, 2)
    whole = ops.roi_align(x, rois, 0.8, 2, 2, 2, True)
    for c, i, j in itertools.product(range(2), range(2), range(2)):
        channel = (c * 2 + i) * 2 + j
        assert (mapping[:, c, i, j] == channel).all()
        assert_close(own[:, c, i, j], whole[:, channel, i, j])


def test_roi_pool():
    x = torch.arange(36.0).reshape(1, 1, 6, 6)
    rois = torch.tensor([[0.0, 0, 0, 3, 3], [0.0, 10, 10, 12, 12]])
    out, where = ops.roi_pool(x, rois, 1.0, 2, 2)
    assert out[0, 0].tolist() == [[7.0, 9.0], [19.0, 21.0]]
    assert where[0, 0].tolist() == [[7, 9], [19, 21]]
    assert out[1].abs().sum() == 0
    assert (where[1] == -1).all()


@pytest.mark.parametrize(("groups", "stride", "dilation"), [(1, 1, 1), (2, 2, 1), (1, 1, 2)])
def test_deform_conv2d_without_offsets_is_a_convolution(groups, stride, dilation):
    x, w, b = torch.randn(2, 4, 8, 9), torch.randn(6, 4 // groups, 3, 3), torch.randn(6)
    plain = torch.nn.functional.conv2d(x, w, b, stride, 1, dilation, groups)
    oh, ow = plain.shape[2:]
    none, ones = torch.zeros(2, 2 * 18, oh, ow), torch.ones(2, 18, oh, ow)
    sizes = (stride, stride, 1, 1, dilation, dilation, groups, 2, True)
    assert_close(ops.deform_conv2d(x, w, none, ones, b, *sizes), plain, rtol=1e-4, atol=1e-4)
    moved = none.clone()
    moved[:, 0::2] = 1.0  # all look one row further down
    below = torch.nn.functional.pad(x, (0, 0, 0, 1))[:, :, 1:]
    if stride == 1:
        shifted = torch.nn.functional.conv2d(below, w, b, stride, 1, dilation, groups)
        inner = (slice(None), slice(None), slice(dilation, -dilation), slice(None))
        found = ops.deform_conv2d(x, w, moved, ones, b, *sizes)
        assert_close(found[inner], shifted[inner], rtol=1e-4, atol=1e-4)


def test_gradients_of_deform_conv2d():
    tensors = [
        torch.randn(s, dtype=torch.float64)
        for s in ((1, 2, 4, 4), (2, 2, 2, 2), (1, 8, 3, 3), (1, 4, 3, 3), (2,))
    ]
    sizes = (1, 1, 0, 0, 1, 1, 1, 1, True)
    grad = torch.randn(1, 2, 3, 3, dtype=torch.float64)
    found = ops._deform_conv2d_backward(grad, *tensors, *sizes)
    for i, (t, g) in enumerate(zip(tensors, found, strict=True)):
        step = torch.randn_like(t)
        sides = []
        for sign in (1, -1):
            moved = list(tensors)
            moved[i] = t + sign * 1e-6 * step
            sides.append((ops.deform_conv2d(*moved, *sizes) * grad).sum())
        assert_close((sides[0] - sides[1]) / 2e-6, (g * step).sum(), rtol=1e-5, atol=1e-6)
