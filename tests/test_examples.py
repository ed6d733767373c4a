"""The examples, run as a user runs them."""

import importlib.util
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DIGITS = Path(__file__).parent.parent / "examples" / "digits.py"

pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")
pytest.importorskip("tqdm")


def run(*options):
    return subprocess.run(
        [sys.executable, str(DIGITS), *options],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def pixels(png):
    """Width, height and the decompressed rows of a PNG file; checks signature and checksums."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = [], 8
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        (checksum,) = struct.unpack(">I", png[at + 8 + size : at + 12 + size])
        assert checksum == zlib.crc32(kind + data)
        chunks.append((kind, data))
        at += 12 + size
    assert chunks[-1][0] == b"IEND"
    width, height = struct.unpack(">II", chunks[0][1][:8])
    return width, height, zlib.decompress(b"".join(d for k, d in chunks if k == b"IDAT"))


@pytest.mark.parametrize("mode", [[], ["--pipeline"]], ids=["eager", "pipeline"])
def test_digits_are_learnt_and_drawn(tmp_path, mode):
    picture = tmp_path / "digits.png"
    done = run("--epochs", "4", "--output", str(picture), *mode)
    assert done.returncode == 0, done.stderr
    accuracy = re.search(r"held-out accuracy: (\d\.\d+)", done.stdout)
    assert float(accuracy[1]) > 0.9
    width, height, rows = pixels(picture.read_bytes())
    assert width > 800
    assert height > 500
    assert len(set(rows)) > 100  # curves and grey digits, not an empty page


def test_digits_are_the_same_deferred(tmp_path):
    options = ["--epochs", "1", "--output", str(tmp_path / "digits.png")]
    eager, deferred = run(*options), run(*options, "--pipeline")
    assert eager.stdout.splitlines()[-1] == deferred.stdout.splitlines()[-1]


@pytest.mark.skipif(
    importlib.util.find_spec("mindtorch_npu") is not None, reason="mindtorch-npu is installed"
)
def test_a_device_without_backend_names_the_package(tmp_path):
    done = run("--device", "npu", "--output", str(tmp_path / "digits.png"))
    assert done.returncode == 2
    assert "pip install mindtorch-npu" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("device", ["cpu:7", "no such device", "cpu:x", "meta"])
def test_an_unusable_device_is_refused_in_words(device):
    done = run("--device", device)
    assert done.returncode == 2
    assert done.stderr.startswith(f"digits.py: cannot compute on {device!r}: ")
    assert "Traceback" not in done.stderr
