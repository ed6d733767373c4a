"""Definitions of ops: twice, taken back, and as users are shown them."""

import sys

import pytest

import mindtorch_core as torch
from mindtorch_core.opdefs.define import op


def test_an_op_is_defined_once():
    torch.relu(torch.ones(1))  # from now on it is there
    with pytest.raises(RuntimeError, match="same name and overload name multiple times") as caught:
        op("relu(Tensor self) -> Tensor", doc="Another.", decomposition=lambda self: self)
    assert "Original registration: relu(Tensor self) -> Tensor" in str(caught.value)
    assert torch.relu(torch.tensor([-1.0, 2.0])).tolist() == [0, 2]


def test_the_namespaces_of_ops():
    assert repr(torch.ops) == "<torch.ops>"
    assert "aten" in [*torch.ops]
    with pytest.raises(AttributeError, match="__wrapped__"):
        torch.ops.__wrapped__


def test_a_module_that_registers_ops_is_imported(tmp_path, monkeypatch):
    name = "a_module_with_ops_of_its_own"
    (tmp_path / f"{name}.py").write_text("LOADED = True\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    torch.ops.import_module(name)
    assert sys.modules.pop(name).LOADED
    with pytest.raises(ModuleNotFoundError, match="there_is_no_such_module"):
        torch.ops.import_module("there_is_no_such_module")


def test_a_method_that_there_is_not():
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'reluu'"):
        torch.ones(1).reluu()


@pytest.mark.parametrize("recipe", ["strided", "transposed", "spiral"])
def test_layouts_of_samples(recipe):
    from mindtorch_core.operators.recipes import TensorRecipe, _geometry

    made = TensorRecipe((2, 3), layout=recipe)
    if recipe == "spiral":
        with pytest.raises(ValueError, match=r"layout must be one of .*strided.*, got 'spiral'"):
            _geometry(made)
    else:
        strides, start = _geometry(made)
        assert strides == {"strided": (6, 2), "transposed": (1, 2)}[recipe]
        assert start == 0
