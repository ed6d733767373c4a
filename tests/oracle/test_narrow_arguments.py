"""Arguments at the edge of what a function takes: taken, with PyTorch's result, or refused with its type of error."""

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of PyTorch alone, on its plans
NO_BOOLS = [1, 0, None, "yes", 1.0, [], np.int64(1), "a tensor"]
MAKERS = {
    "Parameter": lambda lib, flag: lib.nn.Parameter(lib.ones(2), flag),
    "empty Parameter": lambda lib, flag: lib.nn.Parameter(requires_grad=flag),
    "UninitializedParameter": lambda lib, flag: lib.nn.UninitializedParameter(flag).requires_grad,
    "tensor": lambda lib, flag: lib.tensor([1.0], requires_grad=flag),
    "new_tensor": lambda lib, flag: lib.ones(1).new_tensor([1.0], requires_grad=flag),
    "asarray": lambda lib, flag: lib.asarray([1.0], requires_grad=flag),
    "ones": lambda lib, flag: lib.ones(2, requires_grad=flag),
    "randn": lambda lib, flag: lib.randn(0, requires_grad=flag),
    "zeros_like": lambda lib, flag: lib.zeros_like(lib.ones(2), requires_grad=flag),
    "new_zeros": lambda lib, flag: lib.ones(2).new_zeros(2, requires_grad=flag),
    "full": lambda lib, flag: lib.full((2,), 1.0, requires_grad=flag),
    "sparse": lambda lib, flag: lib.sparse_coo_tensor(
        lib.zeros(1, 1, dtype=lib.int64), lib.ones(1), (2,), requires_grad=flag
    ).to_dense(),
}


def outcome(lib, call, *args):
    """Elements, shapes and dtypes, or the type of an error."""
    try:
        made = call(lib, *args)
    except Exception as error:  # noqa: BLE001  (what is compared)
        return type(error).__name__
    return [
        (m.tolist(), tuple(m.shape), str(m.dtype).rpartition(".")[2], m.requires_grad)
        if isinstance(m, lib.Tensor)
        else m
        for m in (made if isinstance(made, tuple | list) else [made])
    ]


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("flag", [True, False, *NO_BOOLS], ids=repr)
def test_requires_grad_is_a_bool(maker, flag):
    def call(lib):
        given = lib.tensor(True) if flag == "a tensor" else flag
        made = MAKERS[maker](lib, given)
        return made if isinstance(made, bool) else made.requires_grad

    assert outcome(torch, call) == outcome(pt, call)


def test_requires_grad_may_be_numpys():
    for flag in (np.True_, np.False_):
        assert torch.nn.Parameter(torch.ones(1), flag).requires_grad is bool(flag)
        assert torch.ones(1, requires_grad=flag).requires_grad is bool(flag)


def pools(name, n):
    """Calls of an adaptive pooling function with sizes of several lengths."""
    for size in (2, (2,) * n, (2,) * (n + 1), (2,) * (n - 1), [2], (None,) * n):
        yield lambda lib, size=size: getattr(lib.nn.functional, f"{name}{n}d")(
            lib.arange(4.0**n).view(1, *(4,) * n), size
        )


CALLS = [
    *[
        call
        for name in ("adaptive_max_pool", "adaptive_avg_pool")
        for n in (2, 3)
        for call in pools(name, n)
    ],
    *[
        lambda lib, size=size, kernel=kernel: lib.nn.functional.fractional_max_pool2d(
            lib.ones(1, 4, 4), kernel, output_size=size
        )
        for size, kernel in ((2, 2), ((2,), 2), (2, (2,)), ((2, 2), (2, 2)), ((2, 2, 2), 2))
    ],
    *[
        lambda lib, dim=dim, keep=keep: lib.frobenius_norm(lib.ones(2, 3, 4), dim, keep)
        for dim in ((0, 1, 2), (0, 2), (1,), 1, ())
        for keep in (False, True)
    ],
    *[
        lambda lib, p=p, dim=dim: lib.norm(lib.ones(2, 3, 4), p, dim)
        for p in ("fro", None, 2)
        for dim in ((0, 1, 2), [0, 2], 1, (), None)
    ],
    *[
        lambda lib, shape=shape, keep=keep: lib.nuclear_norm(lib.ones(shape), keep)
        for shape in ((2, 2), (3, 2, 2), (2, 3, 2, 2), (2,))
        for keep in (False, True)
    ],
    *[
        lambda lib, a=a, b=b: lib.linalg.cross(lib.ones(3, dtype=getattr(lib, a)), 2 * lib.ones(
            2, 3, dtype=getattr(lib, b))[0])
        for a in ("float32", "int64", "complex64")
        for b in ("float32", "float64", "int64")
    ],
    *[
        lambda lib, d=d: lib.ormqr(*[lib.zeros(s, dtype=getattr(lib, d)) for s in ((2, 2), 2, (2, 2))])
        for d in ("float32", "complex128", "int64", "bool", "float16", "bfloat16")
    ],
    *[
        lambda lib, dim=dim, step=step: lib.gradient(
            lib.arange(12.0).view(3, 4) ** 2, spacing=step(lib), dim=dim
        )
        for dim in (None, 1, (1, 0))
        for step in (
            lambda lib: lib.tensor(2.0),
            lambda lib: lib.tensor(3),
            lambda lib: lib.tensor([2.0]),
            lambda lib: lib.tensor(2.0, requires_grad=True),
            lambda lib: 2,
        )
    ],
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_as_in_pytorch(call):
    assert outcome(torch, call) == outcome(pt, call)


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 3, 4), (0, 3)])
@pytest.mark.parametrize("q", [None, 0, 1, 3, 4, 7, -1])
def test_svd_lowrank_of_more_than_there_are(shape, q):
    numbers = np.random.default_rng(0).normal(size=shape)

    def call(lib):
        return [tuple(part.shape) for part in lib.svd_lowrank(lib.from_numpy(numbers), q)]

    assert outcome(torch, call) == outcome(pt, call)
    if q is None or q > min(shape):
        u, s, v = torch.svd_lowrank(torch.from_numpy(numbers), q)
        np.testing.assert_allclose((u * s.unsqueeze(-2) @ v.mT).numpy(), numbers, atol=1e-12)


@pytest.mark.parametrize("count", [3, 4, 5, 1 << 40])
@pytest.mark.parametrize("size", [0, 1, 3])
def test_combinations_of_more_than_there_are(size, count):
    """There are none, which is seen at once; PyTorch makes tensors for all of the elements first."""
    x = torch.arange(float(size), requires_grad=True)
    found = torch.combinations(x, count)
    if count < 1 << 40:
        wanted = pt.combinations(pt.arange(float(size)), count)
        assert (tuple(found.shape), found.tolist()) == (tuple(wanted.shape), wanted.tolist())
    if count > size:
        assert tuple(found.shape) == (0, count)
        assert found.requires_grad
