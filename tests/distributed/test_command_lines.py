"""What torchrun and `launch` start, and what is said of processes that fail; nothing is started here."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from mindtorch_core import accelerator
from mindtorch_core.distributed import launch, run
from mindtorch_core.distributed.elastic.multiprocessing import errors
from mindtorch_core.distributed.launcher.api import LaunchConfig, elastic_launch

START = [sys.executable, "-m", "mindtorch_core", "run", "-n"]


@pytest.fixture
def started(monkeypatch):
    """What a command line starts: the command after its number of processes, and the environment."""
    found = {}

    def execute(path, command, env):
        found.update(command=command, env=env)
        raise SystemExit(0)

    def call(main, *args):
        with pytest.raises(SystemExit):
            main([*args])
        return found["command"], found["env"]

    monkeypatch.setattr(os, "name", "posix")
    monkeypatch.setattr(os, "execve", execute)
    for name in ("MASTER_PORT", "MASTER_ADDR", "PET_NPROC_PER_NODE"):
        monkeypatch.delenv(name, raising=False)
    return call


PLAIN = ["--max-restarts", "0", "--plain"]
LINES = {
    "a script": (["a.py", "--x", "1"], ["1", *PLAIN, "a.py", "--x", "1"]),
    "several": (["--nproc-per-node", "3", "a.py"], ["3", *PLAIN, "a.py"]),
    "a module": (["-m", "pkg.a", "y"], ["1", *PLAIN, "-m", "pkg.a", "y"]),
    "restarts": (["--max-restarts=2", "a.py"], ["1", "--max-restarts", "2", "--plain", "a.py"]),
    "lines of all": (["--tee", "3", "a.py"], ["1", "--max-restarts", "0", "--tee=3", "a.py"]),
    "logs": (["--log-dir", "logs", "-r", "1", "a.py"], ["1", *PLAIN, "--log-dir=logs", "--redirects=1", "a.py"]),
    "as many as cores": (["--nproc-per-node=cpu", "a.py"], [str(os.cpu_count() or 1), *PLAIN, "a.py"]),
}  # fmt: skip


@pytest.mark.parametrize("case", LINES)
def test_what_torchrun_starts(started, case):
    line, expected = LINES[case]
    command, _ = started(run.main, *line)
    given = [each for each in command if each not in ("--redirects=0", "--tee=0")]
    assert given == [*START, *expected]


def test_a_command_that_is_no_script(started):
    command, _ = started(run.main, "--no-python", "echo", "hello")
    code = command[command.index("-c") + 1]
    assert "os.execvp(sys.argv[1], sys.argv[1:])" in code
    assert command[-2:] == ["echo", "hello"]


@pytest.mark.parametrize(
    ("options", "address", "port"),
    [
        (["--standalone"], None, None),
        (["--rdzv-endpoint=host:29"], "host", "29"),
        (["--master-addr=other", "--master-port=31"], "other", "31"),
        (["--rdzv-endpoint=host:29", "--master-port=31"], "host", "29"),
    ],
    ids=str,
)
def test_where_processes_meet(started, monkeypatch, options, address, port):
    monkeypatch.setenv("MASTER_PORT", "7")  # of another job
    _, env = started(run.main, *options, "--rdzv-id=job", "--role=worker", "a.py")
    assert env.get("MASTER_ADDR") == address
    assert env.get("MASTER_PORT") == port
    assert (env["TORCHELASTIC_RUN_ID"], env["ROLE_NAME"]) == ("job", "worker")


@pytest.mark.parametrize(("devices", "gpu", "auto"), [(3, 3, 3), (0, None, os.cpu_count() or 1)])
def test_as_many_as_devices(started, monkeypatch, capsys, devices, gpu, auto):
    monkeypatch.setattr(accelerator, "current_accelerator", lambda: object() if devices else None)
    monkeypatch.setattr(accelerator, "device_count", lambda: devices)
    command, _ = started(run.main, "--nproc-per-node=auto", "a.py")
    assert command[5] == str(auto)
    if gpu is None:
        with pytest.raises(SystemExit) as ended:
            run.main(["--nproc-per-node=gpu", "a.py"])
        assert ended.value.code == 2
        assert capsys.readouterr().err == "torchrun: Cuda is not available.\n"
    else:
        assert started(run.main, "--nproc-per-node=gpu", "a.py")[0][5] == str(gpu)


REFUSED = {
    "several machines": (["--nnodes=2", "a.py"], "--nnodes 2 --node-rank 0: torchrun serves one machine"),
    "another machine": (["--node-rank=1", "a.py"], "--nnodes 1.* --node-rank 1: torchrun serves one"),
    "logs of a package": (["--logs-specs=own", "a.py"], r"Could not find entrypoint under 'torchrun\.logs_specs\[own\]'"),
    "filters of lines": (["--duplicate-stdout-filters=a", "a.py"], "--duplicate-stdout-filters is not supported"),
    "a module that is no script": (["-m", "--no-python", "a"], "both the '--no-python' flag and the '--module'"),
    "no number": (["--nproc-per-node=many", "a.py"], "Unsupported nproc_per_node value: many"),
    "none": (["--nproc-per-node=0", "a.py"], "Unsupported nproc_per_node value: 0"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_lines_that_are_refused(case, capsys):
    line, words = REFUSED[case]
    with pytest.raises(ValueError, match=words):
        run.run(run.parse_args(line))
    with pytest.raises(SystemExit) as ended:
        run.main(line)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("torchrun: ")


@pytest.mark.parametrize("start", [run.run, launch.launch])
@pytest.mark.parametrize("status", [0, 3])
def test_a_script_is_waited_for(monkeypatch, start, status):
    asked = []

    def instead(command, **options):
        asked.append((command, options))
        return SimpleNamespace(returncode=status)

    monkeypatch.setattr(subprocess, "run", instead)
    args = (run if start is run.run else launch).parse_args(["a.py"])
    if status:
        with pytest.raises(errors.ChildFailedError, match=r"a\.py FAILED: exit status 3") as failed:
            start(args)
        assert failed.value.exitcode == 3
        with pytest.raises(IndexError, match="stands in the output"):
            failed.value.get_first_failure()
    else:
        assert start(args) is None
    assert asked[0][0][:5] == START
    assert asked[0][1]["check"] is False


def test_launch_is_deprecated_and_gives_the_rank_as_an_option(started):
    with pytest.warns(FutureWarning, match=r"torch\.distributed\.launch is deprecated"):
        command, _ = started(launch.main, "a.py")
    assert command[-1] == "a.py"
    assert "local" in command[command.index("-c") + 1]


def test_launch_of_a_command_needs_the_environment():
    with pytest.raises(ValueError, match="must also set the '--use-env' flag"):
        launch.launch(launch.parse_args(["--no-python", "echo"]))


# ---- functions ------------------------------------------------------------------------------------


def test_functions_run_on_one_machine():
    with pytest.raises(ValueError, match="only the processes of one machine"):
        elastic_launch(LaunchConfig(1, 2, 1), print)
    with pytest.raises(TypeError, match="scripts are run by torchrun"):
        elastic_launch(LaunchConfig(1, 1, 1), "a.py")


# ---- failures -------------------------------------------------------------------------------------


def test_what_a_process_wrote_of_its_failure(tmp_path):
    file = tmp_path / "error.json"
    said = {"message": {"message": "so it was", "extraInfo": {"timestamp": "12"}}}
    file.write_text(json.dumps(said))
    failure = errors.ProcessFailure(0, 5, 1, str(file))
    assert (failure.timestamp, failure.message) == (12, said["message"])
    assert failure.error_file == str(file)


@pytest.mark.parametrize(("more", "when"), [({"timestamp": "12"}, 12), ({}, 0)])
def test_a_process_that_wrote_a_text(tmp_path, more, when):
    file = tmp_path / "error.json"
    file.write_text(json.dumps({"message": "so it was", **more}))
    failure = errors.ProcessFailure(0, 5, 1, str(file))
    assert (failure.timestamp, failure.message) == (when, "so it was")


@pytest.mark.parametrize("text", [None, "{"])
def test_a_process_that_wrote_nothing(tmp_path, text):
    file = tmp_path / "error.json"
    if text is not None:
        file.write_text(text)
    failure = errors.ProcessFailure(1, 5, -9, str(file))
    assert failure.message == "Signal 9 (SIGKILL) received by PID 5"
    assert failure.signal_name() == "SIGKILL"
    assert failure.error_file == errors.ProcessFailure(0, 0, 1).error_file
    assert failure.timestamp > 0
    assert "@record" in errors.ProcessFailure(0, 5, 1, str(file)).message


def test_the_first_of_several_failures(tmp_path):
    failures = {}
    for rank, when in ((0, 30), (1, 10), (2, 20)):
        file = tmp_path / str(rank)
        file.write_text(json.dumps({"message": {"message": "m", "extraInfo": {"timestamp": when}}}))
        failures[rank] = errors.ProcessFailure(rank, rank, rank + 1, str(file))
    error = errors.ChildFailedError("train", failures)
    rank, first = error.get_first_failure()
    assert (rank, first.pid, error.exitcode) == (1, 1, 2)
    assert "train" in str(error)
    assert len(error.failures) == 3
