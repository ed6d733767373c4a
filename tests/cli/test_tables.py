"""Tables: drawn where a person looks on, aligned text in pipes and files."""

import io
import os
import pty
import subprocess
import sys

import pytest

from mindtorch_core.cli import tables

HEAD, ROWS = ("name", "size"), [("[bold]a", "1"), ("bb", "1000")]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_in_pipes_a_table_is_aligned_text(capsys):
    tables.print_table(HEAD, ROWS, title="things", right=[1])
    assert capsys.readouterr().out == "things\nname     size\n[bold]a     1\nbb       1000\n"


def test_in_terminals_it_is_drawn_and_names_are_no_markup(monkeypatch):
    pytest.importorskip("rich")
    out = Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setenv("COLUMNS", "40")
    tables.print_table(HEAD, ROWS, title="[i]things", right=[1])
    text = out.getvalue()
    assert "[bold]a" in text
    assert "[i]things" in text
    assert "─" in text


def test_without_rich_terminals_get_text(monkeypatch):
    out = Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    tables.print_table(HEAD, ROWS)
    assert out.getvalue() == "name     size\n[bold]a  1\nbb       1000\n"


def on_a_terminal(*arguments):
    """What a command writes to a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    child = subprocess.Popen(
        [sys.executable, "-m", "mindtorch_core", *arguments],
        stdout=theirs,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not part:
            break
        text += part
    os.close(ours)
    assert child.wait() == 0, text
    return text.decode()


@pytest.mark.parametrize(
    "arguments",
    [["backends"], ["keys"], ["ops", "softmax"], ["bench", "eager/add", "--rounds", "1"]],
    ids=lambda arguments: arguments[0],
)
def test_commands_draw_their_tables_in_terminals(arguments):
    pytest.importorskip("rich")
    assert "─" * 10 in on_a_terminal(*arguments)


@pytest.mark.parametrize("arguments", [["backends"], ["keys"], ["ops", "softmax"]])
def test_and_write_plain_text_into_pipes(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "mindtorch_core", *arguments],
        env={**os.environ, "TERM": "xterm", "FORCE_COLOR": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "\x1b" not in done.stdout
    assert "─" not in done.stdout
