"""`torch.fx`: what tracing records, beside what PyTorch records of the same programs."""

import builtins
import importlib
import math
import operator
import threading
from typing import Dict, List, Optional, Tuple, Union  # noqa: UP035  (as programs write them)

import pytest

import mindtorch_core as mt
import mindtorch_core.fx

pt = pytest.importorskip("torch")
importlib.import_module("torch.fx")


def net(torch):
    """A module that does a bit of everything."""
    F = torch.nn.functional

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv2d(3, 4, 3)
            self.bn = torch.nn.BatchNorm2d(4)
            self.fc = torch.nn.Linear(4, 2)
            self.scale = torch.nn.Parameter(torch.ones(2))
            self.register_buffer("shift", torch.ones(2))
            self.tail = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(2, 2))

        def forward(self, x, y=None, *, k: int = 3) -> torch.Tensor:
            x = F.relu(self.bn(self.conv(x)), inplace=True)
            x = F.max_pool2d(x, 2).mean((2, 3))
            x = torch.flatten(x.view(x.size(0), -1), 1)
            x = self.tail(self.fc(x) + self.scale * 2)
            x = x[:, 0:2] + x[..., None].squeeze(-1) - self.shift
            a, b = torch.split(x, 1, dim=1)
            x = torch.cat([x, -x, 2 - x, x**2, 1 / (x.abs() + 1), a, b], dim=-1)
            x = (
                F.gelu(x)
                + F.softmax(x, dim=-1)
                + F.linear(x, x[:1].expand(x.shape[1], -1).to(x.dtype))
            )
            return x.to(torch.float64) / 2 + (x // 2).detach().clamp(max=float("inf"))

    return Net()


def functions(torch):
    """Functions from everywhere, on values that are not there."""
    F = torch.nn.functional

    def call(x, w):
        return (
            F.conv2d(x, w), torch.conv2d(x, w), F.dropout(x, 0.5, True), torch.einsum("ij,jk", x, w),
            torch.fft.fft(x), torch.linalg.norm(x), torch.special.erf(x), F.interpolate(x, scale_factor=2.0),
            F.cross_entropy(x, w), F.scaled_dot_product_attention(x, x, x), torch.stack([x, w]),
            torch.norm(x), F.one_hot(x), F.pad(x, (1, 1)) if torch is None else x.T, ~(x > 1) | (x < w),
            torch.where(x, x, w), abs(x), x @ w, getattr(x, "shape")[0], torch.device("cpu"),  # noqa: B009
            {"a": x, "b": (w, [x])}, slice(0, x, 2), x.softmax(-1), torch.Tensor.relu(x) if torch is mt else x.relu(),
        )  # fmt: skip

    return call


def test_graphs_and_code_are_those_of_pytorch():
    ours, theirs = (lib.fx.symbolic_trace(net(lib)) for lib in (mt, pt))
    assert ours.code == theirs.code
    assert str(ours.graph) == str(theirs.graph)
    assert str(ours) == str(theirs)
    assert ours.print_readable(print_output=False) == theirs.print_readable(print_output=False)


def test_functions_have_the_names_that_pytorch_writes():
    # `torch.Tensor.relu(x)` of what is no tensor is refused by PyTorch, and recorded here.
    ours, theirs = (lib.fx.symbolic_trace(functions(lib)) for lib in (mt, pt))
    assert ours.code == theirs.code
    assert str(ours.graph) == str(theirs.graph)


AMONG_PLAIN_ARGUMENTS = [
    lambda lib, x: lib.zeros(x.shape),
    lambda lib, x: lib.full((x.shape[0], 2), 1.0),
    lambda lib, x: lib.ones(2, device=x.device),
    lambda lib, x: lib.arange(x.size(0)) + lib.eye(x.size(0)),
    lambda lib, x: lib.ones(2).repeat(x.size(0), 1),
    lambda lib, x: lib.ones(2).to(x.device).type_as(x),
    lambda lib, x: (lib.ones(2) == x) | (lib.ones(2) ** x < x),
    lambda lib, x: lib.ones(2)[x] + lib.ones(2).view(x),
    lambda lib, x: lib.ops.aten.add(x, 1) + lib.ops.aten.view(x, [2]),
]


@pytest.mark.parametrize("program", AMONG_PLAIN_ARGUMENTS)
def test_values_that_are_not_there_among_sizes_devices_and_constants(program):
    ours, theirs = (lib.fx.symbolic_trace(lambda x: program(lib, x)) for lib in (mt, pt))
    assert ours.code == theirs.code


def test_what_pytorch_refuses_is_recorded_too():
    traced = mt.fx.symbolic_trace(lambda x: mt.ones(4)[: x.size(0)] + mt.ones(x.size(0), 1))
    assert traced(mt.ones(2)).tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_a_device_that_is_none_is_refused_elsewhere():
    proxy = mt.fx.Proxy(mt.fx.Graph().placeholder("x"))
    with pytest.raises(TypeError, match=r"must be str or torch.device, not Attribute"):
        mt.ones(2, device=proxy.device)


def test_annotations():
    def program(lib):
        def annotated(
            x: List[str], y: Dict[str, lib.Tensor], z: Optional[int], a: list[int], b: "Tensor",  # noqa: F821, UP006, UP045
            c: Tuple[int, ...], d: Union[int, str], e: int | None, f: lib.nn.Module, g: Tuple[()],  # noqa: UP006, UP007
        ) -> List[lib.Tensor]:  # fmt: skip  # noqa: UP006
            return x

        traced = lib.fx.symbolic_trace(annotated)
        return traced.code, str(traced.graph)

    assert program(mt) == program(pt)


def test_a_name_of_the_shell_is_not_pythons(monkeypatch):
    monkeypatch.setattr(builtins, "_", 3, raising=False)
    graph = mt.fx.Graph()
    assert graph.placeholder("_").name == "_"


def test_a_traced_module_does_what_the_module_does():
    mt.manual_seed(0)
    module = net(mt)
    traced = mt.fx.symbolic_trace(module)
    x = mt.rand(2, 3, 8, 8, requires_grad=True)
    module.eval(), traced.eval()
    mt.testing.assert_close(traced(x), module(x))
    traced(x).sum().backward()
    assert x.grad is not None
    assert traced.fc.weight is module.fc.weight


def test_targets_are_the_functions_that_programs_compare_with():
    F = mt.nn.functional
    traced = mt.fx.symbolic_trace(lambda x: F.relu(torch_add(x, 1)) + x.view(-1))
    targets = [node.target for node in traced.graph.nodes if node.op.startswith("call")]
    assert targets == [mt.add, F.relu, "view", operator.add]
    assert traced.graph.find_nodes(op="call_function", target=mt.add)[0].args[1] == 1


def torch_add(x, y):
    return mt.add(x, y)


def _branch(x):
    return x if x.sum() > 0 else -x


def _loop(x):
    return [each for each in x]  # noqa: C416


def _length(x):
    return len(x)


def _spread(x):
    return max(*x)


@pytest.mark.parametrize("program", [_branch, _loop, _length, _spread])
def test_what_cannot_be_traced_is_said_in_pytorchs_words(program):
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        pt.fx.symbolic_trace(program)
    with pytest.raises(Exception) as ours:  # noqa: PT011
        mt.fx.symbolic_trace(program)
    assert str(ours.value) == str(theirs.value)
    assert type(ours.value).__name__ == type(theirs.value).__name__


def test_modules_are_as_before_after_an_error():
    call, get = mt.nn.Module.__call__, mt.nn.Module.__getattr__

    class Broken(mt.nn.Module):
        def forward(self, x):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mt.fx.symbolic_trace(Broken())
    assert mt.nn.Module.__call__ is call
    assert mt.nn.Module.__getattr__ is get
    assert "__call__" not in vars(mt.nn.Module)
    assert math.sqrt(4) == 2


def test_other_threads_do_not_notice():
    class Waits(mt.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = mt.nn.Linear(1, 1)

        def forward(self, x):
            seen = []
            work = threading.Thread(target=lambda: seen.append(other(mt.ones(1))))
            work.start()
            work.join()
            assert type(seen[0]) is mt.Tensor
            return self.inner(x)

    other = mt.nn.Linear(1, 1)
    traced = mt.fx.symbolic_trace(Waits())
    assert [n.op for n in traced.graph.nodes] == ["placeholder", "call_module", "output"]


def test_threads_trace_one_after_the_other():
    both, ended, graphs = threading.Event(), threading.Event(), {}

    class First(mt.nn.Module):
        def forward(self, x):
            second.start()
            both.wait(0.3)  # nobody comes while this thread has exchanged the methods
            return x + 1

    class Second(mt.nn.Module):
        def forward(self, x):
            both.set()
            ended.wait(30)
            return x * 2

    second = threading.Thread(target=lambda: graphs.update(b=mt.fx.symbolic_trace(Second())))
    graphs["a"] = mt.fx.symbolic_trace(First())
    ended.set()
    second.join()
    assert [graphs[k](mt.ones(1)).item() for k in "ab"] == [2, 2]
    assert "__call__" not in vars(mt.nn.Module)


@pytest.mark.parametrize(
    ("program", "concrete"),
    [
        (lambda x, flag: x + 1 if flag else x - 1, {"flag": False}),
        (lambda x, flag: x + 1 if flag is None else x - 1, {"flag": None}),
        (lambda d: d["a"] + sum(d["b"]), {"d": {"a": "PH", "b": ["PH", "PH"]}}),
    ],
)
def test_arguments_with_values(program, concrete):
    def given(lib, value):
        kind = type(value)
        if kind is dict:
            return {key: given(lib, each) for key, each in value.items()}
        return (
            [given(lib, each) for each in value]
            if kind is list
            else lib.fx.PH
            if value == "PH"
            else value
        )

    ours, theirs = (lib.fx.symbolic_trace(program, given(lib, concrete)) for lib in (mt, pt))
    assert ours.code == theirs.code
    if "d" in concrete:
        assert ours({"a": 1, "b": [2, 3]}) == theirs({"a": 1, "b": [2, 3]}) == 6
    else:
        assert ours(3, concrete["flag"]) == theirs(3, concrete["flag"])


def test_spread_arguments():
    def program(*args, **kwargs):
        return args[0] + kwargs["k"]

    ours, theirs = (lib.fx.symbolic_trace(program) for lib in (mt, pt))
    assert ours.code == theirs.code
    assert ours(1, k=2) == theirs(1, k=2) == 3


def test_functions_of_python_are_recorded():
    ours, theirs = (lib.fx.symbolic_trace(lambda x: math.sqrt(x) + 1) for lib in (mt, pt))
    assert ours.code.replace("mindtorch_core", "torch") == theirs.code
    assert ours(4.0) == 3.0


def test_wrap_is_for_the_top_level_of_modules():
    with pytest.raises(
        NotImplementedError, match="wrap must be called at the top level of a module"
    ):
        mt.fx.wrap("len")
    with pytest.raises(RuntimeError, match="Unsupported type for global function"):
        mt.fx.wrap(3)


def test_stack_traces_and_paths_of_modules():
    def traces(lib):
        tracer = lib.fx.Tracer()
        tracer.record_stack_traces = True
        graph = tracer.trace(net(lib))
        return [(n.stack_trace, [*n.meta.get("nn_module_stack", {})]) for n in graph.nodes]

    # PyTorch's go on into its own files.
    for (ours, path), (theirs, their_path) in zip(traces(mt), traces(pt), strict=True):
        assert path == their_path
        assert ours == theirs if ours is None else theirs.startswith(ours)


def test_what_a_tracer_says_is_a_leaf():
    class Outer(mt.fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return module_qualified_name == "1"

    layers = mt.nn.Linear(2, 2), mt.nn.Sequential(mt.nn.ReLU()), mt.nn.ReLU()
    graph = Outer().trace(mt.nn.Sequential(*layers))
    assert [n.target for n in graph.nodes if n.op == "call_module"] == ["1"]
    assert graph.find_nodes(op="call_function", target=mt.nn.functional.relu)
    assert graph.find_nodes(op="get_attr", target="0.weight")


def test_known_shapes_of_parameters():
    class Asks(mt.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = mt.nn.Parameter(mt.ones(3, 2))

        def forward(self, x):
            return x @ self.weight if self.weight.shape[0] == 3 else x

    graph = mt.fx.Tracer(param_shapes_constant=True).trace(Asks())
    assert [n.op for n in graph.nodes] == ["placeholder", "get_attr", "call_function", "output"]
    with pytest.raises(mt.fx.proxy.TraceError):
        mt.fx.Tracer().trace(Asks())
