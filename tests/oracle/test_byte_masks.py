"""Masks of uint8 against PyTorch: elements are read and put through them, one number is not."""

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome
from mindtorch_core.testing.facts import missing

pt = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore:.*uint8")

WRITES = {
    "a number": lambda x, mask, one, several: x.__setitem__(mask, 7.5),
    "a number after a slice": lambda x, mask, one, several: x.T.__setitem__((slice(1, 3), mask), 7),
    "a number beside a position": lambda x, mask, one, several: x.__setitem__((mask, 1), True),
    "a number before a new dimension": lambda x, mask, one, several: x.__setitem__((mask, None), 7),
    "a tensor of one": lambda x, mask, one, several: x.__setitem__(mask, one),
    "several": lambda x, mask, one, several: x.__setitem__((mask, 1), several),
    "beside positions": lambda x, mask, one, several: x.__setitem__((mask, several.long() - 7), 7),
    "another shape": lambda x, mask, one, several: x.__setitem__(mask[:2], 7),
    "put": lambda x, mask, one, several: x.index_put_((mask,), one),
    "put into a copy": lambda x, mask, one, several: x.copy_(x.index_put((mask,), one)),
    "added": lambda x, mask, one, several: x.index_put_((mask,), one, accumulate=True),
    "put below": lambda x, mask, one, several: x.copy_(x.index_put((mask,), one.reshape(1, 1))),
}


@pytest.mark.parametrize("wanted", [[1, 0, 2], [0, 0, 0]], ids=["some", "none"])
@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_writing_through_a_byte_mask_is_pytorchs(write, grad, wanted):
    def played(library):
        x = library.arange(12.0, requires_grad=grad).reshape(3, 4) * 1
        mask = library.tensor(wanted, dtype=library.uint8)
        write(x, mask, library.tensor([7.0]), library.tensor([7.0, 8.0])[: sum(map(bool, wanted))])
        return x.tolist()

    found, expected = outcome(played, torch), outcome(played, pt)
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected))
        assert not missing(str(found), str(expected))
    else:
        assert found == expected


@pytest.mark.parametrize(
    "read", [lambda x, m: x[m], lambda x, m: x[:, m[:2]], lambda x, m: x[m, 1]]
)
def test_reading_through_a_byte_mask_is_pytorchs(read):
    found, expected = (
        read(t.arange(6).reshape(3, 2), t.tensor([1, 0, 2], dtype=t.uint8)).tolist()
        for t in (torch, pt)
    )
    assert found == expected
