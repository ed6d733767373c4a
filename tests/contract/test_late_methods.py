"""Methods of ops that are defined on demand are found at once, and cost other attributes nothing."""

import subprocess
import sys
from pathlib import Path

import mindtorch_core as torch
from mindtorch_core.operators.late_methods import LATE_METHODS

ROOT = Path(__file__).parents[2]


def printed(code, *path):
    """What a line of code prints in a process of its own."""
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}\n{code}"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    return done.stdout


def test_the_list_is_what_its_script_writes():
    found = printed("import make_late_methods as m; print(m.text(), end='')", str(ROOT / "docs"))
    place = ROOT / "mindtorch_core" / "operators" / "late_methods.py"
    assert place.read_text("utf-8") == found, "run: python docs/make_late_methods.py"


def test_every_name_is_a_method():
    x = torch.ones(2)
    assert [name for name in LATE_METHODS.split() if not callable(getattr(x, name, None))] == []


def test_a_look_at_one_defines_the_ops_and_other_attributes_do_not():
    code = """
import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
x = torch.ones(2)
(x + 1).sum().tolist()
hasattr(x, "no_such_thing"), x.shape, x.mT if x.ndim == 2 else None
print(registry.rest.pending, x.acosh().tolist(), registry.rest.pending)
"""
    assert printed(code).split() == ["True", "[0.0,", "0.0]", "False"]


def test_operators_and_class_attributes_find_them_too():
    code = """
import mindtorch_core as torch
x = torch.tensor([1, 2])
print((x << 1).tolist(), torch.Tensor.acosh.__name__)
"""
    assert printed(code).split() == ["[2,", "4]", "acosh"]


def test_tensors_have_no_getattr():
    """With one on the class, CPython's fast paths for attributes are off."""
    assert not any("__getattr__" in vars(c) or "__getattribute__" in vars(c)
                   for c in torch.Tensor.__mro__[:-1])  # fmt: skip
