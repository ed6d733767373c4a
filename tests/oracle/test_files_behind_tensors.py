"""Memory that is a file or is shared, where the system refuses; numbers of float8 beyond the largest."""

import os

import pytest

import mindtorch_core as torch
from mindtorch_core.tensors import mapped

pt = pytest.importorskip("torch")


def test_a_file_that_cannot_grow(tmp_path):
    for n, lib in enumerate((torch, pt)):
        path = tmp_path / str(n)
        path.write_bytes(bytes(4))
        with pytest.raises(RuntimeError, match=str(path)):
            lib.from_file(str(path), shared=True, size=2**62, dtype=lib.uint8)
    for n, lib in enumerate((torch, pt)):
        found = lib.from_file(str(tmp_path / str(n)), shared=True, size=4, dtype=lib.uint8)
        assert found.tolist() == [0] * 4


def test_a_file_that_is_too_short_for_one_reader(tmp_path):
    path = tmp_path / "short"
    path.write_bytes(bytes(4))
    for lib in (torch, pt):
        with pytest.raises(
            RuntimeError, match=r"size.*4.* is smaller than the required mapping size"
        ):
            lib.from_file(str(path), shared=False, size=5, dtype=lib.uint8)
    assert path.stat().st_size == 4


def test_shared_memory_that_is_gone():
    with pytest.raises(
        RuntimeError, match=r"^the memory that was to be shared is gone: .*No such file"
    ):
        mapped.open_block("/dev/shm/mindtorch-no-such-block", 8)


def test_a_block_that_cannot_be_mapped_leaves_no_file_open(tmp_path):
    path = tmp_path / "empty"
    path.write_bytes(b"")
    fd = os.open(path, os.O_RDONLY)
    with pytest.raises((OSError, ValueError)):
        mapped.Mapping(fd, 8, shared=True, keep=True)  # which is not to be written
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)
    fd = os.open(path, os.O_RDONLY)
    with pytest.raises((OSError, ValueError)):
        mapped.Mapping(fd, 8, shared=True)
    os.close(fd)  # which is its owner's still


def test_a_name_is_forgotten_by_who_has_it(tmp_path):
    path = tmp_path / "name"
    path.write_bytes(b"")
    mapped.forget(str(path), os.getpid() + 1)
    assert path.exists()
    path.unlink()
    mapped.forget(str(path), os.getpid())  # is gone already
    assert not path.exists()


VALUES = [
    0.0, 1.0, 1.4, 1.5, 1.6, 3.0, 2.0**-127, 2.0**-130, 2.0**-149, 240.0, 248.0, 448.0, 464.0, 465.0, 500.0,
    57344.0, 61440.0, 61441.0, 1e38, 1.7e38, 2.0**127, 2.5e38, 2.6e38, 3.4e38, 1e39, float("inf"),
    float("nan"), -1.5, -448.0, -500.0, float("-inf"),
]  # fmt: skip
KINDS = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_become_the_bytes_of_pytorch(kind):
    for value in VALUES:
        ours = torch.tensor([value], dtype=getattr(torch, kind)).view(torch.uint8).item()
        theirs = pt.tensor([value], dtype=getattr(pt, kind)).view(pt.uint8).item()
        assert ours == theirs, value
        moved = torch.tensor([value]).to(getattr(torch, kind)).view(torch.uint8).item()
        assert moved == pt.tensor([value]).to(getattr(pt, kind)).view(pt.uint8).item(), value
