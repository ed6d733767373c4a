"""The namespace on other devices: meta tensors, a third party's backend, and what is said about devices."""

from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core import array_api as xp

np = pytest.importorskip("numpy")

from against_numpy import of, sample, tensors  # noqa: E402

EXAMPLES = Path(__file__).parents[2] / "examples"
A, B = sample("float32", (4, 3)), sample("float32", (3,), 1)
SQUARE = sample("float64", (2, 3, 3))
INTS = sample("int32", (4, 3))

# A call of each kind of function; those whose result's shape depends on elements need elements.
CALLS = {
    "add": (A, B),
    "add number": (2, A),
    "maximum": (A, 1.5),
    "floor_divide": (A, B),
    "remainder": (A, 2),
    "expm1": (SQUARE.astype("complex128"),),
    "sign": (A,),
    "clip": (A, -1, 1),
    "astype": (A, np.dtype("int8")),
    "concat": ((A, INTS),),
    "repeat": (A, 2),
    "reshape": (A, (2, 6)),
    "roll": (A, 1),
    "tile": (A, (2, 1)),
    "unstack": (A,),
    "meshgrid": (B, B),
    "sum": (INTS,),
    "prod": (A,),
    "var": (A,),
    "cumulative_sum": (B,),
    "diff": (A,),
    "argmax": (A,),
    "sort": (A,),
    "argsort": (A,),
    "count_nonzero": (A,),
    "searchsorted": (B, A),
    "take": (B, np.array([0, -1])),
    "take_along_axis": (A, np.array([[0], [1], [-1], [2]])),
    "where": (A > 0, A, 0),
    "matmul": (A, B),
    "vecdot": (A, B),
    "tensordot": (SQUARE[0], SQUARE[0]),
    "linalg.cross": (A, B),
    "linalg.solve": (SQUARE, SQUARE),
    "linalg.svd": (SQUARE,),
    "linalg.trace": (SQUARE,),
    "linalg.matrix_norm": (SQUARE,),
    "fft.fftn": (SQUARE,),
    "fft.fftshift": (A,),
}


def facts(result):
    if isinstance(result, torch.Tensor):
        return [(tuple(result.shape), result.dtype)]
    return [fact for each in result for fact in facts(each)]


def moved(tree):
    if isinstance(tree, torch.Tensor):
        return tree.to("meta")
    return type(tree)(map(moved, tree)) if type(tree) in (tuple, list) else tree


@pytest.mark.parametrize("call", CALLS)
def test_meta_tensors_have_the_shapes_and_dtypes(call):
    function, arguments = of(xp, call.split()[0]), tensors(list(CALLS[call]))
    result = function(*moved(arguments))
    assert facts(result) == facts(function(*arguments))
    devices = {
        each.device.type for each in ([result] if isinstance(result, torch.Tensor) else result)
    }
    assert devices == {"meta"}


def test_a_meta_tensor_has_no_different_elements():
    with pytest.raises((NotImplementedError, RuntimeError)):
        xp.unique_values(torch.ones(3, device="meta"))


def test_questions():
    info = xp.__array_namespace_info__()
    assert info.capabilities() == {
        "boolean indexing": True,
        "data-dependent shapes": True,
        "max dimensions": 64,
    }
    assert torch.device("cpu") in info.devices()
    assert info.default_device() == torch.device("cpu")
    with torch.device("meta"):
        assert info.default_device() == torch.device("meta")
        assert xp.zeros(1).device == torch.device("meta")
    assert list(info.dtypes(kind=("bool", "real floating"))) == ["bool", "float32", "float64"]
    assert len(info.dtypes()) == 13
    with pytest.raises(ValueError, match="no kind 'all'"):
        info.dtypes(kind="all")


def test_as_many_dimensions_as_are_promised():
    most = xp.__array_namespace_info__().capabilities()["max dimensions"]
    assert xp.sum(xp.ones((1,) * most)).item() == 1


@pytest.mark.parametrize("default", [torch.float32, torch.float64])
def test_default_dtypes_are_those_of_the_functions(default):
    torch.set_default_dtype(default)
    try:
        found = xp.__array_namespace_info__().default_dtypes(device=torch.device("cpu"))
        assert found["real floating"] is xp.ones(1).dtype is xp.asarray(0.5).dtype is default
        assert found["complex floating"] is xp.asarray(1j).dtype
        assert found["integral"] is xp.arange(3).dtype
        assert found["indexing"] is xp.argmax(xp.ones(3)).dtype
    finally:
        torch.set_default_dtype(torch.float32)


def test_a_third_partys_device(site):
    site.project(EXAMPLES / "mindtorch-acme")
    site.run(
        """
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device="acme")
xp = x.__array_namespace__()
assert xp.__array_namespace_info__().devices().count(torch.device("acme:0")) == 1
for result in (xp.add(1, x), xp.multiply(x, x), xp.sum(x, axis=0), xp.reshape(x, (4,)),
               xp.matmul(x, x), xp.zeros_like(x), xp.asarray(x), x.mT):
    assert result.device == x.device
assert xp.add(1, x).to("cpu").tolist() == [[2.0, 3.0], [4.0, 5.0]]
assert xp.matmul(x, x).to("cpu").tolist() == [[7.0, 10.0], [15.0, 22.0]]
assert xp.asarray(x.to("cpu"), device="acme").device == x.device
"""
    )
