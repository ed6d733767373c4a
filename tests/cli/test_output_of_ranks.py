"""What is shown of a process that ends by an error, and what is held back of it at first."""

import pytest

from mindtorch_core.cli import outputs


@pytest.fixture
def written(tmp_path):
    """Gives the output of a process that has written lines to its standard error."""

    def of(*lines):
        output = outputs.Output(tmp_path, 3)
        with (tmp_path / "3.err").open("w") as pipe:
            pipe.writelines(f"{line}\n" for line in lines)
        output.finish()
        return output

    return of


FIRST = ["Traceback (most recent call last):", '  File "a.py", line 1', "    f()", "ValueError: no"]
CHAINED = "During handling of the above exception, another exception occurred:"
SECOND = [FIRST[0], '  File "b.py", line 2', "mindtorch_core.DistributedError: rank 1 has ended"]


def test_a_traceback_is_held_back_and_then_shown_whole(written, capsys):
    output = written("loss 1.5", *FIRST)
    assert capsys.readouterr().err == "[3] loss 1.5\n"
    output.show_held()
    assert capsys.readouterr().err.splitlines() == [f"[3] {line}" for line in FIRST]
    output.show_held()
    assert capsys.readouterr().err == ""


def test_blank_lines_between_tracebacks_are_left_out(written, capsys):
    output = written(*FIRST, "", CHAINED, "", *SECOND)
    output.show_held()
    shown = capsys.readouterr().err.splitlines()
    assert shown == [f"[3] {line}" for line in (*FIRST, CHAINED, *SECOND)]


def test_who_goes_on_after_a_traceback_has_only_told_of_it(written, capsys, monkeypatch):
    output = written(*FIRST)
    output.show_if_old()
    assert capsys.readouterr().err == ""
    now = outputs.time.monotonic()
    monkeypatch.setattr(outputs.time, "monotonic", lambda: now + 11)
    output.show_if_old()
    assert capsys.readouterr().err.splitlines() == [f"[3] {line}" for line in FIRST]


@pytest.mark.parametrize(
    ("lines", "is_one"),
    [([], False), (["text"], False), (FIRST, False), (SECOND, True), ([*FIRST, "", CHAINED, "", *SECOND], False)],
    ids=["nothing", "text", "an error", "of another rank", "of its own first"],
)  # fmt: skip
def test_an_error_that_tells_of_another_ranks(written, lines, is_one):
    assert written(*lines).is_consequence() is is_one
