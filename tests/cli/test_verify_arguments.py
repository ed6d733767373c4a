"""`mindtorch verify` in this process: what pytest is told, and what is made of its answer."""

import argparse
import importlib.util
import subprocess
import threading

import pytest

from mindtorch_core.cli import cache, launch, main, run, verify


def parsed(*arguments):
    parser = argparse.ArgumentParser()
    verify.add_arguments(parser)
    options = parser.parse_args(arguments)
    options.level, options.shard = options.level or "core", options.shard or "1/1"
    return options


def test_what_pytest_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = verify._arguments(
        parsed("cpu", "--no-fallback", "--html", "a.html", "--junit", "b.xml", "-k", "add")
    )
    for flag, value in (
        ("--device", "cpu"), ("--level", "core"), ("--conformance-shard", "1/1"), ("-k", "add"),
        ("--conformance-html", str(tmp_path / "a.html")), ("--junitxml", str(tmp_path / "b.xml")),
    ):  # fmt: skip
        assert given[given.index(flag) + 1] == value
    assert "--no-fallback" in given
    plain = verify._arguments(parsed("cpu"))
    assert not {"--no-fallback", "--conformance-html", "--junitxml", "-k"} & set(plain)


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        (0, 0, ""),
        (1, 1, ""),
        (4, 2, "mindtorch verify: pytest refuses the arguments, for the reason above"),
        (5, 2, "mindtorch verify: no test matches -k 'nonesuch' at the level core"),
    ],
)
def test_what_is_made_of_its_answer(monkeypatch, capsys, answer, status, said):
    told = []
    monkeypatch.setattr(pytest, "main", lambda given: told.append(given) or answer)
    assert main(["verify", "cpu", "-k", "nonesuch"]) == status
    assert len(told) == 1
    assert capsys.readouterr().err.strip() == said


def test_a_part_without_tests_does_not_fail(monkeypatch, capsys):
    from mindtorch_core.testing.conformance.options import CHOSEN

    monkeypatch.setattr(CHOSEN, "emptied", True)
    monkeypatch.setattr(pytest, "main", lambda given: 5)
    assert main(["verify", "cpu", "--shard", "2/9"]) == 0
    assert capsys.readouterr().err == "part 2/9 has no test: there are fewer tests than parts\n"


def test_without_pytest(monkeypatch, capsys):
    there = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "pytest" else there(name)
    )
    assert main(["verify", "cpu"]) == 2
    assert (
        capsys.readouterr().err == "mindtorch verify: the tests need pytest: pip install pytest\n"
    )


# ---- other commands -----------------------------------------------------------------------------


@pytest.mark.parametrize("drawn", [True, False])
def test_what_backends_keep(monkeypatch, capsys, drawn):
    monkeypatch.setattr(cache, "drawn", lambda: drawn)
    assert main(["cache"]) == 0
    out = capsys.readouterr().out
    assert "cpu" in out
    assert ("cpu: " in out) is not drawn


def test_the_accelerator_of_the_machine(monkeypatch, capsys):
    import mindtorch_core as torch
    from mindtorch_core.ecosystem import accelerator

    monkeypatch.setattr(accelerator, "current_accelerator", lambda: torch.device("meta"))
    assert run._accelerator() == "meta"
    monkeypatch.setattr(accelerator, "current_accelerator", lambda: None)
    with pytest.raises(
        run.UsageError, match="--as-cuda: no installed backend has an accelerator; name"
    ):
        run._accelerator()


class Process:
    """One that ends when it is asked so often."""

    def __init__(self, patience):
        self.patience, self.asked = patience, []

    def terminate(self):
        self.asked.append("terminate")

    def kill(self):
        self.asked.append("kill")

    def wait(self, timeout=None):
        if len(self.asked) < self.patience:
            assert timeout is not None
            raise subprocess.TimeoutExpired("it", timeout)
        return 0


def test_processes_are_asked_first():
    willing, stubborn = Process(1), Process(2)
    launch._stop([willing, stubborn])
    assert (willing.asked, stubborn.asked) == (["terminate"], ["terminate", "kill"])


def test_signals_are_the_main_threads_affair():
    import signal

    before, ran = signal.getsignal(signal.SIGTERM), []

    def beside():
        with launch._terminable():
            ran.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=beside)
    thread.start()
    thread.join()
    assert ran == [before]
    with launch._terminable():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
