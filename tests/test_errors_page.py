"""The page on errors: its programs raise what it says, word by word."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mindtorch_core as torch

PAGE = (Path(__file__).parent.parent / "docs" / "errors.md").read_text(encoding="utf-8")
FIRST = re.search(r"^```python\n(.*?)^```$", PAGE, re.S | re.M)[1]
ENTRY = re.compile(
    r"^### (?P<title>[^\n]+)\n\n```python\n(?P<code>.*?)^```\n\n```text\n(?P<text>.*?)^```\n\n(?P<advice>\S)",
    re.S | re.M,
)
ENTRIES = {found["title"]: found for found in ENTRY.finditer(PAGE)}

# The page is written for an installation of the CPU and Meta alone; the package that it imports may not
# be installed where the core is tested, and has the same names.
RUN = """
import importlib_metadata, json, sys, traceback
find = importlib_metadata.entry_points
importlib_metadata.entry_points = lambda **kw: [e for e in find(**kw) if e.name in ("cpu", "meta")]
first, programs = json.load(sys.stdin)
said = []
for code in programs:
    scope = {}
    exec(first, scope)
    try:
        exec(compile(code, "<page>", "exec"), scope)
        said.append("nothing was raised")
    except Exception as error:
        said.append("".join(traceback.format_exception_only(error)))
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said():
    """What the programs of the page raise, as Python prints it, by title."""
    first = FIRST.replace("mindtorch as", "mindtorch_core as").replace(
        "from mindtorch", "from mindtorch_core"
    )
    given = json.dumps([first, [found["code"] for found in ENTRIES.values()]])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN],
        input=given, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(zip(ENTRIES, json.loads(done.stdout), strict=True))


def test_every_entry_is_read():
    assert len(ENTRIES) == PAGE.count("\n### ") == 40
    assert "The forty errors" in PAGE


@pytest.mark.parametrize("title", ENTRIES)
def test_the_whole_text_is_on_the_page(said, title):
    lines = [line.rstrip() for line in said[title].splitlines()]
    assert lines == ENTRIES[title]["text"].replace("0.1.0", torch.__version__).splitlines()


def test_the_names_on_the_page_exist():
    names = set(re.findall(r"`torch\.(\w+)", PAGE))
    assert len(names) >= 5
    for name in names:
        assert hasattr(torch, name), name
