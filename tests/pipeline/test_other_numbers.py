"""A block that comes again with other numbers gives what eager calls give: values, shapes and errors."""

import math

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs.packets import front
from mindtorch_core.testing.samples import samples

OTHERS = {int: (0, -1, 7, 300), float: (0.0, -1.5, 2.0, 0.25, math.nan)}


def calls():
    """By name of the op: samples with numbers that others can stand for, and these calls."""
    registry.on_demand.define_all()
    for entry in registry:
        d = entry.definition
        if d is None or not entry.name.startswith("aten::") or d.traits.data_dependent:
            continue
        numeric = {
            a.name for a in entry.schema.arguments if a.type in ("Scalar", "float", "Tensor")
        }
        at = [i for i, a in enumerate(entry.schema.positional) if a.name in numeric]
        for sample in samples(d)[:3]:
            places = [i for i in at if i < len(sample.args) and type(sample.args[i]) in OTHERS]
            places += [k for k, v in sample.kwargs.items() if k in numeric and type(v) in OTHERS]
            if places:
                yield pytest.param(entry, sample, places, id=f"{d.name}-{sample.name}")


def outcome(call, args, kwargs):
    """Shapes, dtypes and values of the results, of what was written where there is none; or that it fails."""
    torch.manual_seed(0)
    try:
        found = call(*args, **kwargs)
    except Exception:  # noqa: BLE001  (kernels may refuse what rules do otherwise)
        return "an error"
    found = args[0] if found is None else found
    found = found if isinstance(found, tuple | list) else (found,)
    return [(t.shape, t.dtype, np.asarray(t.tolist())) for t in found if hasattr(t, "shape")]


def agrees(found, wanted):
    if "an error" in (found, wanted):
        return found == wanted
    return len(found) == len(wanted) and all(
        a[:2] == b[:2] and np.allclose(a[2], b[2], rtol=1e-4, atol=1e-5, equal_nan=True)
        for a, b in zip(found, wanted, strict=True)
    )


@pytest.mark.parametrize(("entry", "sample", "places"), [*calls()])
def test_a_block_with_other_numbers_gives_what_eager_calls_give(entry, sample, places):
    function = front(entry)

    def deferred(*args, **kwargs):
        with torch.pipeline():
            return function(*args, **kwargs)

    for place in places:
        args, kwargs = sample.build("cpu")
        given = args[place] if isinstance(place, int) else kwargs[place]
        for number in (given, given, given, *OTHERS[type(given)], given):
            wanted, found = (
                outcome(call, *changed(sample, place, number)) for call in (function, deferred)
            )
            assert agrees(found, wanted), (place, number, found, wanted)


def changed(sample, place, number):
    args, kwargs = sample.build("cpu")
    if isinstance(place, int):
        return (*args[:place], number, *args[place + 1 :]), kwargs
    return args, kwargs | {place: number}


def test_numbers_that_are_equal_but_not_the_same_come_in_turns():
    """What straight code keeps of a number is that of this very object: zeros of both signs are equal."""
    x, found = torch.tensor([1.0, -2.0]), []
    numbers = (0.0, -0.0, -0.0, 0.0, math.nan, 2.0, -0.0, 3.5, 0.0)
    for number in numbers * 3:
        with torch.pipeline():
            y = ((x * number) * 1.0).neg()
        found.append(y.numpy().copy())
    for got, number in zip(found, numbers * 3, strict=True):
        wanted = -((np.float32([1, -2]) * np.float32(number)) * np.float32(1))
        assert got.tobytes() == wanted.tobytes()


def test_none_does_not_stand_for_a_tensor_that_has_not_come_yet():
    x, w, b = torch.ones(1, 2), torch.eye(2), torch.tensor([3.0, 4.0])

    def block(bias):
        with torch.pipeline():
            return torch.nn.functional.linear(x, w, bias) + 1

    for bias, wanted in [(b, [5, 6]), (None, [2, 2])] * 4 + [(b, [5, 6])] * 5 + [(None, [2, 2])]:
        assert block(bias).tolist() == [wanted]


class Listed(list):
    """Such lists have no hash, and are not what PyTorch calls a list of ints only by their class."""


def test_arguments_of_a_class_of_the_users_own():
    for n in range(1, 5):
        x = torch.full((30, 40), float(n))
        with torch.pipeline():
            y = ((x * 2).sum(Listed([0])) * 2 + 1) * 3
        assert y.tolist() == [(120 * n + 1) * 3.0] * 40
