"""The ``repr`` of tensors against PyTorch's."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mindtorch_core as torch
from mindtorch_core.testing.comparison import from_pytorch, outcome

pt = pytest.importorskip("torch")

DTYPES = [
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool",
    "complex64", "complex128",
]  # fmt: skip


def same(theirs):
    assert repr(from_pytorch(theirs)) == repr(theirs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape",
    [
        (),
        (1,),
        (3,),
        (2, 3),
        (2, 1, 3),
        (1, 1, 1, 2),
        (0,),
        (0, 3),
        (2, 0),
        (17,),
        (3, 30),
        (40, 2),
        (1001,),
        (1100, 2),
        (40, 40),
        (5, 7, 40),
        (2, 3, 4, 5),
    ],
    ids=str,
)
def test_shapes_and_dtypes(shape, dtype):
    d = getattr(pt, dtype)
    g = pt.Generator().manual_seed(0)
    t = pt.randn(shape, generator=g, dtype=pt.complex128 if d.is_complex else pt.float64) * 3
    same((t > 0) if dtype == "bool" else t.abs().to(d) if dtype == "uint8" else t.to(d))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize(
    "values",
    [
        [0.0], [-0.0, 1.0], [1.0, 2.0], [1.0, 2.5], [1e-5], [1e-4, 1.0], [1e-5, 1.0], [1e5, 1.5],
        [123456.0], [123456.5], [1e8], [1e9, 1.0], [99999999.0, 1.0], [1e8 + 8, 1.0], [1e-8, 1e-9],
        [math.nan], [math.inf, -math.inf], [math.nan, 1.0], [math.inf, 1.5], [math.nan, 1e10, 1.0],
        [-math.inf, 1e-7], [1000.0, 1.5], [1001.0, 1.0], [1001.5, 1.0], [0.1, 100.0], [0.1, 101.0],
        [3.14159265], [-3.5, 22.25, 0.125], [1e20], [1e20, 2e20], [6e4, 5.0], [0.0, 1e-6], [-1e-3],
    ],
    ids=str,
)  # fmt: skip
def test_values(values, dtype):
    same(pt.tensor(values, dtype=getattr(pt, dtype)))
    same(pt.tensor(values[0], dtype=getattr(pt, dtype)))
    same(pt.tensor([values, values[::-1]], dtype=getattr(pt, dtype)))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.floats(width=32), min_size=1, max_size=12))
def test_any_floats(values):
    same(pt.tensor(values))
    same(pt.tensor(values, dtype=pt.float64))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30))
def test_any_integers(values):
    same(pt.tensor(values))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.complex_numbers(max_magnitude=1e6, allow_nan=False), min_size=1, max_size=6))
def test_complex_numbers(values):
    same(pt.tensor(values, dtype=pt.complex128))
    same(pt.tensor(values, dtype=pt.complex64))


def test_special_complex_numbers():
    same(pt.tensor([complex(math.nan, 1), complex(math.inf, -1.5)]))
    same(pt.tensor([complex(0, -0.0), 1 + 2j]))
    same(pt.tensor([1e10 + 1j, 1 - 1e-10j]))


def test_layouts():
    t = pt.arange(12.0).reshape(3, 4)
    for view in (t.t(), t[::2, 1:], t[0].expand(3, 4), t[:, :0], t[1, 1], t.unsqueeze(1)):
        same(view)


def test_what_follows_the_elements():
    x = pt.tensor([1.0, 2.0], requires_grad=True)
    same(x)
    for make in (
        lambda t: t * 2,
        lambda t: t.exp(),
        lambda t: t.sum(),
        lambda t: t.view(2, 1),
        lambda t: t[0],
        lambda t: t.log_softmax(0),
        lambda t: t + t,
        lambda t: t.expand(2, 2),
        lambda t: -t,
        lambda t: t / 3,
        lambda t: t - 1,
        lambda t: t**2,
        lambda t: t.unsqueeze(0),
        lambda t: t.reshape(2, 1).mm(t.reshape(1, 2)),
        lambda t: t[0:1],
        lambda t: t.relu(),
        lambda t: t.sigmoid(),
        lambda t: t.mean(),
        lambda t: t.clone(),
        lambda t: t.index_select(0, t.detach().long() * 0),
        lambda t: t.permute(0),
        lambda t: t.reshape(2, 1),
        lambda t: t.view(2, 1).flatten(),
        lambda t: t.sum(0),
        lambda t: t.view(1, 2).mean((0, 1), keepdim=True),
        lambda t: t.prod(0),
        lambda t: t.prod(),
        lambda t: t.max(0)[0],
        lambda t: t.min(0).values,
        lambda t: t[t.detach() > 1],
        lambda t: t[[0, 1]],
        lambda t: t.double(),
        lambda t: t.log1p(),
        lambda t: t.clone().copy_(t),
        lambda t: t.clone().index_put_((t.detach().long() * 0,), t),
    ):
        assert repr(make(from_pytorch(x))) == repr(make(x))
    wide = pt.ones(20, dtype=pt.float64, requires_grad=True) * 1.5
    ours = torch.ones(20, dtype=torch.float64, requires_grad=True) * 1.5
    assert repr(ours) == repr(wide)
    same(pt.ones(14, dtype=pt.float64, requires_grad=True))
    same(pt.ones(15, dtype=pt.float64, requires_grad=True))
    same(pt.full((3, 3), 1.25, dtype=pt.float16))
    same(pt.zeros(0, requires_grad=True))
    same(pt.zeros(0, 3, dtype=pt.int64))


def test_classes_of_parameters():
    def texts(lib):
        class Weight(lib.nn.Parameter):
            pass

        made = Weight(lib.ones(2)), Weight(lib.ones(2), requires_grad=False)
        return [text for w in made for text in (repr(w), str(w))]

    assert texts(torch) == texts(pt)


def test_meta_tensors():
    for make in (
        lambda lib: lib.empty(2, 3, device="meta"),
        lambda lib: lib.empty((), device="meta"),
        lambda lib: lib.empty(2, device="meta", dtype=lib.int64),
        lambda lib: lib.empty(2, device="meta", requires_grad=True),
    ):
        assert repr(make(torch)) == repr(make(pt))


@pytest.fixture
def default_options():
    yield
    for lib in (torch, pt):
        lib.set_printoptions(profile="default")


@pytest.mark.parametrize(
    "options",
    [
        {"precision": 2}, {"precision": 8}, {"threshold": 5}, {"edgeitems": 1, "threshold": 3},
        {"linewidth": 40}, {"linewidth": 200}, {"sci_mode": True}, {"sci_mode": False},
        {"precision": 0}, {"edgeitems": 5, "threshold": 10},
    ],
    ids=str,
)  # fmt: skip
def test_options(options, default_options):
    for lib in (torch, pt):
        lib.set_printoptions(**options)
    g = pt.Generator().manual_seed(0)
    same(pt.randn(4, 12, generator=g))
    same(pt.arange(30))
    same(pt.tensor([1e-7, 1.0, 1e7]))
    same(pt.tensor([1.0, 2.0]))
    same(pt.randn(3, 2, dtype=pt.complex64, generator=g))


def test_other_texts():
    for make in (
        lambda lib: lib.Size([2, 3]),
        lambda lib: lib.Size([]),
        lambda lib: lib.float32,
        lambda lib: lib.bool,
        lambda lib: lib.device("cpu"),
        lambda lib: lib.device("cuda:1"),
        lambda lib: lib.tensor([[1.0, 5.0]]).max(1),
        lambda lib: lib.tensor([1.5, 2.5]).tolist(),
        lambda lib: f"{lib.tensor(2.5):.3f}",
        lambda lib: f"{lib.tensor(7):>5d}",
        lambda lib: f"{lib.tensor([1.5])}",
        lambda lib: str(lib.tensor([1.0, 2.0])),
    ):
        assert repr(make(torch)) == repr(make(pt))


# ---- settings -----------------------------------------------------------------------------------

NUMBERS = [
    0.0, -0.0, 1.0, 2.5, 1e-5, 1e-4, 1e5, 1e8, 1e9, math.nan, math.inf, -math.inf, -3.0, 1000.0,
    1001.0, 0.1, 100.0, 123456.5, 1e-30, 3e38, -1e-3, 0.99999, 9.99995, 99999999.0,
]  # fmt: skip
VALUES = st.sampled_from(NUMBERS) | st.floats(-50, 50) | st.integers(-50, 50).map(float)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "precision": st.sampled_from([0, 1, 2, 6, 10]),
        "threshold": st.sampled_from([0, 3, 20, math.inf]),
        "edgeitems": st.integers(0, 5),
        "linewidth": st.sampled_from([1, 10, 40, 60, 120, 200]),
        "profile": st.sampled_from(["default", "short", "full"]),
        "sci_mode": st.sampled_from([None, True, False]),
    },
)


@settings(max_examples=600, deadline=None, derandomize=True)
@given(
    SETTINGS,
    st.lists(st.integers(0, 6), max_size=4) | st.lists(st.integers(0, 40), max_size=2),
    st.sampled_from([*DTYPES, "uint16", "uint32", "uint64"]),
    st.booleans(),
    st.data(),
)
def test_any_settings(options, shape, dtype, requires_grad, data):
    count = math.prod(shape)
    values = data.draw(st.lists(VALUES, min_size=min(count, 30), max_size=min(count, 30)))
    values = (values * (count // 30 + 1))[:count]
    d = getattr(pt, dtype)
    if d.is_floating_point or d.is_complex or dtype == "bool":
        t = pt.tensor(values, dtype=pt.float64).to(d)
    else:
        t = pt.tensor([int(abs(v)) % 100 if math.isfinite(v) else 0 for v in values], dtype=d)
    if d.is_complex:
        t = t * (1 - 0.5j)
    t = t.reshape(shape)
    if requires_grad and (d.is_floating_point or d.is_complex):
        t.requires_grad_()
    for lib in (torch, pt):
        lib.set_printoptions(profile="default")
        lib.set_printoptions(**options)
    try:
        same(t)
    finally:
        for lib in (torch, pt):
            lib.set_printoptions(profile="default")


def test_settings_for_a_block(default_options):
    from mindtorch_core.frontend.printing import get_printoptions, printoptions

    x = torch.ones(3) / 3
    before = get_printoptions()
    with printoptions(precision=2, sci_mode=True):
        assert repr(x) == "tensor([3.33e-01, 3.33e-01, 3.33e-01])"
    assert get_printoptions() == before
    with pytest.raises(ValueError, match="inside"), printoptions(profile="short"):
        raise ValueError("inside")
    assert get_printoptions() == before
    torch.set_printoptions(linewidth=math.inf)
    assert "\n" not in repr(torch.rand(500))
    with pytest.raises(ValueError, match="profile must be one of default, short, full, got 'x'"):
        torch.set_printoptions(profile="x")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_another_default_dtype(dtype):
    for lib in (torch, pt):
        lib.set_default_dtype(getattr(lib, dtype))
    try:
        for d in DTYPES:
            same(pt.ones(2).to(getattr(pt, d)))
            same(pt.ones(0).to(getattr(pt, d)))
    finally:
        for lib in (torch, pt):
            lib.set_default_dtype(lib.float32)


# ---- a tensor as a number and as a sequence -----------------------------------------------------

PROTOCOLS = {
    "format 0-d": lambda lib: f"{lib.tensor(2.5)}",
    "format grad": lambda lib: f"{lib.tensor(2.5, requires_grad=True)}",
    "format spec": lambda lib: f"{lib.tensor(2.567):.2f} {lib.tensor(True)} {lib.tensor(1 + 2j):.1f}",
    "format 1-d": lambda lib: f"{lib.tensor([2.5]):.2f}",
    "format meta": lambda lib: f"{lib.empty((), device='meta'):.2f}",
    "format wrong": lambda lib: f"{lib.tensor(1.5):d}",
    "len 0-d": lambda lib: len(lib.tensor(1)),
    "iter 0-d": lambda lib: list(lib.tensor(1)),
    "iter": lambda lib: [x.tolist() for x in lib.tensor([[1, 2], [3, 4]])],
    "reversed": lambda lib: reversed(lib.tensor([[1, 2], [3, 4]])).tolist(),
    "reversed 0-d": lambda lib: reversed(lib.tensor(1)).tolist(),
    "reversed empty": lambda lib: reversed(lib.ones(0, 2)).tolist(),
    "bool empty": lambda lib: bool(lib.tensor([])),
    "bool many": lambda lib: bool(lib.tensor([1, 2])),
    "bool complex": lambda lib: bool(lib.tensor(0j)),
    "in": lambda lib: [2 in lib.tensor([1, 2]), lib.tensor(3) in lib.tensor([1, 2])],
    "in wrong": lambda lib: "a" in lib.tensor([1, 2]),
    "index": lambda lib: [10, 20, 30][lib.tensor(1)],
    "index one": lambda lib: [10, 20, 30][lib.tensor([1])],
    "index many": lambda lib: [1, 2][lib.tensor([1, 1])],
    "index float": lambda lib: [1, 2][lib.tensor(1.0)],
    "range": lambda lib: list(range(lib.tensor(3))),
    "complex": lambda lib: [complex(lib.tensor(1.5)), complex(lib.tensor([1 + 2j]))],
    "complex many": lambda lib: complex(lib.tensor([1, 2])),
    "float of complex": lambda lib: [float(lib.tensor(1 + 0j)), int(lib.tensor(2 + 0j))],
    "float of imaginary": lambda lib: float(lib.tensor(1 + 2j)),
    "int": lambda lib: [int(lib.tensor(2.7)), int(lib.tensor([-2.7]))],
    "int of inf": lambda lib: int(lib.tensor(math.inf)),
    "round": lambda lib: [math.trunc(lib.tensor(2.5)), math.floor(lib.tensor(2.5))],
    "item many": lambda lib: lib.ones(2).item(),
    "item meta": lambda lib: lib.empty(1, device="meta").item(),
    "tolist": lambda lib: [lib.zeros(2, 0, 3).tolist(), lib.zeros(0, 3).tolist()],
    "tolist meta": lambda lib: lib.empty(2, device="meta").tolist(),
    "hash": lambda lib: len({lib.ones(1), lib.ones(1)}),
    "attributes": lambda lib: setattr(x := lib.ones(1), "note", 1) or x.note,
    "dir": lambda lib: {"grad", "shape", "sum", "__array__"} <= set(dir(lib.ones(1))),
    "del grad": lambda lib: [
        (x := lib.ones(1, requires_grad=True)).sum().backward(), delattr(x, "grad"), x.grad
    ],
}  # fmt: skip


@pytest.mark.parametrize("script", PROTOCOLS.values(), ids=PROTOCOLS)
def test_what_python_asks_a_tensor(script):
    expected = outcome(script, pt)
    found = outcome(script, torch)
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected)), repr(found)
        assert str(found).startswith(str(expected).split("\n")[0][:40])
    else:
        assert repr(found) == repr(expected)


@pytest.mark.parametrize("shape", [(), (0,), (2,), (2, 3), (0, 3)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_a_tensor_without_data_tells_its_size(shape, dtype):
    mine, theirs = (
        repr(lib.empty(shape, device="meta", dtype=getattr(lib, dtype))) for lib in (torch, pt)
    )
    assert mine == theirs


OF_SEVERAL = [[1, 2], [1.0, 2.0], [True, False], [1j, 2.0]]


@pytest.mark.parametrize("values", OF_SEVERAL, ids=str)
@pytest.mark.parametrize("dtype", [None, "int64", "float32", "float64", "bool", "complex64"])
def test_a_tensor_of_several_elements_is_no_number(values, dtype):
    kinds = []
    for lib in (torch, pt):
        wanted = None if dtype is None else getattr(lib, dtype)
        with pytest.raises((TypeError, ValueError)) as caught:
            lib.tensor([lib.tensor(values)], dtype=wanted)
        kinds.append(caught.type)
    assert kinds[0] is kinds[1]
