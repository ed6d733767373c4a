"""What is registered by the methods of a custom op, and how ops and libraries are listed and shown, as in PyTorch."""

import mindtorch_core as torch
from scenarios import as_in_pytorch, refused


def doubled(t, name):
    """A custom op of one tensor; its function is by NumPy, so that nothing else can compute it."""

    @t.library.custom_op(f"definitions_test::{name}", mutates_args=())
    def op(x: t.Tensor) -> t.Tensor:
        return t.from_numpy(x.detach().numpy() * 2)

    return op


@as_in_pytorch
def test_a_dtype_of_autocast(t):
    @t.library.custom_op("definitions_test::told", mutates_args=())
    def op(x: t.Tensor) -> t.Tensor:
        return t.full((), x.element_size())

    op.register_autocast("cpu", t.bfloat16)
    found = [op(t.ones(2)).item()]
    with t.autocast("cpu", t.bfloat16):
        found += [op(t.ones(2)).item(), op(t.ones(2, dtype=t.int64)).item()]
    return found


@as_in_pytorch
def test_a_rule_of_samples(t):
    op = doubled(t, "samples")

    @op.register_vmap
    def rule(info, dims, x):
        return op(x) + info.batch_size, dims[0]

    return t.vmap(op)(t.arange(3.0)).tolist(), t.vmap(op, 1)(t.ones(2, 3)).tolist()


@as_in_pytorch
def test_a_rule_of_modes(t):
    op = doubled(t, "modes")

    class Mode(t.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    @op.register_torch_dispatch(Mode)
    def rule(mode, func, types, args=(), kwargs=None):
        return args[0] - 1

    with Mode():
        inside = op(t.ones(2)).tolist()
    return inside, op(t.ones(2)).tolist()


@as_in_pytorch
def test_a_kernel_of_a_definition(t):
    op = doubled(t, "kernels")

    @t.library.register_kernel(op, "cpu")
    def kernel(x):
        return x + 7

    found = [op(t.ones(2)).tolist()]
    with op.set_kernel_enabled("cpu", enabled=False):
        found.append(op(t.ones(2)).tolist())
    return found, repr(op)


@as_in_pytorch
def test_what_a_library_is_called(t):
    lib = t.library.Library("definitions_shown", "FRAGMENT")
    said = [repr(lib), refused(lambda: t.library.Library("prim", "DEF"))]
    with_key = t.library.Library("aten", "IMPL", "CPU")
    return [*said, repr(with_key)]


@as_in_pytorch
def test_what_a_packet_is_made_of(t):
    lib = t.library.Library("definitions_listed", "FRAGMENT")
    lib.define("op(Tensor x) -> Tensor")
    lib.define("op.number(Tensor x, int n) -> Tensor")
    packet = t.ops.definitions_listed.op
    return sorted(packet.overloads()), packet.default._name, packet.number._name


def test_all_that_is_there_is_gone_through():
    with torch.library._scoped_library("definitions_walked", "FRAGMENT") as lib:
        lib.define("op(Tensor x) -> Tensor")
        lib.define("op.number(Tensor x, int n) -> Tensor")
        assert sorted(torch.ops.definitions_walked.op) == ["default", "number"]
        assert "op" in [*torch.ops.definitions_walked]
    assert {"add", "sort"} <= {*torch.ops.aten}


def test_a_namespace_is_an_identifier():
    for name in ("", "two words", "a::b", "1st"):
        error = refused(lambda name=name: torch.library.Library(name, "FRAGMENT"))
        assert "a namespace must be an identifier" in str(error)
