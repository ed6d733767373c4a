"""Modules that moved: the old path works, and a warning at the importing line names the new one."""

import pytest

from mindtorch_core import backend
from mindtorch_core.plugins import moved

SETUP = """
import importlib.util
import pickle
import sys
import warnings

import mindtorch_core as torch
from mindtorch_core import backend
from mindtorch_core.plugins import moved

moved.MOVED.update({
    "mindtorch_core.values_of_old": "mindtorch_core.backend",
    "mindtorch_core.rooms_of_old": "mindtorch_core.dispatch",
    "mindtorch_core.lost": "mindtorch_core.nowhere",
    "mindtorch_core.lost_in_public": "mindtorch_core.utils.nowhere",
    "mindtorch_core.numel": "mindtorch_core.backend",
    "mindtorch_core.ops_of_old": "mindtorch_core.opdefs.define",
})
moved.install()

seen = []
warnings.simplefilter("always")
warnings.showwarning = lambda message, kind, file, line, *rest: seen.append(
    (str(message), kind, file, line)
)


def told(old, new):
    (found,) = seen
    seen.clear()
    message, kind, file, line = found
    assert message == f"{old} has moved to {new}: import it from there", message
    assert (kind, file) == (DeprecationWarning, __file__), found
    with open(file) as source:
        text = source.read().splitlines()[line - 1]
    assert text.endswith("# here"), (line, text)
"""


def run(site, script):
    site.run(SETUP + script)


def test_names_are_those_of_the_new_path(site):
    run(
        site,
        """
from mindtorch_core.values_of_old import pack, Runtime  # here
told("mindtorch_core.values_of_old", "mindtorch_core.backend")
assert pack is backend.pack
from mindtorch_core.values_of_old import taps  # is there already: no second warning
import mindtorch_core.values_of_old as old
assert old.taps is backend.taps
assert dir(old) == dir(backend)
assert seen == []
from mindtorch_core.values_of_old import *
assert numel is backend.numel
try:
    from mindtorch_core.values_of_old import nothing
except ImportError as error:
    assert "nothing" in str(error)
else:
    raise AssertionError("nothing was imported")
""",
    )


def test_a_plain_import_warns_too(site):
    run(
        site,
        """
import mindtorch_core.values_of_old  # here
told("mindtorch_core.values_of_old", "mindtorch_core.backend")
assert torch.values_of_old.numel((2, 3)) == 6
""",
    )


def test_an_import_by_name_and_one_in_a_function_warn_at_their_lines(site):
    run(
        site,
        """
importlib.import_module("mindtorch_core.values_of_old")  # here
told("mindtorch_core.values_of_old", "mindtorch_core.backend")
del sys.modules["mindtorch_core.values_of_old"]

def later():
    from mindtorch_core.values_of_old import pack  # here

later()
told("mindtorch_core.values_of_old", "mindtorch_core.backend")
""",
    )


def test_what_is_private_now_is_imported_from_the_door(site):
    run(
        site,
        """
from mindtorch_core.ops_of_old import fn, op
((message, *_),) = seen
assert message == (
    "mindtorch_core.ops_of_old has moved, and is private now: "
    "import definitions, op for op_of_backend from mindtorch_core.backend instead"
)
assert op("moved_twice(Tensor self) -> Tensor", decomposition=lambda x: x * 2).name == "moved_twice"
assert fn.relu(torch.ones(2)).tolist() == [1.0, 1.0]  # all of it is there, as before
""",
    )


def test_modules_below_one_that_moved(site):
    run(
        site,
        """
import mindtorch_core.rooms_of_old  # here
told("mindtorch_core.rooms_of_old", "mindtorch_core.dispatch")
from mindtorch_core.rooms_of_old.keys import DispatchKey  # here
told("mindtorch_core.rooms_of_old.keys", "mindtorch_core.dispatch.keys")
assert DispatchKey is torch.DispatchKey
old = b"cmindtorch_core.rooms_of_old.keys\\nDispatchKey\\n."
assert pickle.loads(old) is torch.DispatchKey
try:
    import mindtorch_core.rooms_of_old.never_was
except ModuleNotFoundError as error:
    assert error.name == "mindtorch_core.dispatch.never_was", error.name
else:
    raise AssertionError("it was imported")
""",
    )


def test_a_function_of_the_modules_name_stays_where_it_is(site):
    run(
        site,
        """
function = torch.numel
from mindtorch_core.numel import make_tensor  # here
told("mindtorch_core.numel", "mindtorch_core.backend")
import mindtorch_core.numel
assert torch.numel is function
assert torch.numel(torch.ones(2, 3)) == 6
assert make_tensor is backend.make_tensor
""",
    )


def test_what_is_nowhere_is_an_error_as_before(site):
    run(
        site,
        """
for name in ("mindtorch_core.lost", "mindtorch_core.lost_in_public", "mindtorch_core.never_was", "never_was"):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        assert error.name in (name, moved.MOVED.get(name)), error.name
    else:
        raise AssertionError(name)
assert seen == []
assert importlib.util.find_spec("mindtorch_core.values_of_old") is not None  # no import, no warning
assert seen == []
""",
    )


def test_the_warning_may_be_an_error(site):
    run(
        site,
        """
warnings.simplefilter("error")
try:
    import mindtorch_core.values_of_old
except DeprecationWarning as error:
    assert "mindtorch_core.backend" in str(error)
else:
    raise AssertionError("no warning")
""",
    )


def test_what_moved_is_at_its_new_place(site):
    site.run(
        """
import importlib
import warnings
from mindtorch_core.plugins.moved import MOVED

warnings.simplefilter("ignore")
assert ".".join(("mindtorch_core", "dtypes")) in MOVED
for old, new in MOVED.items():
    assert old != new
    assert dir(importlib.import_module(old)) == dir(importlib.import_module(new)), old
"""
    )


def test_what_the_warnings_name_is_there(site):
    """Every entry, and each of the names that its warning says are elsewhere."""
    site.run(
        """
import importlib
import warnings
from mindtorch_core.plugins.moved import MOVED
from mindtorch_core.plugins.public_modules import is_public

said = {}
for old, new in MOVED.items():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(importlib.import_module(old), "__all__")
    (message,) = [str(each.message) for each in caught]
    assert message.startswith(f"{old} has moved"), message
    if is_public(new):
        continue
    assert " is private now: import " in message, message
    parts = message.partition(": import ")[2].removesuffix(" instead").split("; ")
    for part in parts:
        names, _, place = part.rpartition(" from ")
        assert is_public(place), message
        for name in names.split(", "):
            name, _, instead_of = name.partition(" for ")
            there = getattr(importlib.import_module(place), name)
            assert there is getattr(importlib.import_module(new), instead_of or name), (message, name)
            said[old, instead_of or name] = place
assert said["mindtorch_core.modes", "DispatchMode"] == "mindtorch_core"
assert said["mindtorch_core.printing", "set_printoptions"] == "mindtorch_core"
assert said["mindtorch_core.creation", "tensor"] == "mindtorch_core"
assert said["mindtorch_core.testing.recipes", "Sample"] == "mindtorch_core.testing"
"""
    )


def test_what_moved_lies_nowhere():
    stand_in = moved._Moved("mindtorch_core.values_of_old")
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(moved.MOVED, "mindtorch_core.values_of_old", "mindtorch_core.backend")
        for name in ("__path__", "__file__"):
            with pytest.raises(
                AttributeError, match=r"values_of_old' has moved to 'mindtorch_core\.backend'"
            ):
                getattr(stand_in, name)
        patched.setattr(moved, "_warn", lambda *told: None)
        assert stand_in.numel is backend.numel
        with pytest.raises(
            AttributeError, match=r"'mindtorch_core\.backend' has no attribute 'nonesuch'"
        ):
            stand_in.nonesuch
