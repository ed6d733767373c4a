"""`from_file` of files that hold less or more than is asked for: shared ones grow, others are refused, as in PyTorch."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("held", [0, 3, 4, 16, 17, 40])
@pytest.mark.parametrize("asked", [1, 4, 6])
def test_as_in_pytorch(tmp_path, held, asked, shared):
    def outcome(lib):
        path = tmp_path / lib.__name__
        path.write_bytes(bytes(range(held)))
        try:
            t = lib.from_file(str(path), shared, asked, dtype=lib.uint8)
        except RuntimeError as error:
            return "smaller than the required mapping size" in str(error), path.stat().st_size
        found = t.tolist()
        t.fill_(9)
        return found, path.stat().st_size, path.read_bytes()

    assert outcome(torch) == outcome(pt)
