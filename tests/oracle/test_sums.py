"""Sums, means, norms and variances are as exact as PyTorch's, in any layout, and half precision is rounded once."""

import pytest

np = pytest.importorskip("numpy")
oracle = pytest.importorskip("torch")

import mindtorch_core as torch  # noqa: E402

CASES = {
    "all": ((1_500_000,), None),
    "pairs": ((1_000_000, 2), 0),
    "seven": ((200_000, 7), 0),
    "square, first": ((1_200, 1_200), 0),
    "square, last": ((1_200, 1_200), 1),
    "few rows": ((90, 20_000), 0),
    "images": ((40, 6, 70, 70), (0, 2, 3)),
    "middle": ((30, 900, 50), 1),
    "ends": ((120, 90, 120), (0, 2)),
}
LAYOUTS = {
    "dense": lambda x: x,
    "turned": lambda x: x.transpose(0, -1),
    "sliced": lambda x: x[..., ::2],
}


def worst(made, wanted):
    return float(np.max(np.abs(made.double().numpy() - wanted) / (np.abs(wanted) + 1e-30)))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_errors_are_not_larger_than_those_of_pytorch(name, layout, dtype):
    shape, dim = CASES[name]
    base = np.random.default_rng(0).random(shape, dtype=np.float32) + np.float32(0.5)
    made = []
    for lib in (torch, oracle):
        x = LAYOUTS[layout](lib.from_numpy(base.copy()).to(getattr(lib, dtype)))
        made.append(
            [
                x.sum(dim, dtype=lib.float32),
                x.float().mean(dim),
                lib.linalg.vector_norm(x.float(), dim=dim),
                x.float().var(dim),
            ]
        )
        wide = x.double().numpy()
    wanted = [
        wide.sum(dim), wide.mean(dim), np.sqrt((wide * wide).sum(dim)), wide.var(dim, ddof=1),
    ]  # fmt: skip
    # PyTorch computes variances in float64.
    for ours, theirs, exact, least in zip(*made, wanted, [5e-7] * 3 + [2e-6], strict=True):
        assert worst(ours, exact) <= max(2 * worst(theirs, exact), least)


HALVES = {
    "addmm": lambda t, a: t.addmm(a(5), a(40, 30), a(30, 5)),
    "addmm scaled": lambda t, a: t.addmm(a(40, 5), a(40, 30), a(30, 5), beta=0.3, alpha=1.7),
    "addmm of a part": lambda t, a: t.addmm(a(5), a(40, 30), a(30, 5), beta=0, alpha=1.7),
    "linear": lambda t, a: t.nn.functional.linear(a(40, 30), a(5, 30), a(5)),
    "linear of batches": lambda t, a: t.nn.functional.linear(a(3, 8, 30), a(5, 30), a(5)),
    "linear of a row": lambda t, a: t.nn.functional.linear(a(30), a(5, 30), a(5)),
    "baddbmm": lambda t, a: t.baddbmm(a(3, 8, 5), a(3, 8, 30), a(3, 30, 5), beta=0.3, alpha=1.7),
    "addmv": lambda t, a: t.addmv(a(8), a(8, 30), a(30)),
    "conv1d": lambda t, a: t.nn.functional.conv1d(a(3, 4, 50), a(6, 4, 3), a(6)),
    "conv2d": lambda t, a: t.nn.functional.conv2d(a(2, 4, 9, 9), a(6, 4, 3, 3), a(6), padding=1),
    "add": lambda t, a: t.add(a(40, 64), a(40, 64), alpha=0.3),
    "add a row": lambda t, a: t.add(a(40, 64), a(64), alpha=1 / 3),
    "add a number": lambda t, a: t.add(a(2048), 0.7, alpha=0.3),
    "sub": lambda t, a: t.sub(a(2048), a(2048), alpha=0.3),
    "sub in place": lambda t, a: a(2048).sub_(a(2048), alpha=0.3),
    "sigmoid": lambda t, a: a(2048).sigmoid(),
    "sigmoid in place": lambda t, a: a(2048).sigmoid_(),
    "rsqrt": lambda t, a: a(2048).abs().rsqrt(),
    "index_add": lambda t, a: t.index_add(a(4, 5), 0, t.zeros(30, dtype=t.int64), a(30, 5)),
    "mean": lambda t, a: (a(30, 4) * 3000).mean(0),
    "sum": lambda t, a: a(300, 40).sum(0),
}  # fmt: skip


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_computed_in_float32_and_rounded_once(name, dtype):
    found = []
    for lib in (torch, oracle):
        rng = np.random.default_rng(1)

        def drawn(*shape, lib=lib, rng=rng):
            a = np.asarray(rng.normal(size=shape), np.float32)
            return lib.from_numpy(a).to(getattr(lib, dtype))

        found.append(HALVES[name](lib, drawn).double().numpy())
    ours, theirs = found
    apart = np.abs(ours - theirs) > 0
    assert apart.mean() <= 0.02  # where sums in another order fall on the other side of a half
    spacing = 2.0**-7 if dtype == "bfloat16" else 2.0**-10
    assert (np.abs(ours - theirs) <= 1.01 * spacing * np.maximum(np.abs(theirs), 0.01)).all()
