"""Devices that other threads load while a thread goes through those that there are: found by attacks with threads."""

import re
from pathlib import Path

import mindtorch_core as torch
from mindtorch_core.values.devices import TABLE

SOURCES = Path(torch.__file__).parent


def test_rows_are_those_that_there_were():
    torch.zeros(1)
    table = type(TABLE)(TABLE)
    for row in table.rows():
        table[f"{row.type} again"] = row
    assert len(table) == 2 * len(TABLE) > 0


def test_nobody_goes_through_the_table_itself():
    through = re.compile(r"\bTABLE\.(values|items|keys)\(\)|\bin TABLE (if|for)\b")
    found = [
        f"{path.relative_to(SOURCES)}: {line.strip()}"
        for path in SOURCES.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if through.search(line)
    ]
    assert found == []
