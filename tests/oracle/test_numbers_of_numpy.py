"""Every op with each whole number in turn as one of NumPy's: what it gives with Python's, which is compared with PyTorch."""

import numpy as np
import pytest

from mindtorch_core.dispatch.schema import parse_schema
from mindtorch_core.testing.comparison import assert_close
from mindtorch_core.testing.conformance.cases import NEEDS_DTYPE, Case
from mindtorch_core.testing.samples import samples
from opinions import OPS, flat
from test_arguments_one_by_one import NAMES, told

# What is new has any value.
NAMES = [name for name in NAMES if name not in ("resize_", "empty_strided") and "empty" not in name]


def whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def of_numpy(value):
    """Values that stand for one: a number as NumPy's, or a list whose first or last number is."""
    if whole(value):
        yield np.int64(value)
        yield np.uint8(value) if value >= 0 else np.int8(value)
    elif isinstance(value, list | tuple) and value and all(map(whole, value)):
        yield (np.int64(value[0]), *value[1:])
        yield (*value[:-1], np.uint8(value[-1]) if value[-1] >= 0 else np.int8(value[-1]))


def changed(d, sample):
    """A sample with each whole number in turn as NumPy's, and the name of its argument."""
    for i, a in enumerate(parse_schema(d.schema).arguments):
        if a.type != "int":
            continue
        for other in of_numpy(sample.args[i]) if i < len(sample.args) else ():
            args = (*sample.args[:i], other, *sample.args[i + 1 :])
            yield a.name, type(sample)(sample.name, args, sample.kwargs)
        for other in of_numpy(sample.kwargs.get(a.name)):
            yield a.name, type(sample)(sample.name, sample.args, {**sample.kwargs, a.name: other})


def results(case, sample):
    args, kwargs = sample.build("cpu")
    found = told(lambda: flat(case.call(args, kwargs)))
    assert not isinstance(found, Exception), f"{case.op.name} {sample}: {found!r}"
    return found


@pytest.mark.parametrize("name", NAMES)
def test_each_number(name):
    d = OPS[name]
    for each in [*samples(d)][:2]:
        sample = each if name in NEEDS_DTYPE else each.in_float64()
        for what, other in changed(d, sample):
            pairs = zip(
                results(Case(d, other), other), results(Case(d, sample), sample), strict=True
            )
            for mine, expected in pairs:
                assert_close(mine.detach(), expected.detach(), equal_nan=True, msg=what)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_each_scalar(name):
    """Arithmetic of unsigned numbers wraps around: `lerp` with a weight of numpy.uint64(2) gave -1.8e19."""
    d = OPS[name]
    sample = next(iter(samples(d)), None)
    for i, a in enumerate(parse_schema(d.schema).arguments) if sample else ():
        if a.type not in ("Scalar", "float") or a.is_list:
            continue
        for plain, other in ((3, np.uint64(3)), (3, np.uint8(3)), (2.0, np.float16(2))):
            outcomes = []
            for number in (plain, other):
                args, kwargs = sample.build("cpu")
                if i < len(args):
                    args = (*args[:i], number, *args[i + 1 :])
                else:
                    kwargs[a.name] = number
                found = told(
                    lambda args=args, kwargs=kwargs: flat(Case(d, sample).call(args, kwargs))
                )
                refused = isinstance(found, Exception)
                outcomes.append(
                    type(found) if refused else [(t.dtype, str(t.detach().tolist())) for t in found]
                )
            assert outcomes[0] == outcomes[1], f"{a.name}={other!r}"
