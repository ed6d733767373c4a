"""Operands on a device of primitives alone: numbers out of range, refused ones, layouts, devices.

The CPU's kernels read numbers and layouts themselves; here the core prepares them.
"""

import operator

import pytest

pytest.importorskip("torch", reason="PyTorch is the oracle")

import bare
import torch as oracle
from compare import same
from convert import THEIRS

import mindtorch_core as torch

NUMBERS = [0, -1, 3, 300, -300, 70000, 1 << 40, 1.5, 1e12, -1e39, 65510.0, float("inf")]
OPS = {
    "+": operator.add,
    "*": operator.mul,
    "/": operator.truediv,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
    "swapped -": lambda x, number: number - x,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "fmod": lambda x, number: x.fmod(number),
    "copysign": lambda x, number: x.copysign(number),
    "xlogy": lambda x, number: x.xlogy(number),
    "add_": lambda x, number: x.add_(number),
}


@pytest.fixture(scope="module", autouse=True)
def device(tmp_path_factory):
    """The bare device, for this module's tests only."""
    with bare.loaded(tmp_path_factory.mktemp("bare")):
        yield


def outcome(op, x, number):
    """What an op gives; the type of its error if it raises."""
    try:
        return op(x, number)
    except RuntimeError as error:
        return type(error)


@pytest.mark.parametrize("place", ["cpu", "bare"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int64", "float16", "float32"])
@pytest.mark.parametrize("name", OPS)
def test_numbers_are_cast_as_in_pytorch(name, dtype, place):
    values = [0, 1] if dtype == "bool" else [1, 2, 5]
    for number in NUMBERS:
        x = torch.tensor(values, dtype=getattr(torch, dtype), device=place)
        theirs = oracle.tensor(values, dtype=getattr(oracle, dtype))
        expected, found = outcome(OPS[name], theirs, number), outcome(OPS[name], x, number)
        if isinstance(expected, type):
            assert found is expected, f"{name} {number}: {found}, not {expected.__name__}"
        else:
            same(found, expected, what=f"{name} {number}")


@pytest.mark.parametrize("place", ["cpu", "bare"])
def test_what_is_stored_has_to_fit(place):
    x = torch.ones(2, dtype=torch.float16, device=place)
    for store in (lambda: x.fill_(1e12), lambda: torch.full_like(x, 1e12), lambda: x.clamp(1e12)):
        with pytest.raises(RuntimeError, match=r"without overflow: 1000000000000\.0"):
            store()


@pytest.mark.parametrize("place", ["cpu", "bare"])
def test_refused_operands_are_refused_before_they_are_converted(place):
    x = torch.ones(2, dtype=torch.uint8, device=place)
    with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
        x - True
    with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
        x.bool() - 1.5
    with pytest.raises(RuntimeError, match="Integers to negative integer powers"):
        x**-1
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        torch.div(x.bool(), True, rounding_mode="floor")


def test_tensors_keep_their_order_of_dimensions_on_another_device():
    for theirs in (
        oracle.arange(6.0).reshape(2, 3).t(),
        oracle.rand(2, 3, 4, 5).to(memory_format=oracle.channels_last),
        oracle.arange(12.0).reshape(3, 4)[:, ::2].t(),
        oracle.ones(3, 1).expand(3, 4),
        oracle.ones(2, 1, 3).transpose(0, 2),
        oracle.ones(0, 3).t(),
    ):
        x = torch.from_numpy(theirs.numpy())
        x = x.as_strided(tuple(theirs.shape), theirs.stride())
        wanted = theirs.to(oracle.float64).stride() if theirs.numel() else None
        for moved in (x.to("bare"), x.to("bare").to("cpu"), x.to("bare").clone() + 1):
            assert wanted in (None, moved.stride())
            assert not moved._is_view()
        assert x.to("bare").tolist() == theirs.tolist()


def test_positions_of_a_split_are_read_on_the_host():
    x = torch.arange(6, device="bare")
    parts = x.tensor_split(torch.tensor([1, 4]))
    assert [p.tolist() for p in parts] == [[0], [1, 2, 3], [4, 5]]
    assert all(p.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() for p in parts)
    with pytest.raises(RuntimeError, match="to be on cpu, but it's on bare"):
        x.tensor_split(torch.tensor([1, 4], device="bare"))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_softmax_of_halves_is_rounded_once(dtype):
    x = torch.linspace(-3, 3, 400).reshape(4, 100)
    for fn in (torch.softmax, torch.log_softmax):
        wanted = getattr(oracle, fn.__name__)(
            oracle.from_numpy(x.to(dtype).float().numpy()), -1
        ).to(THEIRS[dtype])
        found = fn(x.to("bare", dtype), -1)
        oracle.testing.assert_close(
            oracle.from_numpy(found.float().cpu().numpy()),
            wanted.float(),
            rtol=torch.finfo(dtype).eps,
            atol=0,
        )


def test_ops_that_the_cpu_draws_follow_the_device_s_seed():
    rates = torch.full((64,), 30.0, device="bare")
    generator = torch.Generator("bare").manual_seed(5)

    def drawn():
        return torch.poisson(rates, generator=generator).tolist()

    first, second = drawn(), drawn()
    generator.manual_seed(5)
    assert drawn() == first != second
