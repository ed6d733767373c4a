"""All rows of a Jacobian in one pass backward: as PyTorch's, without warnings, and one by one where need be."""

import warnings

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")
PROGRAMS = [
    "f.jacrev(lambda x: (x @ w).tanh() @ w.t())(x)", "f.jacfwd(lambda x: x.sin() * x.sum())(x)",
    "f.hessian(lambda x: (x @ w).pow(3).sum())(x)", "f.vmap(f.jacrev(lambda x: (x @ w).tanh()))(xs)",
    "f.vmap(f.hessian(lambda x: (x @ w).pow(3).sum()))(xs)", "f.jacrev(f.jacrev(lambda x: x.exp() * x[0]))(x)",
    "f.jacrev(lambda x: x.sort()[0].cumsum(0)[t.tensor([0, 2])])(x)", "f.jacrev(lambda x: t.stack([x[0], x[1] * x[0]]))(x)",
    "f.jacrev(lambda x: {'a': x**2, 'b': (x.sum(), x[:2])})(x)", "f.jacrev(lambda x: (x * 2, x.sum()), has_aux=True)(x)",
    "f.jacrev(lambda a, b: a @ b, argnums=(0, 1))(xs, w)", "f.jacrev(lambda x: t.ones(2))(x)",
    "f.jacrev(lambda x: x[:0])(x)", "f.jacrev(lambda x: x.sum())(x)", "f.jacrev(lambda x: x * x, chunk_size=2)(x)",
    "f.grad(lambda x: f.jacrev(t.sin)(x).sum())(x)", "f.jacrev(lambda x: t.linalg.inv(x + 3 * t.eye(3)))(w @ w.t())[:1, :2]",
    "f.jacrev(lambda k: t.nn.functional.conv2d(image, k))(kernel)", "f.jacrev(lambda x: t.nn.functional.gelu(x))(x)",
    "f.jacrev(lambda k: t.nn.functional.max_pool2d(k, 2))(image)", "f.jacrev(lambda x: t.nn.functional.layer_norm(x, (3,)))(xs)",
]  # fmt: skip


def names(lib):
    made = lambda shape: lib.linspace(-1, 1.5, int(lib.tensor(shape).prod())).reshape(shape).sin()  # noqa: E731
    return {
        "t": lib, "f": lib.func, "x": made([3]), "w": made([3, 3]) + lib.eye(3), "xs": made([4, 3]),
        "image": made([1, 2, 4, 4]), "kernel": made([2, 2, 2, 2]),
    }  # fmt: skip


def numbers(value):
    if isinstance(value, dict):
        return [numbers(v) for v in value.values()]
    return [numbers(v) for v in value] if isinstance(value, tuple) else value.tolist()


def assert_near(ours, theirs):
    if isinstance(ours, list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_near(a, b)
    else:
        assert ours == pytest.approx(theirs, rel=2e-4, abs=1e-5)


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_pytorch(program):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = numbers(eval(program, names(torch)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = numbers(eval(program, names(pt)))
    assert_near(ours, theirs)


class Counted(torch.autograd.Function):
    """The square; it counts its passes backward, and may look at values there."""

    generate_vmap_rule = True
    passes = 0
    looks = False

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        Counted.passes += 1
        if Counted.looks and bool(g.sum() < 0):
            return -g
        return 2 * g * ctx.saved_tensors[0]


@pytest.mark.parametrize(("looks", "passes"), [(False, 1), (True, 6)])
def test_one_pass_unless_a_formula_looks_at_values(looks, passes, monkeypatch):
    monkeypatch.setattr(Counted, "passes", 0)
    monkeypatch.setattr(Counted, "looks", looks)
    x = torch.arange(5.0)
    assert torch.equal(torch.func.jacrev(Counted.apply)(x), torch.diag(2 * x))
    assert Counted.passes == passes


def test_an_error_of_a_formula_is_shown(monkeypatch):
    def fails(ctx, g):
        raise ValueError("mine")

    monkeypatch.setattr(Counted, "backward", staticmethod(fails))
    with pytest.raises(ValueError, match="mine"):
        torch.func.jacrev(Counted.apply)(torch.arange(5.0))


def test_chunks_are_checked():
    with pytest.raises(ValueError, match="chunk_size"):
        torch.func.jacrev(torch.sin, chunk_size=0)
