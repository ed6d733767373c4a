"""Floats of 8 bits against PyTorch: every byte, rounding, limits, files, and what is refused."""

import io
import pickle

import pytest

import mindtorch_core as torch
from mindtorch_core.values.float8 import decoded, encoded

pt = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

NAMES = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]


def numbers(name):
    """Random float32, those between two neighbours and beside them, and what is out of range."""
    rng = np.random.default_rng(0)
    drawn = rng.standard_normal(20000) * np.exp(6 * rng.standard_normal(20000))
    known = np.array(sorted({v for v in decoded(name) if abs(v) < np.inf}))
    middles = ((known[1:] + known[:-1]) / 2).astype(np.float32)
    ends = [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        448,
        464,
        465,
        480,
        61439,
        61440,
        65536,
        248,
        249,
        1e-40,
        3e38,
        -1e30,
    ]
    parts = [drawn, known, middles, np.nextafter(middles, np.float32(np.inf)), ends, [np.nan]]
    return np.concatenate(parts).astype(np.float32)


@pytest.mark.parametrize("name", NAMES)
def test_every_byte(name):
    bytes_ = np.arange(256, dtype=np.uint8)
    ours = torch.from_numpy(bytes_).view(getattr(torch, name))
    theirs = pt.from_numpy(bytes_).view(getattr(pt, name))
    expected = theirs.float().numpy()
    np.testing.assert_array_equal(ours.to(torch.float32).numpy(), expected)
    np.testing.assert_array_equal(np.array(decoded(name), np.float32), expected)
    real = ~np.isnan(expected)
    signs = np.signbit(ours.to(torch.float32).numpy())
    np.testing.assert_array_equal(signs[real], np.signbit(expected)[real])
    assert str(torch.finfo(ours.dtype)) == str(pt.finfo(theirs.dtype))
    assert (ours.element_size(), ours.is_floating_point()) == (1, True)
    assert ours.dtype.is_signed == theirs.dtype.is_signed


@pytest.mark.parametrize("name", NAMES)
def test_rounding(name):
    given = numbers(name)
    expected = pt.from_numpy(given).to(getattr(pt, name)).view(pt.uint8).numpy()
    found = torch.from_numpy(given).to(getattr(torch, name)).view(torch.uint8).numpy()
    np.testing.assert_array_equal(found, expected)
    alone = [encoded(float(v), name) for v in given[::7]]
    np.testing.assert_array_equal(alone, expected[::7])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "other", ["float64", "float16", "bfloat16", "int32", "bool", "uint8", "float8_e5m2"]
)
def test_conversions(name, other):
    found = []
    for lib in (torch, pt):
        t = lib.tensor([1.0, 3.0, 0.0, 7.0])
        there = t.to(getattr(lib, other)).to(getattr(lib, name))
        back = t.to(getattr(lib, name)).to(getattr(lib, other))
        into = lib.zeros(4, dtype=getattr(lib, name)).copy_(t.to(getattr(lib, other)))
        found.append([x.float().tolist() for x in (there, back, into)])
    assert found[0] == found[1]


PROGRAMS = [
    "a + a", "a + 1", "-a", "a.sum()", "a.max()", "a @ a", "a > 1", "a.relu()", "a.mean()", "a.mul_(2)", "a.cumsum(0)",
    "a.sort()", "a.argsort()", "a.topk(1)", "a + lib.ones(4)", "lib.rand(2, dtype=d)", "lib.randn(2, dtype=d)",
    "lib.arange(3, dtype=d)", "lib.promote_types(d, lib.float32)", "lib.set_default_dtype(d)", "a.numpy()",
    "lib.cat([a, a])", "lib.stack([a, a])", "a[0]", "a[1:]", "a[lib.tensor([0, 1])]", "a.clone()", "a.view(2, 2)",
    "a.view(2, 2).t().contiguous()", "a.repeat(2)", "a.expand(2, 4)", "a.roll(1)", "a.unbind()", "a.split(2)",
    "lib.zeros(2, dtype=d)", "lib.ones(2, dtype=d)", "lib.full((2,), 1.5, dtype=d)", "lib.zeros_like(a)",
    "a.new_zeros(2)", "lib.tensor([1., 2.3], dtype=d)", "a.fill_(2.7)", "a.zero_()", "a.copy_(lib.ones(4))",
    "a.index_select(0, lib.tensor([0]))", "lib.where(lib.ones(4).bool(), a, a)", "a.to(lib.float8_e5m2)", "a.half()",
    "a[0].item()", "a.tolist()", "a.bool()", "a.long()", "float(a[0])", "bool(a[0])", "a.any()", "a.type()",
    "a == a", "a != 2", "a.eq(lib.ones(4).to(d))", "a.abs()", "(-a.float()).to(d).abs_()", "a.isnan()",
    "a == a.float()", "a.view(2, 2) @ a.view(2, 2).t()", "lib.mm(a[:3].view(1, 3), a[1:].view(3, 1))",
    "a.view(1, 2, 2) @ a.view(2, 2)", "a.view(2, 2) @ a[:2]", "lib.nn.functional.linear(a.view(2, 2), a.view(2, 2), a[:2])",
    "lib.addmm(a[:2], a.view(2, 2), a.view(2, 2), beta=2)", "lib.tensor([float('nan'), 500.]).to(d).isnan()",
    "lib.ones(400, 300).to(d).t().eq(1).all()", "lib.ones(400, 300).to(d).t().abs().stride()",
    "lib.result_type(a, 1)", "lib.can_cast(d, lib.float32)", "a.__setitem__(0, 7.) or a", "a.view(lib.uint8)",
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_can_be_done(program):
    def outcome(lib):
        d = lib.float8_e4m3fn
        a = lib.tensor([1.0, 2.0, 3.0, 0.3]).to(d)
        try:
            return repr(eval(program, {"lib": lib, "d": d, "a": a}))
        except (NotImplementedError, RuntimeError, TypeError) as error:
            return type(error).__name__

    assert outcome(torch) == outcome(pt)


SCALED = [
    "m(a, b, one, one)", "m(a, b, one * 2, one * 0.5, out_dtype=lib.float32)", "m(a, b, rows, columns)",
    "m(a, b, rows, columns, out_dtype=lib.bfloat16)", "m(a, b, one, one, bias=lib.ones(3), out_dtype=lib.float32)",
    "m(a, b.to(lib.float8_e5m2), one, one, use_fast_accum=True)", "m(a, b, one[None], one, scale_result=one)",
    "m(a, b[:3], one, one)", "m(a[None], b, one, one)", "m(a.float(), b.float(), one, one)",
    "m(a, b, one.double(), one)", "m(a, b, lib.ones(2), one)", "m(a, b, rows, one)", "m(a, b, one, one, lib.ones(2))",
]  # fmt: skip
# What PyTorch says of these depends on the processor: where it multiplies floats of 8 bits, its library checks less.
BY_PROCESSOR = {
    "m(a, b[:3], one, one)": "mat_a and mat_b shapes cannot be multiplied (5x4 and 3x3)",
    "m(a.float(), b.float(), one, one)": "Invalid scaling configuration",
    "m(a, b, one.double(), one)": "Invalid scaling configuration",
}


@pytest.mark.parametrize("program", SCALED)
def test_scaled_products(program):
    def outcome(lib):
        numbers = lib.arange(-10, 10).view(5, 4) * 0.3
        scope = {"lib": lib, "m": lib._scaled_mm, "one": lib.tensor(1.0)}
        scope |= {"rows": lib.arange(5.0)[:, None], "columns": lib.arange(3.0)[None] - 1}
        scope |= {"a": numbers.to(lib.float8_e4m3fn), "b": numbers[:3].t().to(lib.float8_e4m3fn)}
        try:
            return repr(eval(program, scope))
        except (RuntimeError, ValueError) as error:
            return type(error).__name__, str(error)[:60]

    ours, theirs = outcome(torch), outcome(pt)
    if program in BY_PROCESSOR and ours != theirs:
        assert BY_PROCESSOR[program] in str(ours)
    else:
        assert ours == theirs


@pytest.mark.parametrize("name", NAMES)
def test_files(name):
    for lib, other in ((torch, torch), (pt, torch)):
        file = io.BytesIO()
        lib.save(lib.tensor([1.0, 2.0]).to(getattr(lib, name)), file)
        file.seek(0)
        loaded = other.load(file)
        assert loaded.dtype is getattr(torch, name)
        assert loaded.tolist() == [1, 2]
    t = pickle.loads(pickle.dumps(torch.tensor([1.0]).to(getattr(torch, name))))
    assert t.dtype is getattr(torch, name)
    assert repr(t) == repr(pt.tensor([1.0]).to(getattr(pt, name)))


def test_names_of_what_there_is_not():
    for name in ("qint8", "quint8", "qint32", "quint4x2", "quint2x4"):
        assert repr(getattr(torch, name)) == repr(getattr(pt, name))
        assert pickle.loads(pickle.dumps(getattr(torch, name))) is getattr(torch, name)
        assert isinstance(getattr(torch, name), torch.dtype)
    for name in (
        "sparse_coo",
        "sparse_csr",
        "sparse_csc",
        "sparse_bsr",
        "sparse_bsc",
        "jagged",
        "_mkldnn",
    ):
        assert repr(getattr(torch, name)) == repr(getattr(pt, name))
        assert getattr(torch, name) != torch.strided
    for name in (
        "per_tensor_affine",
        "per_channel_affine",
        "per_tensor_symmetric",
        "per_channel_symmetric",
    ):
        assert repr(getattr(torch, name)) == repr(getattr(pt, name))
        assert isinstance(getattr(torch, name), torch.qscheme)
    assert not isinstance(1, torch.SymInt | torch.SymFloat | torch.SymBool)
    with pytest.raises(RuntimeError, match="qint8"):
        torch.zeros(2, dtype=torch.qint8)
    with pytest.raises(NotImplementedError, match="SymInt"):
        torch.SymInt(None)
