"""What processes write about their failures, and what a launcher says of them."""

import json
import sys

import pytest

from mindtorch_core.distributed.elastic.multiprocessing.errors import (
    ChildFailedError,
    ErrorHandler,
    ProcessFailure,
    record,
)


def run(name, tmp_path, monkeypatch, module):
    """What `record` of a module makes of some functions, by name."""
    file = tmp_path / name / "error.json"
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(file))
    file.parent.mkdir()
    seen = {}

    def raised():
        raise ValueError("bad\nsecond")

    for function in (raised, lambda: 3, lambda: sys.exit(0), lambda: sys.exit(3)):
        try:
            got = module.record(function)()
        except BaseException as error:  # noqa: BLE001
            got = repr(error)
        written = json.loads(file.read_text()) if file.exists() else None
        if written:
            more = written["message"]["extraInfo"]
            assert int(more.pop("timestamp")) > 0
            assert more.pop("py_callstack").endswith("ValueError: bad\nsecond\n")
            file.unlink()
        seen[len(seen)] = got, written
    return seen


def text(module, folder):
    """What a module says of two failures."""
    file = folder / "said.json"
    said = {"py_callstack": "Traceback:\n  here", "timestamp": "1000"}
    file.write_text(json.dumps({"message": {"message": "E: x", "extraInfo": said}}))
    failures = {
        1: module.ProcessFailure(local_rank=1, pid=77, exitcode=1, error_file=str(file)),
        0: module.ProcessFailure(local_rank=0, pid=78, exitcode=-9, error_file="<N/A>"),
    }
    error = module.ChildFailedError("train.py", failures)
    assert error.get_first_failure()[0] == 1
    alone = module.ChildFailedError("train.py", {1: failures[1]})
    lines = [str(error).splitlines(), str(alone).splitlines()]
    return [
        [row.rstrip() for row in each if not row.startswith(("  time", "  host"))] for each in lines
    ]


def test_as_pytorch(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    import torch.distributed.elastic.multiprocessing.errors as theirs

    import mindtorch_core.distributed.elastic.multiprocessing.errors as ours

    mine, expected = (
        run(n, tmp_path, monkeypatch, m) for n, m in (("ours", ours), ("theirs", theirs))
    )
    assert mine == expected
    assert mine[0][1]["message"]["message"] == "ValueError: bad\nsecond"
    assert text(ours, tmp_path) == text(theirs, tmp_path)


def test_without_a_file_nothing_is_written(monkeypatch, tmp_path):
    monkeypatch.delenv("TORCHELASTIC_ERROR_FILE", raising=False)
    monkeypatch.chdir(tmp_path)

    @record
    def main():
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        main()
    assert main.__name__ == "main"
    assert not [*tmp_path.iterdir()]


def test_a_failure_of_children_is_handed_on(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(tmp_path / "child.json"))
    ErrorHandler().record_exception(RuntimeError("first"))
    failure = ProcessFailure(0, 5, 7, str(tmp_path / "child.json"))
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(tmp_path / "parent.json"))

    @record
    def main():
        raise ChildFailedError("train.py", {0: failure})

    with pytest.raises(ChildFailedError):
        main()
    said = json.loads((tmp_path / "parent.json").read_text())["message"]
    assert said["message"] == "RuntimeError: first"
    assert said["errorCode"] == 7
    assert ChildFailedError("train.py", {}, 3).exitcode == 3
