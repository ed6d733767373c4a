"""Constructors that are called wrongly: Python's own words, and then what they take."""

import pytest

from mindtorch_core.utils._constructed import Constructed, refusal
from mindtorch_core.values.errors import BackendUnavailableError

CLASSES = {
    "A": "def __init__(self, a, b=1, *, c=2): self.device = None",
    "B": "def __init__(self, a, b, device=None): self.device = device",
    "C": "def __init__(self): pass",
    "D": "def __init__(self, a, b, c): pass",
    "J": "def __init__(self, a, b, c, d, e=5): pass",
    "E": "def __init__(self, *args, **kwargs): pass",
    "F": "def __init__(self, a=1): pass",
    "G": "def __init__(self, a, *rest): pass",
    "H": "def __init__(self, *, a, b=2): pass",
    "I": "x = 1",
}
CALLS = [
    ((), {}), ((1,), {}), ((1, 2), {}), ((1, 2, 3), {}), ((1, 2, 3, 4), {}), ((), {"a": 1}), ((), {"b": 1}),
    ((1,), {"c": 3}), ((1,), {"z": 3}), ((), {"z": 3}), ((), {"a": 1, "b": 2, "c": 3}), ((1,), {"a": 1}),
    ((1, 2, 3), {"c": 1}), ((), {"c": 1}), ((1, 2), {"device": None}),
]  # fmt: skip


def made(name, base, module):
    """A class whose functions are named as those of a module are."""
    scope = {"__name__": module, "Base": base}
    exec(f"class {name}(Base):\n    {CLASSES[name]}\n", scope)
    return scope[name]


def called(cls, args, kwargs):
    try:
        return type(cls(*args, **kwargs)).__name__
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize("module", ["mindtorch_nn.of_this_test", "elsewhere"])
@pytest.mark.parametrize(("args", "kwargs"), CALLS)
@pytest.mark.parametrize("name", CLASSES)
def test_the_error_begins_as_pythons(name, args, kwargs, module):
    plain = called(made(name, object, module), args, kwargs)
    found = called(made(name, Constructed, module), args, kwargs)
    if plain == name:
        assert found == name
    else:
        if "(and" in plain:  # Python counts arguments by keyword apart
            plain = plain.partition(" positional arguments (and")[0]
        assert found.startswith(plain)


@pytest.mark.parametrize(
    ("name", "args", "takes"),
    [("A", (1, 2, 3), "A(a, b=1, c=2)"), ("C", (1,), "C()"), ("D", (1,), "D(a, b, c)"), ("D", (1, 2, 3, 4), "D(a, b, c)"),
     ("F", (1, 2), "F(a=1)"), ("J", (1,), "J(a, b, c, d, e=5)")],
)  # fmt: skip
def test_the_arguments_are_listed(name, args, takes):
    assert called(made(name, Constructed, "m"), args, {}).endswith(f" The arguments are: {takes}")


def test_a_class_without_arguments_says_so():
    assert refusal(made("I", Constructed, "m"), (), {}).args == ("I() takes no arguments",)
    assert called(made("I", Constructed, "m"), (1,), {}) == "I() takes no arguments"


@pytest.mark.parametrize(
    ("module", "refused"),
    [("mindtorch_nn.of_this_test", True), ("mindtorch_nnx", False), ("elsewhere", False)],
)
def test_a_device_that_is_not_there_is_said_at_once_by_our_classes_alone(module, refused):
    cls = made("B", Constructed, module)
    assert cls(1, 2, device="cpu").device == "cpu"
    if refused:
        with pytest.raises(BackendUnavailableError, match="device 'xpu'"):
            cls(1, 2, device="xpu")
    else:
        assert cls(1, 2, device="xpu").device == "xpu"


@pytest.mark.parametrize(
    ("module", "hidden"), [("mindtorch_nn.of_this_test", True), ("elsewhere", False)]
)
def test_errors_of_our_constructors_alone_show_none_of_their_frames(module, hidden):
    scope = {"__name__": module, "Base": Constructed}
    code = "class X(Base):\n    def __init__(self):\n        raise ValueError('no')\n"
    exec(compile(code, "/x/mindtorch_nn/of_this_test.py", "exec"), scope)
    assert hasattr(scope["X"].__init__, "__wrapped__") is hidden
    with pytest.raises(ValueError, match="no"):
        scope["X"]()
    inherited = type("Y", (scope["X"],), {"__module__": module})
    assert "__init__" not in vars(inherited)
