"""Numbers between two ends that are tensors: their dtype, device and shape, with and without data."""

import math

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

BOTH = pytest.mark.parametrize("name", ["linspace", "logspace"])
ENDS = {
    "tensors": lambda t, device: (t.tensor(0.0, device=device), t.tensor(2.0, device=device)),
    "start": lambda t, device: (t.tensor(0.0, device=device), 2.0),
    "end": lambda t, device: (0.0, t.tensor(2.0, device=device)),
    "double": lambda t, device: (t.tensor(0.0, dtype=t.float64, device=device), 2.0),
    "complex": lambda t, device: (t.tensor(0j, device=device), 2.0),
}


@BOTH
@pytest.mark.parametrize("device", [None, "cpu", "meta"])
@pytest.mark.parametrize("source", ["cpu", "meta"])
@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
def test_between_tensors(name, ends, source, device):
    found = getattr(torch, name)(*ends(torch, source), 5, device=device)
    place = getattr(pt, name)(*ends(pt, source), 5, device=device).device
    wanted = getattr(pt, name)(*ends(pt, "cpu"), 5)
    assert found.device.type == place.type
    assert (tuple(found.shape), str(found.dtype)) == (tuple(wanted.shape), str(wanted.dtype))
    if place.type == "cpu":
        pt.testing.assert_close(pt.tensor(found.tolist(), dtype=wanted.dtype), wanted)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("steps", [2, 50, 401, 1500, 70000])
def test_lines_are_pytorchs_to_the_last_bit(dtype, steps):
    for ends in [(-50.0, 50.0), (0, 1), (1e-4, 0.02), (7.7, -3.1)]:
        found, wanted = (
            lib.linspace(*ends, steps, dtype=getattr(lib, dtype)) for lib in (torch, pt)
        )
        pt.testing.assert_close(
            pt.tensor(found.tolist()), pt.tensor(wanted.tolist()), rtol=0, atol=0, equal_nan=True
        )


@BOTH
@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(
    ("end", "steps", "options"),
    [([2.0], 5, {}), (2.0, -1, {}), (2j, 5, {"dtype": "float32"})],
    ids=["dimensions", "count", "dtype"],
)
def test_what_is_refused(name, device, end, steps, options):
    for lib, place in ((torch, device), (pt, "cpu")):
        given = {key: getattr(lib, value) for key, value in options.items()}
        with pytest.raises(RuntimeError):
            getattr(lib, name)(0, lib.tensor(end, device=place), steps, **given)


@BOTH
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "uint8", "int32", "int64"])
def test_ends_that_the_dtype_cannot_hold(name, dtype):
    """They are refused, as PyTorch does, not infinite; where nothing is made they do not matter."""
    for ends in [(300, 0), (0, 300), (7e4, 0), (0, 2**31), (1e39, 1), (1, 1e39), (math.inf, 0)]:
        for steps in (0, 2, 3):
            results = []
            for lib in (torch, pt):
                try:
                    made = getattr(lib, name)(*ends, steps, dtype=getattr(lib, dtype))
                    results.append(made.shape == (steps,))
                except RuntimeError as error:
                    results.append("without overflow" in str(error) and "refused")
            assert results[0] == results[1], (ends, steps)
    if not dtype.startswith(("float", "bfloat")):
        for lib in (torch, pt):
            with pytest.raises(RuntimeError, match="without overflow"):
                lib.logspace(30, 1, 1, dtype=getattr(lib, dtype))


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_bounds_are_compared_before_they_are_cut_off(dtype):
    for start, end, step in [(0.5, -0.5, 1.0), (0.1, 0.9, -1.0), (5, 0.5, 0.5), (2.9, 2.1, 1)]:
        for lib in (torch, pt):
            with pytest.raises(RuntimeError, match="inconsistent with step sign"):
                lib.arange(start, end, step, dtype=getattr(lib, dtype))
    for ends in [(0.9, 0.1, -1.0), (2.5, 2.5, -1), (1, 3, 1.5), (3, 1, -1.5)]:
        mine, other = (lib.arange(*ends, dtype=getattr(lib, dtype)) for lib in (torch, pt))
        assert mine.tolist() == other.tolist()
