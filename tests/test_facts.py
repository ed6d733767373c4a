"""Facts in messages: what counts as one, and that a missing one is noticed."""

import pytest

from mindtorch_core.testing.facts import facts, missing


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sizes [2, 3] and [4]", {("sizes", (2, 3)), ("sizes", (4,))}),
        ("torch.Size([2, 3])", {("sizes", (2, 3)), ("name", "Size")}),
        ("shapes (2x3 and 4x5)", {("sizes", (2, 3)), ("sizes", (4, 5))}),
        ("the shape (4,) at index -1", {("sizes", (4,)), ("number", -1.0)}),
        ("of tensor a (3) at 1.5", {("number", 3.0), ("number", 1.5)}),
        ("but self is 3D, or a 2-D tensor", {("number", 3.0), ("number", 2.0)}),
        ("expected Float, torch.int64 or double", {("dtype", d) for d in ("float32", "int64", "float64")}),
        ("[torch.FloatTensor [2]]", {("dtype", "float32"), ("sizes", (2,))}),
        ("got: float != long int", {("dtype", "int64"), ("name", "float")}),
        ("type int8_t", {("dtype", "int8")}),
        ("gather(): argument 'index'", {("name", "gather"), ("name", "index")}),
        ('"lt_cpu" not implemented', {("name", "lt")}),
        ("aten::nonzero: no", {("name", "nonzero")}),
        ("Set allow_unused=True", {("name", "allow_unused")}),
        ("Function 'DivBackward0'", {("name", "DivBackward0")}),
        ("which is output 0 of Exp", {("number", 0.0), ("name", "Exp")}),
        ("must be Tensor, not str", {("name", "str")}),
        ("Tensor on device meta", {("name", "meta")}),
        ("it doesn't match, can't do", set()),
        ("see https://pytorch.org/docs/1.2#x(3) for", set()),
        ("foo() got it, but expected one of:\n * (int dim = 7)", {("name", "foo")}),
    ],
)  # fmt: skip
def test_facts(text, expected):
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("actual", "expected", "lacking"),
    [
        ("expected [2, 3], got [3]", "[3] is not [2, 3]", []),
        ("expected [2, 3]", "size 3", []),
        ("expected [2, 3]", "size 4", [("number", 4.0)]),
        ("expected [2, 3]", "expected [3, 2]", [("sizes", (3, 2))]),
        ("expected 12", "expected 1", [("number", 1.0)]),
        ("got torch.float32", "got Float", []),
        ("got torch.float32", "got Double", [("dtype", "float64")]),
        ("argument 'dim'", "argument 'dims'", [("name", "dims")]),
        ("output 0 of ExpBackward0", "output 0 of Exp", []),
        ("nothing", "nothing at all", []),
    ],
)
def test_missing(actual, expected, lacking):
    assert missing(actual, expected) == lacking
