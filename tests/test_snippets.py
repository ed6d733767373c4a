"""Programs of the kind that PyTorch's documentation shows print the same here: only the import changes.

Each file in ``snippets`` runs under PyTorch and under mindtorch, and what it prints is compared.
"""

import contextlib
import io
import re
import warnings
from pathlib import Path

import pytest

oracle = pytest.importorskip("torch", reason="PyTorch is the oracle")

import mindtorch_core  # noqa: E402

SNIPPETS = sorted((Path(__file__).parent / "snippets").glob("*.py"))


def printed(source, library):
    """What a program prints with a library imported as torch."""
    source = re.sub(
        r"^import torch\.nn\.functional as F$", "F = torch.nn.functional", source, flags=re.M
    )
    source = re.sub(r"^import torch$", "torch = LIBRARY", source, flags=re.M)
    library.manual_seed(0)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(source, "snippet", "exec"), {"__name__": "snippet", "LIBRARY": library})
    return out.getvalue()


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda p: p.stem)
def test_prints_the_same(path):
    source = path.read_text()
    assert printed(source, mindtorch_core) == printed(source, oracle)


def test_there_are_enough():
    assert len(SNIPPETS) >= 20
