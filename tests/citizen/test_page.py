"""The page on files: its examples print what it says."""

import re
from pathlib import Path

import pytest

pytest.importorskip("numpy")

PAGE = Path(__file__).parents[2] / "docs" / "serialization.md"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)


def test_the_examples_print_what_the_page_says(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = FENCE.findall(PAGE.read_text(encoding="utf-8"))
    scope = {"__name__": "__main__"}
    compared = 0
    for (language, code), (following, text) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if language == "python":
            exec(compile(code, "page.py", "exec"), scope)
            assert capsys.readouterr().out == (text if following == "text" else "")
            compared += following == "text"
    assert compared == 8
