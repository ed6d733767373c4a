"""``torch.library.custom_op`` and what is registered for such ops, as in PyTorch."""

# ruff: noqa: UP006, UP007, UP035, UP045 (annotations as users write them)

import threading
from collections.abc import Sequence
from typing import List, Optional, Tuple, Union

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from scenarios import as_in_pytorch, pt, refused

np = pytest.importorskip("numpy")


def ops(t):
    return t.ops.custom_op_test


def numpy_sin(t, name="numpy_sin", **options):
    """An op that no autograd looks into."""

    def sin(x: t.Tensor, scale: float = 1.0) -> t.Tensor:
        return t.from_numpy(
            np.asarray(np.sin(x.detach().numpy()) * scale, x.detach().numpy().dtype)
        )

    return t.library.custom_op(f"custom_op_test::{name}", sin, mutates_args=(), **options)


def with_gradient(t, op):
    def setup(ctx, inputs, output):
        x, scale = inputs
        ctx.save_for_backward(x)
        ctx.scale = scale

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.cos() * ctx.scale, None

    op.register_autograd(backward, setup_context=setup)
    return op


# ---- making one ---------------------------------------------------------------------------------


@as_in_pytorch
def test_it_is_called_like_the_function(t):
    op = numpy_sin(t)
    x = t.tensor([0.0, 0.5, 1.0])
    return [
        op(x),
        op(x, 2.0),
        op(x, scale=3),
        op(x=x),
        ops(t).numpy_sin(x),
        ops(t).numpy_sin.default(x, 0.5),
        str(op),
        str(op._opoverload),
        [tag.name for tag in op._opoverload.tags],
    ]


@as_in_pytorch
def test_as_a_decorator(t):
    @t.library.custom_op("custom_op_test::decorated", mutates_args=())
    def decorated(x: t.Tensor, y: "int" = 2) -> t.Tensor:
        """What it does."""
        return x * y

    return decorated(t.ones(2)), decorated(t.ones(2), 5), decorated._name, decorated._qualname


def test_it_keeps_the_functions_name_and_docstring():
    op = numpy_sin(torch, "named")
    assert op.__name__ == "sin"
    assert repr(op) == "<CustomOpDef(custom_op_test::named)>"


@as_in_pytorch
def test_defining_again_replaces(t):
    made = []
    for by in (2, 3):

        def scale(x: t.Tensor) -> t.Tensor:
            return x * by

        made.append(t.library.custom_op("custom_op_test::again", scale, mutates_args=()))
    return made[1](t.ones(1)), ops(t).again(t.ones(1))


@as_in_pytorch
def test_a_schema_instead_of_annotations(t):
    def add(x, y, *, alpha=1):
        return x + y * alpha

    op = t.library.custom_op(
        "custom_op_test::by_schema",
        add,
        mutates_args=(),
        schema="(Tensor x, Tensor y, *, Scalar alpha=1) -> Tensor",
    )
    x = t.ones(2)
    return op(x, x), op(x, x, alpha=2.5), refused(op, x, x, 3), str(op._opoverload._schema)


@as_in_pytorch
def test_names(t):
    def f(x: t.Tensor) -> t.Tensor:
        return x.clone()

    def make(name):
        return refused(t.library.custom_op, name, f, mutates_args=())

    return make("noname"), make("custom_op_test::a.b")(t.ones(1)), str(ops(t).a.b)


# ---- arguments and results ----------------------------------------------------------------------


@as_in_pytorch
def test_every_kind_of_argument(t):
    seen = []

    @t.library.custom_op("custom_op_test::kinds", mutates_args=())
    def kinds(
        x: t.Tensor,
        maybe: Optional[t.Tensor],
        several: List[t.Tensor],
        some: Sequence[Optional[t.Tensor]],
        n: int,
        f: float,
        flag: bool,
        text: str,
        kind: t.dtype,
        place: t.device,
        number: Union[int, float, bool],
        sizes: Sequence[int],
        weights: List[float],
        limit: Optional[int] = None,
        *,
        named: str = "q",
    ) -> t.Tensor:
        seen.append([type(v).__name__ for v in (several, some, n, f, flag, text, sizes, weights)])
        seen.append([n, f, flag, text, str(kind), str(place), number, list(sizes), list(weights)])
        seen.append([maybe is None, limit, named, len(some)])
        return x.clone()

    x = t.ones(1)
    kinds(x, None, [x], [x, None], 3, 2, True, "a", t.float64, "cpu", 2.5, (1, 2), [1.0, 2.0])
    kinds(x, x, (x,), (), 3, 2.5, 0, "a", t.int64, t.device("cpu"), 1, [], [], 7, named="z")
    return seen


@as_in_pytorch
def test_every_kind_of_result(t):
    def make(annotation, value):
        def f(x):
            return value(x)

        f.__annotations__ = {"x": t.Tensor, "return": annotation}
        name = f"results_{len(made)}"
        op = t.library.custom_op(f"custom_op_test::{name}", f, mutates_args=())
        got = refused(op, t.ones(2))
        made.append([type(got).__name__, got])

    made = []
    make(t.Tensor, lambda x: x + 1)
    make(List[t.Tensor], lambda x: [x + 1, x + 2])
    make(list[t.Tensor], lambda x: [x + 1])
    make(Tuple[t.Tensor, t.Tensor], lambda x: (x + 1, x + 2))
    make(tuple[t.Tensor, int], lambda x: (x + 1, 3))
    make(tuple[List[t.Tensor], t.Tensor], lambda x: ([x + 1], x + 2))
    make(tuple[t.Tensor], lambda x: (x + 1,))
    make(int, lambda x: 3)
    make(float, lambda x: 2)
    make(bool, lambda x: True)
    make(Union[int, float, bool], lambda x: 2.5)
    make(None, lambda x: None)
    make(t.Tensor, lambda x: "text")
    make(int, lambda x: 2.5)
    return made


@as_in_pytorch
def test_results_must_be_new(t):
    def define(name, f):
        f.__annotations__ = {"x": t.Tensor, "y": t.Tensor, "return": List[t.Tensor]}
        return t.library.custom_op(f"custom_op_test::{name}", f, mutates_args=())

    x, y = t.ones(3), t.ones(3)
    return [
        refused(define("gives_input", lambda x, y: [y]), x, y),
        refused(define("gives_view", lambda x, y: [x[1:]]), x, y),
        refused(define("gives_detached", lambda x, y: [x.detach()]), x, y),
        refused(define("gives_one_twice", lambda x, y: [(z := x + y), z]), x, y),
        refused(define("gives_views_of_one", lambda x, y: [(z := x + y), z[1:]]), x, y),
        refused(define("gives_new", lambda x, y: [x + y, x * y]), x, y),
    ]


# ---- writing to arguments -----------------------------------------------------------------------


@as_in_pytorch
def test_what_is_written_is_declared(t):
    @t.library.custom_op("custom_op_test::increment", mutates_args=("x",))
    def increment(x: t.Tensor, y: t.Tensor) -> None:
        x.add_(y)

    x, y = t.ones(2), t.ones(2)
    before = x._version
    result = increment(x, y)
    return x, result, x._version - before, y._version, str(increment._opoverload._schema)


@as_in_pytorch
def test_a_list_may_be_written(t):
    @t.library.custom_op("custom_op_test::zero_all", mutates_args={"xs"})
    def zero_all(xs: List[t.Tensor]) -> None:
        for x in xs:
            x.zero_()

    xs = [t.ones(2), t.ones(1)]
    zero_all(xs)
    return xs, str(zero_all._opoverload._schema), [x._version for x in xs]


@as_in_pytorch
def test_unknown_means_every_tensor(t):
    @t.library.custom_op("custom_op_test::unknown", mutates_args="unknown")
    def unknown(x: t.Tensor, n: int, y: Optional[t.Tensor] = None) -> t.Tensor:
        return x * n

    return unknown(t.ones(1), 3), str(unknown._opoverload._schema)


@as_in_pytorch
def test_writing_with_gradients_around(t):
    @t.library.custom_op("custom_op_test::double_", mutates_args=("x",))
    def double_(x: t.Tensor) -> None:
        x.mul_(2)

    leaf = t.ones(2, requires_grad=True)
    saved = t.ones(2, requires_grad=True)
    y = saved * saved
    z = y.exp()
    with t.no_grad():
        double_(y)
    return refused(lambda: z.sum().backward()), y.detach(), leaf._version


# ---- devices ------------------------------------------------------------------------------------


@as_in_pytorch
def test_only_for_a_device_type(t):
    op = numpy_sin(t, "cpu_only", device_types="cpu")
    return op(t.ones(1)), refused(op, t.ones(1, device="meta"))


@as_in_pytorch
def test_a_kernel_for_a_device_type_comes_before_the_general_one(t):
    op = numpy_sin(t, "two_kernels")

    @op.register_kernel("cpu")
    def _(x, scale=1.0):
        return x * 100

    first = op(t.ones(1))
    with op.set_kernel_enabled("cpu", False):
        without = op(t.ones(1))
        with op.set_kernel_enabled("cpu", True):
            again = op(t.ones(1))
    return first, without, again, op(t.ones(1))


def test_a_kernel_for_a_third_partys_device(toy):
    op = numpy_sin(torch, "for_toy")
    x = torch.tensor([1.0, 2.0], device="toy")

    @torch.library.register_kernel("custom_op_test::for_toy", "toy")
    def _(x, scale=1.0):
        return x * 3

    assert op(x).tolist() == [3, 6]
    assert op(x).device.type == "toy"
    assert op(torch.zeros(1)).tolist() == [0]
    assert torch.library.opcheck(op, (x,), test_utils="test_schema") == {"test_schema": "SUCCESS"}


@as_in_pytorch
def test_without_tensor_arguments(t):
    @t.library.custom_op("custom_op_test::make", mutates_args=())
    def make(n: int) -> t.Tensor:
        return t.ones(n)

    @t.library.custom_op("custom_op_test::make_on", mutates_args=(), device_types="cpu")
    def make_on(n: int, device: t.device) -> t.Tensor:
        return t.ones(n, device=device)

    return make(2), make_on(3, "cpu"), make_on(1, t.device("cpu"))


@as_in_pytorch
def test_a_device_type_and_no_way_to_know_the_device(t):
    def make(n: int) -> t.Tensor:
        return t.ones(n)

    def op():
        return t.library.custom_op(
            "custom_op_test::nowhere", make, mutates_args=(), device_types="cpu"
        )

    made = refused(op)
    return isinstance(made, Exception) or isinstance(refused(made, 2), Exception)


# ---- shapes without data ------------------------------------------------------------------------


@as_in_pytorch
def test_on_meta_tensors(t):
    op = numpy_sin(t, "on_meta")
    x = t.ones(2, 3, device="meta")
    without = refused(op, x)
    op.register_fake(lambda x, scale=1.0: t.empty_like(x))
    y = op(x)
    return without, y.shape, y.device, y.dtype


def test_the_error_says_how_to_register_a_fake():
    op = numpy_sin(torch, "no_fake")
    with pytest.raises(RuntimeError, match=r"no fake impl registered for .*no_fake.*register_fake"):
        op(torch.ones(1, device="meta"))


@as_in_pytorch
def test_register_fake(t):
    op = numpy_sin(t, "faked")

    @t.library.register_fake("custom_op_test::faked")
    def _(x, scale=1.0):
        return x.new_empty(x.shape)

    made = op(t.ones(2, device="meta"))
    t.library.register_fake(op, lambda x, scale=1.0: x.new_empty(5), allow_override=True)
    return [
        t.library.get_ctx(),
        made.shape,
        op(t.ones(2, device="meta")).shape,
        refused(t.library.register_fake, "custom_op_test::nothing", lambda x: x),
        refused(t.library.register_fake, "nothing", lambda x: x),
        refused(t.library.register_fake, 3, lambda x: x),
    ]


@as_in_pytorch
def test_a_fake_for_what_decomposes_is_refused(t):
    with t.library._scoped_library("custom_op_test_parts", "FRAGMENT") as lib:
        lib.define("parts(Tensor x) -> Tensor")
        lib.impl("parts", lambda x: x + 1, "CompositeImplicitAutograd")
        register = t.library.register_fake
        return refused(register, "custom_op_test_parts::parts", lambda x: x, lib=lib)


def test_a_size_that_depends_on_data_has_no_fake():
    @torch.library.custom_op("custom_op_test::nonzero", mutates_args=())
    def nonzero(x: torch.Tensor) -> torch.Tensor:
        return torch.nonzero(x)

    @nonzero.register_fake
    def _(x):
        n = torch.library.get_ctx().new_dynamic_size()
        return x.new_empty((n, x.dim()), dtype=torch.int64)

    assert nonzero(torch.tensor([0, 1, 2])).tolist() == [[1], [2]]
    with pytest.raises(NotImplementedError, match=r"custom_op_test::nonzero: .* depends on data"):
        nonzero(torch.ones(3, device="meta"))


# ---- pipelines, threads -------------------------------------------------------------------------


def test_an_op_with_a_fake_is_deferred():
    op = numpy_sin(torch, "deferred", device_types="cpu")
    x = torch.linspace(0, 1, 3)
    eager = op(x)
    with torch.pipeline() as pipe:
        assert not op(x)._pending
        assert pipe.stats()["breaks"] == {"custom_op_test::deferred: no meta kernel": 1}
    op.register_fake(lambda x, scale=1.0: torch.empty_like(x))
    with torch.pipeline():
        y = op(x + 0) * 2
        assert y._pending
    assert y.tolist() == (eager * 2).tolist()


def test_an_op_that_writes_runs_at_once():
    @torch.library.custom_op("custom_op_test::write_now", mutates_args=("x",))
    def write_now(x: torch.Tensor) -> None:
        x.add_(1)

    with torch.pipeline():
        x = torch.ones(2) * 2
        write_now(x)
        y = x * 2
    assert (x.tolist(), y.tolist()) == ([3, 3], [6, 6])


def test_gradients_of_a_deferred_op():
    op = with_gradient(torch, numpy_sin(torch, "deferred_gradient"))
    op.register_fake(lambda x, scale=1.0: torch.empty_like(x))
    grads = []
    for run in (torch.pipeline, torch.enable_grad):
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        with run():
            (op(x * 2) * 3).sum().backward()
        grads.append(x.grad.tolist())
    assert grads[0] == grads[1]


def test_in_threads():
    op = with_gradient(torch, numpy_sin(torch, "threaded"))
    found = []

    def work(n):
        for _ in range(50):
            x = torch.full((2,), float(n), requires_grad=True)
            op(x).sum().backward()
            found.append((n, round(x.grad[0].item(), 5)))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    [each.start() for each in threads]
    [each.join() for each in threads]
    assert sorted(set(found)) == [(n, round(float(np.cos(np.float32(n))), 5)) for n in range(4)]
    assert len(found) == 200


# ---- other modes --------------------------------------------------------------------------------


@as_in_pytorch
def test_without_gradients(t):
    op = with_gradient(t, numpy_sin(t, "modes"))
    x = t.ones(1, requires_grad=True)
    seen = [op(x).requires_grad]
    with t.no_grad():
        seen.append(op(x).requires_grad)
    with t.inference_mode():
        y = op(x)
        seen += [y.requires_grad, y.is_inference()]
    return seen, op(x.detach()).requires_grad


@as_in_pytorch
def test_autocast(t):
    @t.library.custom_op("custom_op_test::half", mutates_args=())
    def half(x: t.Tensor, y: t.Tensor) -> t.Tensor:
        return x * y

    t.library.register_autocast("custom_op_test::half", "cpu", t.bfloat16)
    x, n = t.ones(2), t.tensor([1, 2])
    seen = [half(x, x).dtype]
    with t.autocast("cpu"):
        seen += [half(x, x).dtype, half(x.double(), x.double()).dtype, half(n, n).dtype]
        with t.autocast("cpu", enabled=False):
            seen.append(half(x, x).dtype)
    with t.autocast("cpu", dtype=t.float16):
        seen.append(half(x, x).dtype)
    return seen


def test_what_a_custom_op_registered_is_taken_back_with_a_transaction():
    with registry.scope():
        numpy_sin(torch, "short_lived")
        assert hasattr(torch.ops.custom_op_test, "short_lived")
    assert not hasattr(torch.ops.custom_op_test, "short_lived")
    with pytest.raises(RuntimeError, match="operator custom_op_test::short_lived does not exist"):
        torch.library.register_kernel("custom_op_test::short_lived", "cpu", lambda x: x)
    assert numpy_sin(torch, "short_lived")(torch.zeros(1)).item() == 0


assert pt.library.custom_op  # the oracle knows custom ops
