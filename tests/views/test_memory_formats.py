"""Memory formats: what they print, which layouts have them, who keeps and who changes them."""

import copy
import itertools
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mindtorch_core as torch

pt = pytest.importorskip("torch")

FORMATS = ("contiguous_format", "channels_last", "channels_last_3d")
SIZES = st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=5)
EXAMPLES = settings(max_examples=400, deadline=None, derandomize=True)


@pytest.mark.parametrize("name", [*FORMATS, "preserve_format"])
def test_formats_are_singletons_that_print_as_in_pytorch(name):
    ours = getattr(torch, name)
    assert isinstance(ours, torch.memory_format)
    assert repr(ours) == str(ours) == repr(getattr(pt, name)) == f"torch.{name}"
    assert pickle.loads(pickle.dumps(ours)) is copy.deepcopy(ours) is ours


@st.composite
def layouts(draw):
    """Sizes and strides: dense in some order, with gaps, with repeats."""
    shape = draw(SIZES)
    if draw(st.booleans()):
        order = draw(st.permutations(range(len(shape))))
        strides, step = [0] * len(shape), draw(st.sampled_from([1, 1, 2]))
        for d in order:
            strides[d] = step
            step *= max(shape[d], 1)
    else:
        strides = [draw(st.sampled_from([0, 1, 1, 2, 3, 6])) for _ in shape]
    return tuple(shape), tuple(strides)


@EXAMPLES
@given(layouts())
def test_which_layouts_have_a_format(layout):
    ours, theirs = (lib.empty(900).as_strided(*layout) for lib in (torch, pt))
    for name in FORMATS:
        found = ours.is_contiguous(memory_format=getattr(torch, name))
        assert found == theirs.is_contiguous(memory_format=getattr(pt, name)), name


KEEP = {
    "clone": lambda t, lib: t.clone(),
    "empty_like": lambda t, lib: lib.empty_like(t),
    "ones_like": lambda t, lib: lib.ones_like(t),
    "rand_like": lambda t, lib: lib.rand_like(t),
    "to_dtype": lambda t, lib: t.to(lib.float64),
    "neg": lambda t, lib: t.neg(),
    "add": lambda t, lib: t + t,
    "exp": lambda t, lib: t.exp(),
    "where": lambda t, lib: lib.where(t > 0, t, t),
}


@EXAMPLES
@given(layouts(), st.sampled_from(sorted(KEEP)))
def test_results_lie_as_their_operands_do(layout, name):
    ours, theirs = (lib.ones(900).as_strided(*layout) for lib in (torch, pt))
    assert steps(KEEP[name](ours, torch)) == steps(KEEP[name](theirs, pt))


def steps(t):
    """Strides, but those that mean nothing: of sizes 1, and of empty tensors."""
    return [s for n, s in zip(t.shape, t.stride(), strict=True) if n != 1 and t.numel()]


@EXAMPLES
@given(layouts(), st.data())
def test_operands_of_different_layouts(layout, data):
    shape, strides = layout
    other = tuple(n if data.draw(st.booleans()) else 1 for n in shape)
    order = data.draw(st.permutations(range(len(shape))))
    results = []
    for lib in (torch, pt):
        t = lib.ones(900).as_strided(shape, strides)
        u = lib.ones([other[d] for d in order]).permute([order.index(i) for i in range(len(shape))])
        made = [t + u, u * t, lib.where(t > u, t, u)]
        results.append([steps(m) for m in made])
    assert results[0] == results[1]


CALLS = """
t.empty(2, 3, 4, 5, memory_format=t.channels_last)
t.empty(2, 3, 4, 5, 6, memory_format=t.channels_last_3d)
t.empty(2, 3, 4, memory_format=t.channels_last)
t.empty(2, 3, 4, 5, memory_format=t.channels_last_3d)
t.empty(2, 1, 4, 5, memory_format=t.channels_last)
t.empty(2, memory_format=t.preserve_format)
t.empty(2, memory_format=3)
x.contiguous(memory_format=t.channels_last)
x.contiguous(memory_format=t.preserve_format)
c.contiguous(memory_format=t.preserve_format)
c.contiguous()
x[0].contiguous(memory_format=t.channels_last)
x.clone(memory_format=t.channels_last)
c.clone()
c.clone(memory_format=t.contiguous_format)
c.clone(memory_format=t.preserve_format)
x.to(memory_format=t.channels_last)
x.to(t.float64, memory_format=t.channels_last)
x.to("cpu", t.float64, False, True, memory_format=t.channels_last)
x[0].to(memory_format=t.channels_last)
x.double(memory_format=t.channels_last)
c.to(t.float64)
c.to(t.float64, memory_format=t.contiguous_format)
c.to(t.float64, memory_format=t.preserve_format)
t.empty_like(c)
t.empty_like(c, memory_format=t.contiguous_format)
t.zeros_like(x, memory_format=t.channels_last)
t.ones_like(x, memory_format=t.channels_last)
t.full_like(x, 2, memory_format=t.channels_last)
t.randn_like(x, memory_format=t.channels_last)
c + 1
c + x
x + c
c + t.ones(5)
c * t.ones(3, 1, 1)
c.relu().exp()
c > 0
c.clone().add_(1)
c.permute(0, 2, 3, 1).contiguous()
t.ones(2, 3).resize_(2, 3, 4, 6, memory_format=t.channels_last)
t.ones(2).resize_as_(c, memory_format=t.channels_last)
t.ones(2).resize_as_(c, memory_format=t.preserve_format)
t.empty_permuted((2, 3, 4), (2, 0, 1))
t.empty_permuted((2, 3, 4), (2, 0, 0))
t.empty_permuted((2, 3, 4), (2, 0))
t.empty_permuted((2, 3, 4), (2, 0, -1))
t.empty_strided((2, 3), (1, 2), dtype=t.int32)
t.empty_strided((2, 3), (1, -2))
t.empty_strided((2, 3), (1,))
c.new_empty_strided((2, 3), (1, 2))
""".strip().splitlines()


@pytest.mark.parametrize("call", CALLS)
def test_calls(call):
    seen = []
    for lib in (torch, pt):
        x = lib.ones(2, 3, 4, 5)
        try:
            made = eval(call, {"t": lib, "x": x, "c": x.to(memory_format=lib.channels_last)})
            seen.append((tuple(made.shape), made.stride(), str(made.dtype)))
        except Exception as error:  # noqa: BLE001 (whatever PyTorch raises)
            seen.append(type(error).__name__)
    assert seen[0] == seen[1]


def test_deferred_results_know_their_layout_and_get_it():
    x = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    with torch.pipeline():
        made = [x + 1, x.clone(), torch.zeros_like(x), x.to(torch.float64), x.relu() * 2,
                x.clone(memory_format=torch.contiguous_format)]  # fmt: skip
        recorded = [t.stride() for t in made]
    assert recorded == [(60, 1, 15, 3)] * 5 + [(60, 20, 5, 1)]
    assert [t.stride() for t in made] == recorded
    assert made[0].tolist() == (x + 1).tolist()


def test_meta_tensors_have_formats():
    x = torch.empty(2, 3, 4, 5, device="meta", memory_format=torch.channels_last)
    assert x.stride() == (x + 1).stride() == torch.empty_like(x).stride() == (60, 1, 15, 3)
    assert x.contiguous().stride() == (60, 20, 5, 1)
    assert x.is_contiguous(memory_format=torch.channels_last)


def test_gradients_pass_changes_of_format():
    x = torch.randn(2, 3, 2, 2, requires_grad=True)
    weights = torch.arange(24.0).reshape(2, 3, 2, 2)
    made = x.to(memory_format=torch.channels_last).contiguous().clone() * weights
    made.sum().backward()
    assert x.grad.tolist() == weights.tolist()


@pytest.mark.parametrize(
    "make",
    [
        "t.empty(2, 3, 5, 7)",
        "t.empty(2, 3, 5, 7).transpose(1, 2)",
        "t.empty(2, 3, 5, 7, memory_format=t.channels_last)",
        "t.empty(2, 1, 6, 6, memory_format=t.channels_last)",
        "t.empty(1, 2, 3, 4)",
        "t.empty(())",
        "t.empty(3, 1).expand(3, 4)",
        "t.empty(2, 3, 4).permute(2, 0, 1)",
        "t.empty(5).as_strided((2, 2), (1, 1))",
    ],
)
@pytest.mark.parametrize(
    "check",
    ["False", "True", "[]", "[t.contiguous_format, t.channels_last]", "[t.channels_last]", "1", "[1]"],
)  # fmt: skip
def test_orders_of_dimensions(make, check):
    found = []
    for lib in (torch, pt):
        x, how = (eval(text, {"t": lib}) for text in (make, check))
        try:
            found.append(x.dim_order(ambiguity_check=how))
        except (TypeError, RuntimeError) as error:
            found.append((type(error), str(error)))
    assert found[0] == found[1]


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 4, 5), (1, 3, 1, 2), (3, 1, 1, 4)])
def test_where_stacked_tensors_lie(shape):
    orders = list(itertools.permutations(range(len(shape))))
    for order, at in itertools.product(orders, range(len(shape) + 1)):
        back = [order.index(i) for i in range(len(shape))]
        found = []
        for lib, on in ((torch, "cpu"), (torch, "meta"), (pt, "cpu")):
            x = lib.ones([shape[i] for i in order], device=on).permute(back)
            made = lib.stack([x, x], at)
            assert not made._is_view()
            found.append(made.stride())
        assert found[0] == found[1] == found[2], (order, at)
