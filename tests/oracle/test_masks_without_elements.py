"""Writes through masks where nobody knows where they hold: on meta, and in pipelines, which go on."""

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome
from mindtorch_core.testing.facts import missing

pt = pytest.importorskip("torch")

WRITES = {
    "a number": lambda t, x, mask: x.__setitem__(mask, 7),
    "one": lambda t, x, mask: x.__setitem__(mask, t.ones(1, device=x.device)),
    "one of the CPU's": lambda t, x, mask: x.__setitem__(mask, t.tensor(7.0)),
    "several": lambda t, x, mask: x.__setitem__(mask, t.ones(5, 4, device=x.device)),
    "a row": lambda t, x, mask: x.__setitem__(mask, t.ones(4, device=x.device)),
    "beside a slice": lambda t, x, mask: x.T.__setitem__((slice(1, 3), mask), 7),
    "beside a position": lambda t, x, mask: x.__setitem__((mask, 1), t.ones(2, device=x.device)),
    "beside positions": lambda t, x, mask: x.__setitem__(
        (mask, t.tensor([0, 1], device=x.device)), t.ones(2, device=x.device)
    ),
    "of all": lambda t, x, mask: x.__setitem__(x > 3, t.ones(7, device=x.device)),
    "another shape": lambda t, x, mask: x.__setitem__(mask[:2], 7),
    "too many dimensions": lambda t, x, mask: x.__setitem__((mask, mask, mask), 7),
    "put": lambda t, x, mask: x.index_put_((mask,), t.ones(2, 4, device=x.device)),
    "added": lambda t, x, mask: x.index_put_((mask,), x.new_ones(()), accumulate=True),
    "into a copy": lambda t, x, mask: x.copy_(x.index_put((mask,), x.new_ones(1, 1))),
    "another dtype": lambda t, x, mask: x.index_put_((mask,), t.ones(1, device=x.device).long()),
    "of more digits": lambda t, x, mask: x.index_put_((mask,), t.ones(1, device=x.device).double()),
    "several of another dtype": lambda t, x, mask: x.index_put_(
        (mask,), t.ones(2, 4, device=x.device).long()
    ),
    "complex without imaginary part": lambda t, x, mask: x.__setitem__(mask, t.tensor(2 + 0j)),
    "complex": lambda t, x, mask: x.index_put_((mask,), t.ones(1, device=x.device) * 1j),
}


def played(library, write, device, grad):
    x = library.arange(12.0, device=device, requires_grad=grad).reshape(3, 4) * 1
    write(library, x, library.tensor([True, False, True], device=device))
    node = x.grad_fn and type(x.grad_fn).__name__
    return x.shape, node, x.tolist() if device == "cpu" else None


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("name", WRITES)
def test_on_meta_they_are_pytorchs(name, grad):
    # What cannot be written: PyTorch does not look at that on meta.
    refused = name in ("another shape", "several of another dtype")
    found = outcome(played, torch, WRITES[name], "meta", grad)
    expected = outcome(played, pt, WRITES[name], "cpu" if refused else "meta", grad)
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected))
        assert not missing(str(found), str(expected))
    else:
        assert found == expected


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_in_blocks_they_are_what_they_are_outside(write, grad):
    def deferred(library, *args):
        with library.pipeline():
            return played(library, *args)

    for device in ("cpu", "meta"):
        found, expected = (outcome(f, torch, write, device, grad) for f in (deferred, played))
        if isinstance(expected, Exception):
            assert isinstance(found, type(expected))
            assert str(found) == str(expected)
        else:
            assert found == expected


def test_a_number_put_through_a_mask_is_deferred():
    x, mask = torch.arange(6.0).reshape(2, 3), torch.tensor([True, False])
    with torch.pipeline() as pipe:
        y = x * 2
        y[mask] = 7
        y[:, y[0] > 1] = -1
        y.index_put_((mask.logical_not(),), torch.tensor([8.0]))
        assert pipe.stats()["flushes"] == 0
    assert y.tolist() == [[-1, -1, -1], [8, 8, 8]]
