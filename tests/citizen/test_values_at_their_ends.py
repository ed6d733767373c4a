"""Numbers, devices, shapes and blocks at the ends of what they can be, and interrupts as blocks end."""

import copy
import pickle
import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.values import interrupts
from mindtorch_core.values.dtypes import DTYPES, cast_number
from mindtorch_core.values.own_frames import reword
from mindtorch_core.values.shapes import SIZES, Size
from mindtorch_core.values.user_warnings import muted, warn_user


@pytest.mark.parametrize("kind", ["cpu", torch.device("cpu"), 0])
def test_an_index_belongs_to_a_type(kind):
    if kind == "cpu":
        assert torch.device(kind, 0) == torch.device("cpu:0")
        return
    with pytest.raises(
        TypeError, match=r"^device\(\) takes an index only together with a device type s"
    ):
        torch.device(kind, 1)


@pytest.mark.parametrize("kind", [3.5, None, True, b"cpu"])
def test_what_no_device_is_named_by(kind):
    with pytest.raises(TypeError, match=r"argument 'type' must be str or torch\.device, not "):
        torch.device(kind)


@pytest.mark.parametrize(
    ("value", "name", "found"),
    [
        (2**64 - 1, "int64", -1),
        (-(2**63), "int64", -(2**63)),
        (-1, "uint8", 255),
        (200, "int8", -56),
        (1e39, "float32", float("inf")),
        (2**64 - 1, "uint64", 2**64 - 1),
    ],
)
def test_operands_wrap_around(value, name, found):
    assert cast_number(value, DTYPES[name]) == found


@pytest.mark.parametrize("name", ["uint8", "int64", "int8"])
@pytest.mark.parametrize(
    ("value", "words"),
    [(2**64, "int too big to convert"), (-(2**63) - 1, "can't convert negative int to unsigned")],
)
def test_operands_that_no_dtype_holds(name, value, words):
    with pytest.raises(OverflowError, match=f"^{words}$"):
        cast_number(value, DTYPES[name])


def test_ways_to_quantize_are_one_object_each():
    for scheme in (torch.per_tensor_affine, torch.per_channel_symmetric):
        for again in (pickle.loads(pickle.dumps(scheme)), copy.deepcopy(scheme), copy.copy(scheme)):
            assert again is scheme
        assert repr(scheme).startswith("torch.per_")


def test_sizes_stay_right_however_many_there_were():
    before = SIZES[(2, 3)]
    for n in range(5000):
        assert SIZES[(n, 7)] == (n, 7)
    again = SIZES[(2, 3)]
    assert type(again) is Size
    assert again == before == torch.ones(2, 3).shape
    assert len(SIZES) < 5000


# ---- warnings and errors ------------------------------------------------------------------------


def test_what_is_muted_says_nothing():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert muted(lambda: warn_user("quiet") or 7) == 7
        warn_user("loud")
    assert [str(each.message) for each in said] == ["loud"]


def test_an_error_in_other_words_leads_nobody_astray():
    with pytest.raises(AttributeError) as raised:
        torch.ones(1).no_such_thing
    error = raised.value
    assert error.name == "no_such_thing"
    reword(error, "say it otherwise")
    assert (error.args, error.name, error.obj) == (("say it otherwise",), None, None)
    assert error.__suppress_context__


# ---- interrupts ---------------------------------------------------------------------------------


class Once:
    """Undoes something, but is interrupted the first time."""

    def __init__(self, error=KeyboardInterrupt):
        self.error, self.calls = error, []

    def __call__(self, *args):
        self.calls.append(args)
        if len(self.calls) == 1 and self.error is not None:
            raise self.error


def test_what_was_interrupted_is_undone_once_more():
    undo = Once()
    with pytest.raises(KeyboardInterrupt):
        interrupts.surely(undo)
    assert undo.calls == [(), ()]
    quiet = Once(None)
    interrupts.surely(quiet)
    assert quiet.calls == [()]


def test_a_block_that_was_interrupted_as_it_ended_has_ended():
    undo = Once()

    class Block:
        def __enter__(self):
            return self

        __exit__ = interrupts.leaving(lambda self: undo(self))

    with pytest.raises(KeyboardInterrupt), Block() as block:
        pass
    assert undo.calls == [(block,), (block,)]


def test_a_generator_that_is_interrupted_is_closed():
    ended = []

    @interrupts.contextmanager
    def block():
        try:
            yield 3
        finally:
            ended.append("block")

    with block() as given:
        assert given == 3
    assert ended == ["block"]
    with pytest.raises(ValueError, match="inside"), block():
        raise ValueError("inside")
    assert ended == ["block", "block"]

    @interrupts.contextmanager
    def twice():
        try:
            yield
            yield  # a mistake: it does not end
        finally:
            ended.append("twice")

    with pytest.raises(RuntimeError, match="didn't stop"), twice():
        pass
    assert ended[2:] == ["twice"]


# ---- registrations as a transaction -------------------------------------------------------------


def test_a_look_at_the_end_takes_all_back():
    def registered():
        with registry.transaction("them 1.0"):
            registry.register_kernel("ends::f", "CPU", abs)
            registry.at_the_end(look)

    def look():
        seen.append("ends::f" in registry)
        if len(seen) == 1:
            raise RuntimeError("not like this")

    seen = []
    with pytest.raises(RuntimeError, match="not like this"):
        registered()
    assert (seen, "ends::f" in registry) == ([True], False)
    registry.at_the_end(look)  # at once: nothing runs
    with registry.scope():
        registered()
    assert (seen, "ends::f" in registry) == ([True, False, True], False)
