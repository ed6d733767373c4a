"""Names of PyTorch's inner modules that pfhedge, asdl, fairscale and ptflops take, and what they do."""

import importlib
import sys

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


@pytest.mark.parametrize("lib", [torch, pt], ids=["mindtorch", "pytorch"])
def test_a_range_of_nvtx_stands_before_a_function_and_is_refused_where_it_begins(lib):
    @importlib.import_module(f"{lib.__name__}.cuda.nvtx").range("of {}", 3)
    def f():
        raise AssertionError("it does not begin")

    with pytest.raises((RuntimeError, NotImplementedError)):
        f()


@pytest.mark.parametrize("lib", [torch, pt], ids=["mindtorch", "pytorch"])
def test_what_waits_for_cuda_is_not_called_without_it(lib):
    lib.cuda._lazy_call(lambda: pytest.fail("there is no CUDA"), seed=True)


def test_an_overload_knows_its_packet():
    for lib in (torch, pt):
        add = lib.ops.aten.add.Tensor
        assert add._overloadpacket is lib.ops.aten.add
        assert add._name == "aten::add.Tensor"


@pytest.mark.parametrize(
    "values",
    [
        [1, 22, -3],
        [1.5, -22.25],
        [1.0, float("inf")],
        [],
        [True],
        [1e-6, 1.0],
        [float("nan"), -1.0],
        [0.0],
        [float("-inf"), 2.0],
        [1e9, -2.0],
    ],
)
def test_elements_are_formatted(values):
    ours, theirs = (lib._tensor_str._Formatter(lib.tensor(values)) for lib in (torch, pt))
    assert ours.width() == theirs.width()
    for v in [*values, 5, 0.25, float("-inf")]:
        if isinstance(v, float) == bool(values and isinstance(values[0], float)):
            assert ours.format(v) == theirs.format(v)


@pytest.mark.parametrize("lib", [torch, pt], ids=["mindtorch", "pytorch"])
def test_whether_a_checkpoint_has_gradients(lib, recwarn):
    checkpoint = importlib.import_module(f"{lib.__name__}.utils.checkpoint")
    checkpoint.check_backward_validity([3, lib.ones(1, requires_grad=True)])
    assert not recwarn
    checkpoint.check_backward_validity((lib.ones(1), "x"))
    assert "Gradients will be None" in str(recwarn.pop(UserWarning).message)


def test_what_the_processor_can_do():
    found, expected = torch.cpu.get_capabilities(), pt.cpu.get_capabilities()
    common = found.keys() & expected.keys() - {"cpu_name"}
    assert common >= {"architecture", "num_logical_cores"}
    assert {name: found[name] for name in common} == {name: expected[name] for name in common}
    if sys.platform == "linux":  # elsewhere the system tells no flags
        assert {name for name, value in expected.items() if isinstance(value, bool)} <= found.keys()
    with pytest.raises(TypeError):
        found["avx2"] = 1
    assert torch.cpu.get_capabilities() is found
    assert torch.cpu.is_initialized() is pt.cpu.is_initialized() is True


@pytest.mark.parametrize("lib", [torch, pt], ids=["mindtorch", "pytorch"])
def test_the_hash_of_a_tensor_is_its_identity(lib):
    x = lib.ones(2)
    assert hash(x) == id(x)
    assert hash(lib.nn.Parameter(x)) != hash(x)


def test_a_method_for_a_script_runs_as_python():
    class Net(torch.nn.Module):
        @torch.jit.script_method
        def twice(self, x):
            return x * 2

    assert Net().twice(torch.ones(1)).item() == 2


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # of PyTorch's
@pytest.mark.parametrize("lib", [torch, pt], ids=["mindtorch", "pytorch"])
def test_a_module_that_asks_for_a_script_is_a_module(lib):
    class Net(lib.jit.ScriptModule):
        __constants__ = ("scale",)

        def __init__(self):
            super().__init__()
            self.scale = 3
            self.line = lib.nn.Linear(2, 2)

        @lib.jit.script_method
        def forward(self, x):
            return self.line(x) * self.scale

    net = Net()
    x = lib.ones(1, 2)
    assert lib.equal(net(x), lib.nn.functional.linear(x, net.line.weight, net.line.bias) * 3)
    assert sorted(net.state_dict()) == ["line.bias", "line.weight"]
    assert issubclass(lib.jit.ScriptModule, lib.nn.Module)
    assert lib.jit._script.ScriptModule is lib.jit.ScriptModule
    assert isinstance(net, lib.jit.ScriptModule)
    assert not isinstance(lib.nn.Linear(2, 2), lib.jit.ScriptModule)
