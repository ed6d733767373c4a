"""gradcheck and gradgradcheck: what they accept, and every kind of mistake they find."""

import pytest

import mindtorch_core as torch
from mindtorch_core.autograd import gradcheck, gradgradcheck
from mindtorch_core.autograd.gradient_checks import GradcheckError
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs.define import op

MODES = pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])


def leaf(*values, dtype=torch.float64):
    return torch.tensor(list(values), dtype=dtype, requires_grad=True)


X = leaf(0.3, 1.7, -0.6)
Y = leaf(1.1, -0.4, 0.8)
Z = leaf(1 + 2j, 0.5 - 1j, 2 + 0.3j, dtype=torch.complex128)
M = torch.tensor([[1.0, 2.0], [0.5, -1.0], [3.0, 0.1]], dtype=torch.float64, requires_grad=True)

RIGHT = {
    "real": (lambda x: x.sin(), X),
    "two inputs": (lambda x, y: x * y.exp(), (X, Y)),
    "a constant beside": (lambda x, y: x * y, (X, Y.detach())),
    "no tensor beside": (lambda x, k, s: x * k if s == "go" else x, (X, 3, "go")),
    "one tensor twice": (lambda x, y: x * y, (X, X)),
    "several outputs": (lambda x: (x.sum(), x.exp(), x.detach() * 1, x > 0), X),
    "matrix product": (lambda m, x: x @ m, (M, X)),
    "a view": (lambda m: m.t()[0], M),
    "linear": (lambda x: x * 3, X),
    "complex to complex": (lambda z: z * z.exp(), Z),
    "conjugate": (lambda z: z * z.conj(), Z),
    "complex to real": (lambda z: z.abs(), Z),
    "real part": (lambda z: z.real * z.imag, Z),
    "real to complex": (lambda x: x * Z.detach(), X),
    "both": (lambda x, z: (x * z, z.real * x), (X, Z)),
    "an empty output": (lambda x: (x[:0], x * x), X),
    "jumps where a label moves": (lambda x, y: torch.where(y == 1, x * x, -x), (X, leaf(1, -1, 1))),
}


@MODES
@pytest.mark.parametrize(("function", "args"), RIGHT.values(), ids=RIGHT)
def test_right_gradients(function, args, fast):
    assert gradcheck(function, args, fast_mode=fast)
    assert gradgradcheck(function, args, fast_mode=fast)


def test_inputs_are_as_they_were():
    before, version = M.tolist(), M._version
    assert gradcheck(lambda m: m.exp(), M)
    assert gradcheck(lambda m: m.exp(), M, fast_mode=True)
    assert (M.tolist(), M._version, M.grad) == (before, version, None)
    t = leaf(1.0, 2.0)
    with pytest.raises(ValueError, match="inside"):
        gradcheck(fails_when_changed(t), t)
    assert t.tolist() == [1.0, 2.0]


def fails_when_changed(t):
    def function(x):
        if x.tolist() != [1.0, 2.0]:
            raise ValueError("inside")
        return x * x

    return function


# ---- mistakes -----------------------------------------------------------------------------------


def define(backward, forward=lambda ctx, x: x * 2):
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Fn", (torch.autograd.Function,), members).apply


def one_wrong(ctx, g):
    out = g * 2
    out[1] = out[1] * 1.5
    return out


WRONG = {
    "a factor": (define(lambda ctx, g: g * 3), X, r"numerical (2\.0|1\.9).*analytical 3\.0.*3 of 9"),
    "one element": (define(one_wrong), X, "input element 1 and output element 1.*1 of 9"),
    "detached": (lambda x: x.detach() * x, X, "Jacobian mismatch for output 0"),
    "the second output": (lambda x: (x * x, x.detach() * x), X, "for output 1 with respect to input 0"),
    "the second input": (lambda x, y: x * y.detach() * y, (X, Y), "respect to input 1"),
    "no conjugate": (
        define(lambda ctx, g: g * 2j, lambda ctx, z: z * 2j), Z, "Jacobian mismatch for output 0"
    ),
    "not recorded": (lambda x: x.detach() * 2, X, "expected to be zero"),
    "not a number": (define(lambda ctx, g: g / 0), X, "analytical (inf|nan)"),
}  # fmt: skip


@MODES
@pytest.mark.parametrize(("function", "args", "text"), WRONG.values(), ids=WRONG)
def test_wrong_gradients(function, args, text, fast):
    with pytest.raises(GradcheckError, match=f"(?s){text}"):
        gradcheck(function, args, fast_mode=fast)
    assert gradcheck(function, args, fast_mode=fast, raise_exception=False) is False


@MODES
def test_wrong_second_gradients(fast):
    wrong = define(
        lambda ctx, g: g * 3 * ctx.saved_tensors[0].detach() ** 2,
        lambda ctx, x: (ctx.save_for_backward(x), x**3)[1],
    )
    assert gradcheck(wrong, X, fast_mode=fast)
    with pytest.raises(GradcheckError, match="respect to input 0"):
        gradgradcheck(wrong, X, fast_mode=fast)
    assert not gradgradcheck(wrong, X, fast_mode=fast, raise_exception=False)


def test_gradients_that_vary():
    calls = []

    def backward(ctx, g):
        calls.append(1)
        return g * 2 * (1 + 1e-9 * len(calls))

    varying = define(backward)
    with pytest.raises(GradcheckError, match=r"Backward is not reentrant.*tolerance.*0\.0"):
        gradcheck(varying, X)
    assert gradcheck(varying, X, nondet_tol=1e-6)


def test_gradients_that_are_not_products():
    with pytest.raises(GradcheckError, match="not multiplied by grad_output"):
        gradcheck(define(lambda ctx, g: g * 2 + 1e-7), X)


def unmaterialized(lib, backward, count):
    """A Function of so many outputs, whose backward is given None where there is no gradient."""

    class Fn(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return tuple(x * (k + 2) for k in range(count)) if count > 1 else x * 2

        @staticmethod
        def backward(ctx, *grads):
            return backward(grads)

    return Fn.apply


def sum_of(grads):
    return sum(g * (k + 2) for k, g in enumerate(grads) if g is not None)


def refusing(refused):
    """A backward that cannot do with certain gradients missing."""

    def backward(grads):
        if refused([g is None for g in grads]):
            raise RuntimeError("a gradient is missing")
        return sum_of(grads) if any(g is not None for g in grads) else None

    return backward


def inventing(grads):
    """A backward that makes something of nothing, where that shows in no Jacobian."""
    if all(g is None or not g.any() for g in grads) and any(g is None for g in grads):
        return X.detach() * 0 + 1
    return sum_of(grads)


BACKWARDS = {
    "right": refusing(lambda absent: False),
    "refuses all": refusing(all),
    "refuses any": refusing(any),
    "refuses the first": refusing(lambda absent: absent[0]),
    "refuses the last alone": refusing(lambda absent: absent[-1] and not all(absent)),
}


# In fast mode, PyTorch compares one output at a time, and this library a combination of them.
@pytest.mark.parametrize(("count", "fast"), [(1, False), (1, True), (2, False), (3, False)])
@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("backward", BACKWARDS.values(), ids=BACKWARDS)
@pytest.mark.filterwarnings("ignore:Backwards compatibility")
def test_missing_gradients_as_pytorch_decides(same, backward, checked, count, fast):
    def verdict(lib):
        x = lib.tensor([0.3, 1.7], dtype=lib.float64, requires_grad=True)
        function = unmaterialized(lib, backward, count)
        options = {"check_undefined_grad": checked, "fast_mode": fast, "raise_exception": False}
        return lib.autograd.gradcheck(function, x, **options)

    same(verdict)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_missing_gradients(count):
    assert gradcheck(unmaterialized(torch, BACKWARDS["right"], count), X)
    with pytest.raises(GradcheckError, match=r"to handle undefined output grads.*output 0: a"):
        gradcheck(unmaterialized(torch, BACKWARDS["refuses all"], count), X)
    with pytest.raises(GradcheckError, match="Expected all input grads to be undefined or zero"):
        gradcheck(unmaterialized(torch, inventing, count), X)
    assert gradcheck(unmaterialized(torch, inventing, count), X, check_undefined_grad=False)


def test_outputs_made_of_outputs_get_each_others_gradients():
    def function(x):
        y = unmaterialized(torch, BACKWARDS["right"], 1)(x)
        return y, y * 2, x * 1

    assert gradcheck(function, X)
    assert gradcheck(lambda x: (x, x * 2), X)


def test_gradients_of_another_dtype():
    x = leaf(1.0, 2.0)

    class Fn(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return (g * 2).float()

    assert gradcheck(Fn.apply, x, check_grad_dtypes=True)  # the engine has converted it


ROWS = {
    "fewer elements": (lambda g: g[:2], r"incorrect size: \[2\] for input 0, which is \[3\]", True),
    "another shape": (lambda g: g.reshape(3, 1), r"incorrect size: \[3, 1\] for input 0, which", True),
    "less precise": (lambda g: g.float(), "mismatch: torch.float32 for input 0, which is torch.float64", False),
    "complex": (lambda g: g + 0j, "mismatch: torch.complex128 for input 0, which is torch.float64", False),
}  # fmt: skip


@MODES
@pytest.mark.parametrize(("grad", "text", "always"), ROWS.values(), ids=ROWS)
def test_gradients_of_rows_that_do_not_fit_their_inputs(grad, text, always, fast):
    """The engine takes those of the core's own ops as they are."""
    with registry.scope():
        op(
            "gradcheck_row(Tensor self) -> Tensor",
            doc="Copy.", decomposition=lambda x: x * 1, rule=lambda x: x, grad={"self": grad},
            namespaces=("torch",),
        )  # fmt: skip
        with pytest.raises(GradcheckError, match=text):
            gradcheck(torch.gradcheck_row, X, fast_mode=fast, check_grad_dtypes=True)
        verdict = gradcheck(torch.gradcheck_row, X, fast_mode=fast, raise_exception=False)
        assert verdict is not always


def test_small_errors_that_add_up_along_a_direction():
    off = torch.tensor([1, 1, -1], dtype=torch.float64)
    function = define(lambda ctx, g: 1e3 * g * (1 + 9e-4 * off), lambda ctx, x: x * 1e3)
    assert gradcheck(function, X)
    with pytest.raises(
        GradcheckError, match=r"random direction of input 0.*Element by element, no"
    ):
        gradcheck(function, X, fast_mode=True)


# ---- arguments ----------------------------------------------------------------------------------


def test_refused_arguments():
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda x: x, X.detach())
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        gradcheck(lambda x: x * 2, X[:1].expand(3))
    with pytest.raises(AssertionError, match="at least one of check_forward_ad"):
        gradcheck(lambda x: x, X, check_backward_ad=False)
    with pytest.raises(AssertionError, match="at least one of check_fwd_over_rev"):
        gradgradcheck(lambda x: x, X, check_rev_over_rev=False)
    with pytest.raises(ValueError, match="requires check_forward_ad to be True"):
        gradcheck(lambda x: x, X, check_batched_forward_grad=True)


def moved(x):
    return x.tolist() != [0.3, 1.7, -0.6]


CHANGING = {
    "a shorter output": (lambda x: x[: 2 if moved(x) else 3] * 2, AssertionError, r"\[3\] and \[2\]"),
    "a longer output": (lambda x: x.repeat(2) if moved(x) else x, AssertionError, r"\[3\] and \[6\]"),
    "on one side": (lambda x: x[: 2 if x[0] > 0.3 else 3], AssertionError, r"\[3\] and \[2\]"),
    "the second output": (
        lambda x: (x * 2, x[: 2 if moved(x) else 3]), AssertionError, r"\[3\] and \[2\]"
    ),
    "an output more": (lambda x: (x, x) if moved(x) else x, GradcheckError, "returned 1 tensors, and 2 when"),
    "an output less": (lambda x: x if moved(x) else (x, x), GradcheckError, "returned 2 tensors, and 1 when"),
}  # fmt: skip


@MODES
@pytest.mark.parametrize(("function", "kind", "text"), CHANGING.values(), ids=CHANGING)
def test_outputs_that_change_their_number_or_shape(function, kind, text, fast):
    with pytest.raises(kind, match=text):
        gradcheck(function, X, fast_mode=fast)


def test_low_precision_is_warned_of():
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double"):
        assert gradcheck(lambda x: x * 2, leaf(1.0, dtype=torch.float32), eps=1e-2, atol=1e-2)


def test_gradients_of_outputs_may_be_given():
    seeds = leaf(1.0, -2.0, 3.0)
    assert gradgradcheck(lambda x: x**3, X, seeds)
    assert gradgradcheck(lambda x: (x**3, x * x), (X,), (seeds, seeds.detach().clone()))
    assert gradgradcheck(lambda x: x**3, X, gen_non_contig_grad_outputs=True)


def test_as_pytorch_decides(same):
    def verdicts(lib):
        x = lib.tensor([0.3, 1.7], dtype=lib.float64, requires_grad=True)
        z = lib.tensor([1 + 2j, 0.5 - 1j], dtype=lib.complex128, requires_grad=True)
        functions = [
            lambda t: t.exp() * t,
            lambda t: t.detach() * t,
            lambda t: t.abs(),
            lambda t: (t.detach() * 1.0).exp(),
            lambda t: (t * t, t.detach() * t),
        ]
        return [
            lib.autograd.gradcheck(f, t, fast_mode=fast, raise_exception=False)
            for f in functions
            for t in (x, z)
            for fast in (False, True)
        ]

    same(verdicts)


def test_outputs_of_whole_numbers_are_not_checked(same):
    """They jump where a float moves a little."""

    def verdicts(lib):
        x = lib.tensor([0.3, 1.7], dtype=lib.float64, requires_grad=True)
        alone = lib.autograd.gradcheck(lambda t: (t * 1e7).long(), x)
        beside = [
            lib.autograd.gradcheck(lambda t: (t * t, (t * 1e7).long()), x, fast_mode=fast)
            for fast in (False, True)
        ]
        return [alone, *beside]

    same(verdicts)


def test_outputs_of_whole_numbers_alone_jump_along_one_direction(same):
    """Where they are all there is, the fast mode sees that they do."""

    def verdicts(lib):
        def checked(f):
            x = lib.tensor([0.3, 1.7, 1.0], dtype=lib.float64, requires_grad=True)
            return lib.autograd.gradcheck(f, x, fast_mode=True, raise_exception=False)

        functions = [
            lambda t: (t * 1e7).long(),
            lambda t: (t * 2).to(lib.int32),
            lambda t: t[:2].long(),
            lambda t: (t.argmax(), (t * 1e7).long()),
            lambda t: t.argmax(),
            lambda t: t[:0].long(),
        ]
        return [checked(f) for f in functions]

    same(verdicts)
