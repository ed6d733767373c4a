"""The safetensors format: written and read, by us and by the reference implementation."""

import io
import json
import random
import struct

import pytest

import mindtorch_core as torch
from mindtorch_core.serialization import safetensors
from mindtorch_core.values.dtypes import DTYPES

NAMES = sorted({*DTYPES} - {"complex128"})


def state(lib):
    made = {n: lib.tensor([[0, 1, 1], [1, 0, 1]]).to(getattr(lib, n)) for n in NAMES}
    made |= {f"empty {n}": lib.ones((0, 3), dtype=getattr(lib, n)) for n in NAMES}
    return {**made, "0-d": lib.tensor(2.5), 'ä"\n': lib.ones(2, 3)}


def same(found, expected):
    assert found.keys() == expected.keys()
    for name, t in expected.items():
        assert str(found[name].dtype) == str(t.dtype)
        assert tuple(found[name].shape) == tuple(t.shape)
        assert found[name].tolist() == t.tolist()


def test_comes_back_as_it_was(tmp_path):
    path = tmp_path / "model.safetensors"
    safetensors.save_file(state(torch), path, {"format": "pt", "by": "us"})
    same(safetensors.load_file(path), state(torch))
    same(torch.load(path), state(torch))
    same(safetensors.load(safetensors.save(state(torch))), state(torch))
    assert safetensors.load_metadata(path) == {"format": "pt", "by": "us"}
    assert safetensors.load_file(path, "meta")["0-d"].device.type == "meta"
    assert torch.load(path, map_location="meta")["float32"].shape == (2, 3)
    assert safetensors.load(safetensors.save({})) == {}


def test_the_layout_is_the_formats():
    """Written by hand from the format's description."""
    raw = safetensors.save({"b": torch.tensor([1, 2], dtype=torch.int16), "a": torch.ones(1)})
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    assert header == {
        "a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
        "b": {"dtype": "I16", "shape": [2], "data_offsets": [4, 8]},
    }
    assert length % 8 == 0
    assert raw[8 + length :] == b"\0\0\x80?\1\0\2\0"


def test_the_reference_implementation_agrees(tmp_path):
    pt = pytest.importorskip("torch")
    reference = pytest.importorskip("safetensors.torch")
    path = tmp_path / "model.safetensors"
    safetensors.save_file(state(torch), path)
    same(reference.load_file(path), state(torch))
    reference.save_file(state(pt), path, {"k": "v"})
    same(safetensors.load_file(path), state(torch))
    assert safetensors.load_metadata(path) == {"k": "v"}


def test_only_elements_are_kept():
    t = torch.arange(6.0).reshape(2, 3).t().requires_grad_()
    found = safetensors.load(safetensors.save({"t": t, "part": torch.arange(10)[::3]}))
    assert found["t"].tolist() == t.tolist()
    assert found["t"].is_contiguous()
    assert not found["t"].requires_grad
    assert found["part"].tolist() == [0, 3, 6, 9]


def test_recorded_work_is_launched_first():
    with torch.pipeline():
        raw = safetensors.save({"a": torch.ones(3) * 2})
    assert safetensors.load(raw)["a"].tolist() == [2, 2, 2]


def test_what_cannot_be_saved():
    x = torch.ones(4)
    for shared in ({"a": x, "b": x}, {"a": x, "b": x[1:]}, {"a": x[:3], "b": x.view(2, 2)}):
        with pytest.raises(RuntimeError, match="'a' and 'b' share memory"):
            safetensors.save(shared)
    assert safetensors.load(safetensors.save({"a": x[:2], "b": x[2:]}))["b"].tolist() == [1, 1]
    with pytest.raises(TypeError, match=r"'a' is a int; torch\.save takes more"):
        safetensors.save({"a": 1})
    with pytest.raises(TypeError, match="complex128, which the safetensors format does not have"):
        safetensors.save({"a": torch.ones(1, dtype=torch.complex128)})
    with pytest.raises(TypeError, match="1 cannot be the name"):
        safetensors.save({1: x})
    with pytest.raises(TypeError, match="texts by name"):
        safetensors.save({"a": x}, {"version": 1})
    with pytest.raises(NotImplementedError, match="no data"):
        safetensors.save({"a": torch.empty(1, device="meta")})


def file(header, data=b""):
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(raw)) + raw + data


def entry(**changes):
    return {"dtype": "F32", "shape": [1], "data_offsets": [0, 4], **changes}


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "a header of 0 bytes in a file of 0"),
        (struct.pack("<Q", 2**60) + b"{}", "a header of 1152921504606846976 bytes"),
        (file(b"{"), "cannot be read"),
        (file(b'{"a":' * 50_000), "cannot be read"),
        (file(b'{"a": 1, "a": 1}'), "a name stands there twice"),
        (file([]), "its header is no table"),
        (file({"a": 3}), "the entry of 'a' is 3"),
        (file({"a": entry()}, b"123"), "have 4 bytes, the file has 3"),
        (file({"a": entry()}, b"12345"), "have 4 bytes, the file has 5"),
        (file({"a": entry(shape=[2])}, b"1234"), r"of shape \[2\] has 4 bytes"),
        (file({"a": entry(shape=[-1])}, b"1234"), "the entry of 'a'"),
        (file({"a": entry(shape=[True])}, b"1234"), "the entry of 'a'"),
        (file({"a": entry(shape=[0, 2**40, 2**40], data_offsets=[0, 0])}), "of shape"),
        (file({"a": entry(data_offsets=[4, 0])}, b"1234"), "of shape"),
        (file({"a": entry(), "b": entry()}, b"1234"), "'b' begins at byte 0 instead of 4"),
        (
            file({"a": entry(), "b": entry(data_offsets=[8, 12])}, b"123412341234"),
            "begins at byte 8",
        ),
    ],
)
def test_damaged_files(raw, why):
    with pytest.raises(RuntimeError, match=why):
        safetensors.load(raw)


@pytest.mark.parametrize(
    ("longer", "said", "theirs"),
    [
        (0, "no safetensors file, or a damaged one", "invalid header length"),
        (1, "none that torch.save or safetensors writes", "header too large"),
    ],
)
def test_the_longest_header(longer, said, theirs):
    raw = struct.pack("<Q", 100_000_000 + longer) + b"{}"
    with pytest.raises(RuntimeError, match=said):
        torch.load(io.BytesIO(raw))
    reference = pytest.importorskip("safetensors")
    with pytest.raises(reference.SafetensorError, match=theirs):
        reference.deserialize(raw)


def test_empty_tensors_stand_anywhere():
    for at in (0, 4, 8):
        empty = entry(shape=[0, 3], data_offsets=[at, at])
        for names in ("eab", "aeb", "abe", "bae"):
            table = {"e": empty, "a": entry(), "b": entry(data_offsets=[4, 8])}
            found = safetensors.load(file({n: table[n] for n in names}, b"12345678"))
            assert found["e"].shape == (0, 3)
            assert found["b"].view(torch.uint8).tolist() == [*b"5678"]


class Short(io.BytesIO):
    """A file that ends sooner than its size says, as one that another process cuts off."""

    def read(self, size=-1):
        return super().read(min(size, len(self.getvalue()) - 2 - self.tell()))


def test_files_that_are_cut_off_while_they_are_read():
    raw = file({"a": entry(), "b": entry(data_offsets=[4, 8])}, b"12345678")
    assert safetensors.load_file(io.BytesIO(raw)).keys() == {"a", "b"}
    with pytest.raises(RuntimeError, match="the file ends within tensor 'b'"):
        safetensors.load_file(Short(raw))


def test_dtypes_of_others():
    with pytest.raises(TypeError, match="elements of F4"):
        safetensors.load(file({"a": entry(dtype="F4")}, b"1234"))


def test_any_damage_loads_or_is_refused():
    raw = safetensors.save({"a": torch.ones(2, 2), "b": torch.arange(3)})
    rng = random.Random(0)
    refused = 0
    for _ in range(3000):
        damaged = bytearray(raw)
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        for load in (safetensors.load, lambda d: torch.load(io.BytesIO(d))):
            try:
                load(bytes(damaged))
            except (RuntimeError, TypeError):
                refused += 1
    assert refused > 1000
