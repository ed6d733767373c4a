"""Files that are mapped, cut off, skipped, of another order of bytes or without sums."""

import io
import mmap
import pickle
import random
import sys
import threading
import zipfile

import pytest

import mindtorch_core as torch
from mindtorch_core import serialization

OBJ = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.ones(3, dtype=torch.int16)}


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "t.pt"
    torch.save(OBJ, made)
    return made


def values(loaded):
    return {name: t.tolist() for name, t in loaded.items()}


def test_mapped_files_are_read_when_they_are_looked_at(path):
    loaded = torch.load(path, mmap=True)
    assert values(loaded) == values(OBJ)
    loaded["a"].fill_(7)  # of this process alone
    assert values(torch.load(path)) == values(OBJ)
    raw = path.read_bytes()
    at = raw.find(OBJ["b"].numpy().tobytes())
    path.write_bytes(b"")  # what is mapped shows the file, as PyTorch's does: it must stay
    path.write_bytes(raw[:at] + b"\5\0" + raw[at + 2 :])
    assert torch.load(path, mmap=True, weights_only=False)["b"].tolist() == [5, 1, 1]


def test_mapped_files_that_are_written(path):
    with serialization.set_default_mmap_options(mmap.MAP_SHARED):
        assert serialization.get_default_mmap_options() == mmap.MAP_SHARED
        torch.load(path, mmap=True)["b"][1] = 9
    assert serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    assert torch.load(path, mmap=True)["b"].tolist() == [1, 9, 1]
    with pytest.raises(RuntimeError, match="Bad CRC"):  # the sum is of what was saved
        torch.load(path)
    with pytest.raises(ValueError, match="MAP_PRIVATE or"):
        serialization.set_default_mmap_options(77)


def test_mapped_files_of_pytorch(tmp_path):
    pt = pytest.importorskip("torch")
    path = tmp_path / "theirs.pt"
    pt.save({"a": pt.arange(6.0), "e": pt.empty(0)}, path)
    loaded = torch.load(str(path), mmap=True)
    assert loaded["a"].tolist() == [0, 1, 2, 3, 4, 5]
    assert loaded["e"].shape == (0,)
    assert torch.load(path, "meta", mmap=True)["a"].device.type == "meta"


def test_what_cannot_be_mapped(path):
    with pytest.raises(ValueError, match="f must be a file path"):
        torch.load(io.BytesIO(path.read_bytes()), mmap=True)
    raw = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo("t/data/1")
    raw[entry.header_offset + 28 : entry.header_offset + 30] = b"\xff\xff"  # a wrong length
    path.write_bytes(raw)
    with pytest.raises(RuntimeError, match="should have 6 bytes"):
        torch.load(path, mmap=True)


@pytest.mark.parametrize("seed", range(2))
def test_damaged_files_that_are_mapped(path, seed):
    rng = random.Random(seed)
    raw = path.read_bytes()
    refused = 0
    for _ in range(300):
        damaged = bytearray(raw)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
        try:
            repr(torch.load(path, mmap=True))
        except (RuntimeError, pickle.UnpicklingError):
            refused += 1
    assert refused > 20


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, MemoryError])
def test_a_save_that_fails_leaves_no_file_that_seems_whole(tmp_path, monkeypatch, error):
    path = tmp_path / "half.pt"
    calls = []

    def host_bytes(self):
        calls.append(self)
        if len(calls) == 2:
            raise error
        return memoryview(bytes(self.size_bytes))

    with monkeypatch.context() as patched:
        patched.setattr(type(torch.ones(1).untyped_storage()), "host_bytes", host_bytes)
        with pytest.raises((error, RuntimeError)):
            torch.save([torch.ones(1000), torch.ones(2000)], path)
    assert path.stat().st_size > 4000
    with pytest.raises(RuntimeError, match="not written to its end"):
        torch.load(path)


def test_without_data(path, tmp_path):
    other = tmp_path / "skeleton.pt"
    with serialization.skip_data():
        torch.save(OBJ, other)
        loaded = torch.load(path)
    assert {n: t.shape for n, t in loaded.items()} == {n: t.shape for n, t in OBJ.items()}
    assert values(torch.load(other)) == {"a": [[0.0] * 3] * 2, "b": [0, 0, 0]}
    assert values(torch.load(path)) == values(OBJ)


ORDERS = {
    "complex": torch.complex64,
    "float": torch.float32,
    "short": torch.int16,
    "byte": torch.uint8,
}


@pytest.mark.parametrize("d", ORDERS.values(), ids=ORDERS)
def test_files_of_the_other_order_of_bytes(d):
    np = pytest.importorskip("numpy")
    t = torch.arange(5).to(d)
    file, turned = io.BytesIO(), io.BytesIO()
    torch.save(t, file)
    other = {"little": "big", "big": "little"}[sys.byteorder]
    for said in (other.encode(), None):
        turned = io.BytesIO()
        with zipfile.ZipFile(file) as old, zipfile.ZipFile(turned, "w") as new:
            for name in old.namelist():
                raw = old.read(name)
                if name.endswith("byteorder"):
                    if said is None:
                        continue
                    raw = said
                elif name.endswith("data/0"):
                    raw = np.frombuffer(raw, t.numpy().dtype).byteswap().tobytes()
                new.writestr(name, raw)
        if said is None:
            wanted = serialization.LoadEndianness[other.upper()]
            serialization.set_default_load_endianness(wanted)
        try:
            turned.seek(0)
            assert torch.load(turned).tolist() == t.tolist()
        finally:
            serialization.set_default_load_endianness(None)
    assert serialization.get_default_load_endianness() is None
    with pytest.raises(TypeError, match="Invalid argument type"):
        serialization.set_default_load_endianness("big")


def test_files_without_sums():
    pt = pytest.importorskip("torch")
    file = io.BytesIO()
    pt.serialization.set_crc32_options(False)
    try:
        pt.save({"a": pt.arange(3.0)}, file)
    finally:
        pt.serialization.set_crc32_options(True)
    file.seek(0)
    assert torch.load(file)["a"].tolist() == [0, 1, 2]
    serialization.set_crc32_options(False)
    try:
        assert serialization.get_crc32_options() is False
    finally:
        serialization.set_crc32_options(True)


def test_settings_are_each_threads_own():
    seen = []

    def look():
        seen.append(serialization.get_default_mmap_options())

    with serialization.set_default_mmap_options(mmap.MAP_SHARED):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == [mmap.MAP_PRIVATE]


def test_places_in_files():
    storage = torch.ones(2).untyped_storage()
    assert serialization.location_tag(storage) == "cpu"
    assert serialization.default_restore_location(storage, "cpu") is storage
    assert serialization.default_restore_location(storage, "meta").device.type == "meta"
    with pytest.raises(RuntimeError, match="cannot be used here: pass map_location"):
        serialization.default_restore_location(storage, "cuda:0")


class Minimal:
    """A file that has what reading and writing need, and does not say that it can be sought in."""

    def __init__(self):
        self.file = io.BytesIO()
        for name in ("read", "readinto", "write", "flush", "seek", "tell"):
            setattr(self, name, getattr(self.file, name))


@pytest.mark.parametrize("zipped", [False, True])
def test_a_file_that_does_not_say_whether_it_is_seekable(zipped):
    file = Minimal()
    torch.save([torch.ones(2), 3], file, _use_new_zipfile_serialization=zipped)
    file.seek(0)
    ones, three = torch.load(file)
    assert (ones.tolist(), three) == ([1.0, 1.0], 3)
