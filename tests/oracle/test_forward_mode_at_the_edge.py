"""Forward mode where tangents are refused, lost or of no kind: custom functions and ops, lists, conjugates."""

import pytest

import mindtorch_core as torch
from both import both
from mindtorch_core.testing.comparison import outcome

pt = pytest.importorskip("torch")
# PyTorch compiles the formulas of its duals when it meets the first one.
pytestmark = pytest.mark.filterwarnings("ignore:.*jit.*deprecated:DeprecationWarning")


def duals(lib, call, *values):
    """What a call gives for duals whose tangents are 1, 2, ... times the values, and its tangents."""
    fw = lib.autograd.forward_ad
    with fw.dual_level():
        found = call(lib, *(fw.make_dual(v, v * (i + 1)) for i, v in enumerate(values)))
        found = found if isinstance(found, list | tuple) else (found,)
        return [tuple(fw.unpack_dual(t)) for t in found]


def numbers(lib):
    return lib.arange(1.0, 5.0)


def defined(lib, kernel, key="CPU"):
    """A library with one op ``twice`` that has a kernel and no derivative of its own."""
    library = lib.library.Library("edge", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", kernel, key)
    return library


# Kernels of a third party's op that has no gradient formula.
KERNELS = {
    "of ops": (lambda x: x * 2, "CPU"),
    "of ops, implicit": (lambda x: x.sin(), "CompositeImplicitAutograd"),
    "of integers": (lambda x: (x > 2).long(), "CPU"),
}


@pytest.mark.parametrize("name", KERNELS)
def test_ops_of_third_parties(name):
    def call(lib):
        library = defined(lib, *KERNELS[name])
        try:
            return duals(lib, lambda lib, x: lib.ops.edge.twice(x), numbers(lib))
        finally:
            library._destroy()

    both(call)


def test_an_op_whose_kernel_hides_its_operand_is_refused():
    library = defined(torch, lambda x: torch.from_numpy(x.detach().numpy() * 2))
    try:
        with pytest.raises(
            NotImplementedError, match="forward AD with twice that does not support it"
        ):
            duals(torch, lambda lib, x: lib.ops.edge.twice(x), numbers(torch))
        with torch.autograd.forward_ad.dual_level():  # without tangents nothing is refused
            assert torch.ops.edge.twice(numbers(torch)).tolist() == [2, 4, 6, 8]
    finally:
        library._destroy()


def doubling(lib, jvp):
    class Doubling(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    Doubling.jvp = staticmethod(jvp)
    return Doubling.apply


WRONG = {
    "another number": lambda lib: lambda ctx, t: (t, t),
    "another size": lambda lib: lambda ctx, t: lib.ones(3),
}


@pytest.mark.parametrize("name", WRONG)
def test_tangents_of_custom_functions_that_do_not_fit(name):
    def call(lib):
        return duals(lib, lambda lib, x: doubling(lib, WRONG[name](lib))(x), numbers(lib))

    found, expected = (outcome(call, lib) for lib in (torch, pt))
    assert type(found) is type(expected) is RuntimeError
    assert str(found) == str(expected)


def test_a_custom_function_of_what_does_not_move():
    def call(lib):
        fw = lib.autograd.forward_ad
        with fw.dual_level():  # its jvp would divide by zero
            return tuple(fw.unpack_dual(doubling(lib, lambda ctx, t: 1 / 0)(numbers(lib))))

    both(call)


@pytest.mark.parametrize("other", [{"dtype": "float64"}, {"device": "meta"}], ids=str)
def test_a_tangent_of_another_kind_is_refused(other):
    options = {k: getattr(torch, v) if k == "dtype" else v for k, v in other.items()}
    with (
        torch.autograd.forward_ad.dual_level(),
        pytest.raises(RuntimeError, match="Expected the tangent to have the dtype and device"),
    ):
        torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2, **options))


def test_a_conjugated_tangent():
    def call(lib):
        fw, values = lib.autograd.forward_ad, lib.tensor([1 + 2j, 3 - 1j])
        with fw.dual_level():
            dual = fw.make_dual(values, (values * 1j).conj())
            return [*fw.unpack_dual(dual * dual), *fw.unpack_dual(dual.conj())]

    both(call)


def writes(lib, x, y):
    """Ops in place whose other arguments are the tensor itself, parts of it, or lists with it."""
    a = x * 1
    a.index_put_((lib.tensor([0, 1]),), a[2:] * 2)
    b = y * 1
    b.addcmul_(b, b, value=2)
    c, d = x * 1, y * 1
    lib._foreach_mul_([c, d], [d, c])
    e = x * 1
    e.mul_(e)
    return a, b, c, d, e


def apart(lib, x, y):
    """The same without writing: PyTorch's tangents of some of the ops read what is written already."""
    c = x * y
    return lib.cat([x[2:] * 2, x[2:]]), y + 2 * y * y, c, c * y, x * x


def test_ops_in_place_that_read_what_they_write():
    found = duals(torch, writes, numbers(torch), numbers(torch) + 1)
    expected = duals(pt, apart, numbers(pt), numbers(pt) + 1)
    assert [[t.tolist() for t in pair] for pair in found] == [
        [t.tolist() for t in pair] for pair in expected
    ]


def test_gradients_of_ops_in_place_that_read_what_they_write():
    def call(lib):
        x, y = numbers(lib).requires_grad_(), (numbers(lib) + 1).requires_grad_()
        sum(t.sum() for t in writes(lib, x, y)).backward()
        return x.grad, y.grad

    both(call)


def test_integers_that_become_what_moves_do_not():
    def call(lib):
        fw, whole = lib.autograd.forward_ad, lib.zeros(4).long()
        with fw.dual_level():
            whole.copy_(fw.make_dual(numbers(lib) * 1.5, numbers(lib)))
            return tuple(fw.unpack_dual(whole))

    both(call)


def test_tangents_of_results_that_backward_saves():
    # The gradient of exp needs its result, and what that needs is how it moves: second derivatives.
    def call(lib):
        fw, x = lib.autograd.forward_ad, numbers(lib).requires_grad_()
        with fw.dual_level():
            dual = fw.make_dual(x, numbers(lib) * 0.5)
            base = dual * 1
            part = base[1:3]
            part.exp_()
            found = []
            for y in (dual.exp(), base, dual.sigmoid() * dual.tanh()):
                (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
                found += fw.unpack_dual(g)
            return found

    both(call)


def two_results(lib):
    class TwoResults(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, whole):
            doubled, grown = x * 2, x.exp()
            ctx.save_for_backward(whole, grown, None)
            ctx.save_for_forward(grown)
            return doubled, grown

        @staticmethod
        def backward(ctx, g, h):
            whole, grown, _ = ctx.saved_tensors
            return g * 2 + h * grown * whole, None

        @staticmethod
        def jvp(ctx, t, _):
            (grown,) = ctx.saved_tensors
            return t * 2, t * grown

    return TwoResults.apply


def test_second_derivatives_by_the_results_that_a_custom_function_saves():
    def call(lib):
        fw, x = lib.autograd.forward_ad, (numbers(lib) / 4).requires_grad_()
        with fw.dual_level():
            dual = fw.make_dual(x, numbers(lib))
            doubled, grown = two_results(lib)(dual, lib.tensor(1.0))
            (g,) = lib.autograd.grad(grown.sum() + doubled.sum(), x)
            return [*fw.unpack_dual(grown), *fw.unpack_dual(doubled), *fw.unpack_dual(g)]

    both(call)
