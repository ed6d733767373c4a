"""Numbers between two ends that are tensors: their dtype, device and shape, with and without data."""

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
