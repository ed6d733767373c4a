"""Memory that runs out anywhere: one error says so, what was there stays, and the next step works."""

import sys

import pytest
from attack import SECONDS, alone, first_seed

pytest.importorskip("resource")
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space"),
    pytest.mark.slow,
]


def test_out_of_memory(monkeypatch):
    # Large blocks are the system's from the first one on, and given back to it at once.
    monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", "65536")
    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")
    script = "import sys, out_of_memory as m; m.main(int(sys.argv[1]), float(sys.argv[2]))"
    alone(script, first_seed(), SECONDS or 6)
