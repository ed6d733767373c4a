"""What a person sees while the kit runs, and that nobody else does; a device that is not there."""

from io import StringIO

import pytest

from mindtorch_core.cli import main
from mindtorch_core.testing.progress import Progress
from mindtorch_core.values.devices import row_of


class Terminal(StringIO):
    """Text that is written to a terminal."""

    def isatty(self):
        return True


class Clock:
    """Tells the seconds that it is set to."""

    now = 0.0

    def __call__(self):
        return self.now


def test_a_terminal_shows_how_far_it_is():
    clock, out = Clock(), Terminal()
    progress = Progress(out, 1000, clock)
    clock.now = 61
    progress.add()
    clock.now = 61.01  # too early for another line
    progress.add()
    clock.now = 125
    progress.failed += 1
    progress.add()
    lines = ["1 of 1000 tests, 1:01", "3 of 1000 tests, 1 failed, 2:05"]
    assert out.getvalue().split("\r")[1:] == lines
    progress.end()
    assert out.getvalue().endswith("\r" + " " * len(lines[-1]) + "\r")


def test_the_last_test_is_shown_however_early():
    out = Terminal()
    progress = Progress(out, 2, Clock())
    progress.add()
    progress.add()
    assert out.getvalue() == "\r2 of 2 tests, 0:00"


def test_a_file_or_a_pipe_gets_nothing():
    clock, out = Clock(), StringIO()
    progress = Progress(out, 2, clock)
    for clock.now in (1, 2):
        progress.add()
    progress.end()
    assert out.getvalue() == ""
    assert progress.done == 2


@pytest.mark.parametrize(
    ("count", "why"),
    [
        (lambda: 0, "its backend found none"),
        (lambda: {}["driver"], "device_count() raised KeyError: 'driver'"),
    ],
)
def test_a_backend_without_a_device_is_one_line(toy, capsys, monkeypatch, count, why):
    monkeypatch.setattr(type(row_of("toy").runtime), "device_count", lambda self: count())
    assert main(["verify", "toy"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        f"mindtorch verify: no device of type 'toy' can be used here: {why}; "
        f"`mindtorch doctor toy` says what is missing\n"
    )
