"""Locks are taken again by the thread that has them: handlers and finalisers run ops, wherever they come."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Which locks are not, and why nothing waits for ever.
PLAIN = {
    "mindtorch_core/cli/outputs.py": "of the launcher, which runs no ops",
    "mindtorch_core/communication/progress.py": "of the thread that moves collectives on, or taken without waiting",
    "mindtorch_core/communication/tcp_store.py": "a question to a store and its answer are one",
    "mindtorch_core/communication/work.py": "of futures of collectives: a handler that asks for one while its thread waits for it would wait in any case",
    "mindtorch_core/ecosystem/captured.py": "taken without waiting: a function that is captured does not call itself",
    "plugins/mindtorch-cpu/src/mindtorch_cpu/workers.py": "it is no lock: another thread releases it",
}
SOURCES = [
    p for p in [*ROOT.glob("mindtorch_core"), *ROOT.glob("p*s/*/src")] if "simulator" not in str(p)
]


@pytest.mark.parametrize("folder", SOURCES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_plain_locks_are_listed(folder):
    found = {
        path.relative_to(ROOT).as_posix()
        for path in folder.rglob("*.py")
        if "testing" not in path.parts
        and re.search(r"(?<!R)Lock\(\)|allocate_lock\(\)", path.read_text("utf-8"))
    }
    here = folder.relative_to(ROOT).as_posix()
    assert found == {name for name in PLAIN if name.startswith(f"{here}/")}
