"""`Tensor` has one place for its attributes: the class body, or the table of what is attached."""

import ast
import importlib
import inspect
import subprocess
import sys

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.calls import generated
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs.packets import OpMethod
from mindtorch_core.tensors import attached
from mindtorch_core.tensors.attached import ATTACHED

# What Python itself puts on a class.
OF_PYTHON = {"__module__", "__doc__", "__dict__", "__weakref__", "__annotations__"}
OF_PYTHON |= {"__static_attributes__", "__firstlineno__"}  # from 3.13


def body():
    """What the class body of `Tensor` names itself."""
    (node,) = ast.parse(inspect.getsource(torch.Tensor)).body
    for each in node.body:
        if isinstance(each, ast.FunctionDef):
            yield each.name
        elif isinstance(each, ast.Assign):
            for target in each.targets:
                yield target.id
            if each.targets[0].id == "__slots__":
                yield from ast.literal_eval(each.value)
        elif isinstance(each, ast.AnnAssign):  # the fields, by both of their names
            yield each.target.id


@pytest.mark.parametrize("late", [False, True])
def test_every_attribute_is_in_the_body_or_in_the_table(late):
    if late:
        registry.on_demand.define_all()
    named = set(body())
    assert set(vars(torch.Tensor)) - named - OF_PYTHON == set(ATTACHED)
    assert not named & set(ATTACHED)


def test_the_table_says_where_an_attribute_comes_from():
    for name, source in ATTACHED.items():
        held = inspect.getattr_static(torch.Tensor, name)
        held = getattr(held, "fget", None) or getattr(held, "__func__", held)
        giving = importlib.import_module(source)
        made = (None, "mindtorch_core", OpMethod.__module__, generated.__name__)
        if getattr(held, "__module__", None) not in made:
            package = held.__module__.rpartition(".")[0]  # methods of ops are generated
            assert source.rpartition(".")[0] == package or held in vars(giving).values(), name
    assert ATTACHED["tolist"] == "mindtorch_core.frontend.python_values"
    assert ATTACHED["cumsum"] == "mindtorch_core.operators.reductions.cumulative"
    assert ATTACHED["record_stream"] == "mindtorch_core.streams"


def test_a_method_is_of_no_module_that_shows_the_function():
    program = """
import pickle
import mindtorch_core as torch
shown = torch.nn.functional.relu_
assert torch.Tensor.relu_.__module__ == "mindtorch_core", torch.Tensor.relu_.__module__
assert pickle.loads(pickle.dumps(torch.Tensor.relu_)) is torch.Tensor.relu_
assert pickle.loads(pickle.dumps(shown)) is shown
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_is_taken_off_is_no_more_in_the_table():
    attached.attach(__name__, {"_a_test": 3})
    assert torch.ones(1)._a_test == 3
    attached.detach("_a_test")
    assert "_a_test" not in ATTACHED
    assert not hasattr(torch.Tensor, "_a_test")


def test_tensor_imports_nothing_from_above():
    """Its faces are attached: the module needs none of them, in functions neither."""
    path = inspect.getfile(torch.Tensor)
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    found = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.level}
    rooms = {name.partition(".")[0] for name in found}
    assert rooms <= {
        "autograd_attributes",
        "autograd_state",
        "dispatch",
        "matrix_attributes",
        "storage",
        "stubs",
        "values",
    }
