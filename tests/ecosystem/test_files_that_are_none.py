"""Files that `torch.load` cannot read fail by the classes that PyTorch's programs catch."""

import io
import pickle

import pytest

import mindtorch_core as torch

NONE = [b"garbage", b"<!DOCTYPE html>", b"version https://git-lfs", bytes(1000), b'{"a": 1}',
        b"\xff" * 50, pickle.dumps([1, 2]), b"\x80"]  # fmt: skip


def load(data, **options):
    return torch.load(io.BytesIO(data), **options)


@pytest.mark.parametrize("data", NONE, ids=lambda data: repr(data[:9]))
@pytest.mark.parametrize("kind", [pickle.UnpicklingError, RuntimeError])
def test_a_file_of_another_format(data, kind):
    with pytest.raises(kind, match=r"^Weights only load failed: the file is"):
        load(data)
    with pytest.raises(kind, match=r"^the file is"):
        load(data, weights_only=False)


def test_a_file_without_bytes():
    for weights_only in (True, False):
        with pytest.raises(EOFError, match="empty"):
            load(b"", weights_only=weights_only)


def test_an_archive_that_is_cut_off():
    file = io.BytesIO()
    torch.save({"a": torch.ones(3)}, file)
    whole = file.getvalue()
    for size in (4, len(whole) // 2, len(whole) - 10):
        with pytest.raises(RuntimeError, match="not written to its end"):
            load(whole[:size])


@pytest.mark.parametrize("kind", [pickle.UnpicklingError, EOFError])
def test_a_structure_that_ends_early(kind):
    magic = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2)
    rest = pickle.dumps({"little_endian": True}, 2)
    for size in (0, 5, len(rest) - 1):
        with pytest.raises(kind):
            load(magic + rest[:size])
