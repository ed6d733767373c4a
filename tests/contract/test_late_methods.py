"""Methods of ops that are defined on demand are found at once, and cost other attributes nothing."""

import subprocess
import sys

import mindtorch_core as torch
from mindtorch_core.dispatch.on_demand import told
from mindtorch_core.operators.homes import HOMES


def printed(code):
    """What code prints in a process of its own."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    return done.stdout


def test_every_name_is_a_method():
    x = torch.ones(2)
    rows = [row for _, text in HOMES for row in told(text)]
    names = {name for places, names in rows if "Tensor" in places for name in names}
    assert len(names) > 400
    values = {"H", "T", "imag", "mH", "mT", "real"}
    assert {name for name in names - values if not callable(getattr(x, name, None))} == set()


def test_a_look_at_one_defines_its_module_and_other_attributes_define_nothing():
    code = """
import sys
import mindtorch_core as torch
def late():
    return [n.partition("operators.")[2] for n in sys.modules if n in registry.on_demand._homes]
from mindtorch_core.dispatch.registry import registry
x = torch.ones(2)
(x + 1).sum().tolist()
before = late()
hasattr(x, "no_such_thing"), x.shape, x.mT if x.ndim == 2 else None
hasattr(torch.Tensor, "no_such_thing"), hasattr(torch, "no_such_thing"), dir(x), dir(torch.Tensor)
print(late() == before, x.acosh().tolist(), "elementwise.angles" in late(), "sorting.sorting" in late())
"""
    assert printed(code).split() == ["True", "[0.0,", "0.0]", "True", "False"]


def test_operators_and_class_attributes_find_them_too():
    code = """
import mindtorch_core as torch
x = torch.tensor([1, 2])
print((x << 1).tolist(), torch.Tensor.acosh.__name__, "acosh" in dir(torch.Tensor))
"""
    assert printed(code).split() == ["[2,", "4]", "acosh", "True"]


def test_tensors_have_no_getattr():
    """With one on the class, CPython's fast paths for attributes are off."""
    assert "__getattr__" not in vars(type(torch.Tensor))
    assert not any("__getattr__" in vars(c) or "__getattribute__" in vars(c)
                   for c in torch.Tensor.__mro__[:-1])  # fmt: skip
