"""Arrays of texts, objects and spans of time beside tensors: compared by identity, refused in arithmetic and as positions."""

import fractions

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome

pt = pytest.importorskip("torch")

ARRAYS = {
    "texts": np.array(["a", "b"]),
    "objects": np.array([1.0, None], dtype=object),
    "numbers as objects": np.array([1.0, 2.0], dtype=object),
    "days": np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
    "records": np.zeros(2, dtype="i4,f4"),
    "a text": np.str_("a"),
}
COMPARED = {
    "==": lambda lib, a: lib.ones(2) == a,
    "!=": lambda lib, a: lib.ones(2) != a,
    "== from the other side": lambda lib, a: a == lib.ones(2),
    "!= from the other side": lambda lib, a: a != lib.ones(2),
}


@pytest.mark.parametrize("way", COMPARED)
@pytest.mark.parametrize("array", [name for name in ARRAYS if name != "numbers as objects"])
def test_they_equal_no_tensor(array, way):
    ours, theirs = (COMPARED[way](lib, ARRAYS[array]) for lib in (torch, pt))
    assert type(ours) is type(theirs) is bool
    assert ours == theirs


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "%", "@", "**", "<"])
@pytest.mark.parametrize("array", ["objects", "numbers as objects", "texts", "records"])
def test_nothing_is_computed_of_them(array, operator):
    code = compile(f"x {operator} a", "test", "eval")
    ours, theirs = (
        outcome(eval, code, {"x": lib.ones(2), "a": ARRAYS[array]}) for lib in (torch, pt)
    )
    assert isinstance(theirs, TypeError)
    assert isinstance(ours, TypeError)


def test_a_result_that_is_no_tensor_is_refused():
    for lib in (torch, pt):
        with pytest.raises(TypeError, match=r"can't convert np.ndarray of type .*object"):
            np.add(lib.ones(2), ARRAYS["numbers as objects"])


POSITIONS = [np.float32(1.5), np.float16(1), 1j, np.complex64(1), fractions.Fraction(1),
             np.timedelta64(1), None, "1"]  # fmt: skip


@pytest.mark.parametrize("among", ["alone", "behind another", "nested"])
@pytest.mark.parametrize("position", POSITIONS, ids=repr)
def test_what_is_no_int_is_no_position_in_a_list(position, among):
    listed = {
        "alone": [position],
        "behind another": [0, position],
        "nested": [[0, 1], [0, position]],
    }
    for lib in (torch, pt):
        read = outcome(lambda lib: lib.arange(3)[listed[among]], lib)
        written = outcome(lambda lib: lib.arange(3).__setitem__(listed[among], 1), lib)
        assert isinstance(read, Exception)
        assert isinstance(written, Exception)


@pytest.mark.parametrize(
    "listed", [[1.0, 2], [np.float64(1), 0], [True, False, True], [np.int8(1)]]
)
def test_floats_of_python_are_cut_off_there(listed):
    assert torch.arange(3)[listed].tolist() == pt.arange(3)[listed].tolist()


class Picture:
    """An array's interface with bytes in it, as an image of PIL has."""

    def __init__(self):
        self.__array_interface__ = {"shape": (1, 2), "typestr": "|u1", "data": b"ab", "version": 3}


@pytest.mark.parametrize("name", ["tensor", "as_tensor", "asarray"])
def test_a_picture_is_no_array(name):
    with pytest.raises(TypeError, match="Picture"):
        getattr(torch, name)(Picture())
    assert isinstance(outcome(getattr(pt, name), Picture()), Exception)
    assert getattr(torch, name)(np.asarray(Picture())).tolist() == [[97, 98]]
