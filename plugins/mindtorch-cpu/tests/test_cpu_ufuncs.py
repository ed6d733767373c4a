"""What fusion may call instead of a kernel gives what the kernel gives, wherever it writes."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_cpu.ops.ufuncs import REFUSING, UFUNCS

torch.ones(1)
registry.on_demand.define_all()  # now all kernels are registered

VALUES = np.array([0.5, -0.25, 0.0, -0.0, 1.0, 2.5, -3.5, np.inf, -np.inf, np.nan] * 4)
NAMES = [name for name in UFUNCS if registry.known(name) is not None]


def operands(name, dtype):
    first = VALUES.astype(dtype)
    return (first, np.roll(first, 3))[: UFUNCS[name].nin]


def computed(name, arrays, **out):
    with np.errstate(all="ignore"):
        return UFUNCS[name](*arrays, **out)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_a_ufunc_gives_what_the_kernel_gives(name, dtype):
    arrays = operands(name, dtype)
    namespace, _, op = name.partition("::")
    packet = getattr(getattr(torch.ops, namespace), op)
    found = packet(*[torch.from_numpy(a.copy()) for a in arrays]).numpy()
    wanted = computed(name, arrays).astype(found.dtype)
    if not name.endswith("_"):
        assert computed(name, arrays).dtype == found.dtype
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


@pytest.mark.parametrize("step", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith("_")])
def test_every_element_of_an_output_with_strides_is_written(name, dtype, step):
    for gap in (1, 2, 3, 4, 8):
        arrays = [np.repeat(a, gap)[::gap] for a in operands(name, dtype)]
        wanted = computed(name, [a.copy() for a in arrays])
        out = np.empty(wanted.size * step, wanted.dtype)[::step]
        out[...] = ~wanted if wanted.dtype == bool else 77
        computed(name, arrays, out=out)
        np.testing.assert_array_equal(out, wanted, err_msg=f"input strides {gap}")


@pytest.mark.parametrize("name", sorted(REFUSING))
def test_an_op_that_is_said_to_refuse_integers_does(name):
    zeros = torch.zeros(3, dtype=torch.int64)
    packet = getattr(torch.ops.aten, name.removeprefix("aten::"))
    other = zeros - 1 if name.startswith("aten::pow") else zeros
    options = {"rounding_mode": "floor"} if name.startswith("aten::div") else {}
    with pytest.raises(RuntimeError):
        packet(zeros, other, **options)


def test_a_refused_integer_is_reported_where_it_was_recorded():
    x = torch.ones(1 << 18, dtype=torch.int64)
    zero = torch.zeros(1 << 18, dtype=torch.int64)
    with torch.pipeline() as pipe:
        y = x * 2
        z = y % zero
        w = z + 1
        with pytest.raises(torch.PipelineError, match=r"aten::remainder failed") as failure:
            pipe.flush()
    assert failure.value.op == "aten::remainder"
    assert (y == 2).all()
    del z, w
