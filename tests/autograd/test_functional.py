"""``torch.autograd.functional`` against PyTorch: functions, inputs, options, errors."""

import itertools

import pytest

import mindtorch_core as torch
from mindtorch_core.autograd import functional

FUNCTIONS = {
    "vector": (lambda lib, a: a.sin() * a, 1),
    "matrix": (lambda lib, a: a.unsqueeze(1) * a.exp(), 1),
    "two inputs": (lambda lib, a, b: a.sum() * b, 2),
    "two of each": (lambda lib, a, b: (a * 2, (b * b).sum() * a), 2),
    "a tuple of one": (lambda lib, a: (a.sin(),), 1),
    "constant": (lambda lib, a: lib.ones(2, dtype=lib.float64), 1),
    "one unused": (lambda lib, a, b: a * a, 2),
    "linear": (lambda lib, a: a * 3, 1),
    "scalar": (lambda lib, a: (a.sin() * a).sum(), 1),
    "scalar of two": (lambda lib, a, b: (a.exp() * a).sum() * (b * b).sum(), 2),
    "scalar, one unused": (lambda lib, a, b: (a * a).sum(), 2),
    "linear scalar": (lambda lib, a: (a * 3).sum(), 1),
    "one element": (lambda lib, a: (a * a * a).sum().reshape(1), 1),
    "no tensor": (lambda lib, a: 3, 1),
    "a list": (lambda lib, a: [a * 1], 1),
}
OPTIONS = list(itertools.product((False, True), repeat=3))
PRODUCTS = ("vjp", "jvp", "vhp", "hvp")


def arguments(lib, count, requires_grad):
    def make(*values):
        return lib.tensor(values, dtype=lib.float64, requires_grad=requires_grad)

    a, b = make(0.3, 0.7), make(1.0, 2.0, 3.0)
    return a if count == 1 else (a, b)


def vector(lib, count):
    a, b = (lib.tensor(v, dtype=lib.float64) for v in ([1.0, 2.0], [3.0, 4.0, 5.0]))
    return a if count == 1 else (a, b)


@pytest.mark.parametrize(("create", "strict", "requires"), OPTIONS)
@pytest.mark.parametrize(("function", "count"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_matrices(same, function, count, create, strict, requires):
    for name in ("jacobian", "hessian"):

        def call(lib, name=name, **more):
            wanted = getattr(lib.autograd.functional, name)
            return wanted(
                lambda *args: function(lib, *args),
                arguments(lib, count, requires),
                create_graph=create,
                strict=strict,
                **more,
            )

        same(call)
        if not (strict or create):  # PyTorch makes lists of some tuples then
            same(lambda lib: call(lib, vectorize=True))


@pytest.mark.parametrize(("create", "strict", "requires"), OPTIONS)
@pytest.mark.parametrize(("function", "count"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_products(same, function, count, create, strict, requires):
    for name, given in itertools.product(PRODUCTS, ("none", "as inputs", "as outputs")):

        def call(lib, name=name, given=given):
            args = arguments(lib, count, requires)
            product = getattr(lib.autograd.functional, name)
            run = lambda *args: function(lib, *args)  # noqa: E731
            v = None if given == "none" else vector(lib, count)
            if given == "as outputs":
                out = run(*args) if count == 2 else run(args)
                several = isinstance(out, tuple)
                ones = tuple(map(lib.ones_like, out)) if several else lib.ones_like(out)
                v = ones
            return product(run, args, v, create_graph=create, strict=strict)

        same(call)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize("name", ["jacobian", "hessian", *PRODUCTS])
def test_without_gradients_around(same, name, create, strict):
    def call(lib):
        more = [vector(lib, 1)] if name in ("jvp", "hvp", "vhp") else []
        with lib.no_grad():
            return getattr(lib.autograd.functional, name)(
                lambda a: (a * a * a).sum(), arguments(lib, 1, True), *more,
                create_graph=create, strict=strict,
            )  # fmt: skip

    same(call)


@pytest.mark.parametrize("name", ["vector", "matrix", "two inputs", "two of each", "scalar of two"])
def test_columns_are_rows(name):
    function, count = FUNCTIONS[name]
    args = arguments(torch, count, False)
    run = lambda *args: function(torch, *args)  # noqa: E731
    rows = functional.jacobian(run, args)
    columns = functional.jacobian(run, args, vectorize=True, strategy="forward-mode")

    def values(found):
        return [values(f) for f in found] if isinstance(found, tuple) else found.tolist()

    flat = lambda v: [x for e in v for x in flat(e)] if isinstance(v, list) else [v]  # noqa: E731
    assert flat(values(columns)) == pytest.approx(flat(values(rows)))


def test_hessians_by_columns():
    run = lambda a, b: (a.exp() * a).sum() * (b * b).sum()  # noqa: E731
    args = arguments(torch, 2, False)
    rows = functional.hessian(run, args)
    columns = functional.hessian(run, args, vectorize=True, outer_jacobian_strategy="forward-mode")
    for r, c in zip(itertools.chain(*rows), itertools.chain(*columns), strict=True):
        assert r.reshape(-1).tolist() == pytest.approx(c.reshape(-1).tolist())


WRONG = {
    "list": lambda f, a: f.jacobian(lambda x: x, [a]),
    "number": lambda f, a: f.jacobian(lambda x, y: x, (a, 3)),
    "v too long": lambda f, a: f.jvp(lambda x: x, a, a.new_ones(3)),
    "v in a tuple too long": lambda f, a: f.jvp(lambda x: x, (a,), (a.new_ones(3),)),
    "too many v": lambda f, a: f.jvp(lambda x: x, (a,), (a, a)),
    "too many v for one": lambda f, a: f.jvp(lambda x: x, a, (a, a)),
    "strategy": lambda f, a: f.jacobian(lambda x: x, a, strategy="sideways"),
    "outer strategy": lambda f, a: f.hessian(lambda x: x, a, outer_jacobian_strategy="sideways"),
    "columns one by one": lambda f, a: f.jacobian(lambda x: x, a, strategy="forward-mode"),
    "recorded columns": lambda f, a: f.jacobian(
        lambda x: x, a, True, vectorize=True, strategy="forward-mode"
    ),
    "strict columns": lambda f, a: f.jacobian(
        lambda x: x, a, strict=True, vectorize=True, strategy="forward-mode"
    ),
    "no scalar": lambda f, a: f.hessian(lambda x: x, a),
    "several scalars": lambda f, a: f.vhp(lambda x: (x.sum(), x.sum()), a, a),
    "strict and vectorized": lambda f, a: f.jacobian(lambda x: x, a, strict=True, vectorize=True),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_wrong_arguments(same, call):
    same(lambda lib: call(lib.autograd.functional, arguments(lib, 1, False)))
    with pytest.raises((TypeError, RuntimeError, AssertionError, NotImplementedError)):
        call(functional, arguments(torch, 1, False))


def test_no_rows():
    x = arguments(torch, 1, False)
    found = functional.jacobian(lambda a: a[:0] * 2, x)
    assert found.shape == (0, 2)


def test_against_what_is_known():
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    x = torch.tensor([1.0, -1.0])
    assert functional.jacobian(lambda v: a @ v, x).tolist() == a.tolist()
    assert functional.hessian(lambda v: v @ (a @ v), x).tolist() == (a + a.t()).tolist()


@pytest.mark.parametrize("enabled", [False, True])
@pytest.mark.parametrize("requires", [False, True])
@pytest.mark.parametrize("weighs", [False, True])
def test_columns_have_the_history_of_what_a_function_reads(same, enabled, requires, weighs):
    def call(lib):
        x, w = (lib.tensor([0.5, 2.0], requires_grad=r) for r in (requires, weighs))
        with lib.set_grad_enabled(enabled):
            found = lib.autograd.functional.jacobian(
                lambda x: x.exp() * w, x, strategy="forward-mode", vectorize=True
            )
        if not found.requires_grad:
            return found
        return found, lib.autograd.grad(found.sum(), [t for t in (x, w) if t.requires_grad])

    same(call)
