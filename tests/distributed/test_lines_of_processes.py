"""`DefaultLogsSpecs` and what `elastic_launch` makes of them, beside PyTorch's."""

from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "programs" / "lines_of_processes.py"


def test_lines_go_where_they_go_in_pytorch(printed, tmp_path):
    pytest.importorskip("torch")
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for each in (ours, theirs):
        each.mkdir()
    found = printed("-m", "mindtorch_core", "run", PROGRAM, ours)
    # Processes that share a terminal take turns as they come.
    assert sorted(found.splitlines()) == sorted(printed(PROGRAM, theirs).splitlines())
    assert "[default_role0]:said by 0" in found
