"""`mindtorch bench`: what is measured, and how that is shown. How long it takes is tested nowhere."""

import json
import os
import re
import subprocess
import sys

import pytest

from mindtorch_core.cli import main
from mindtorch_core.cli.bench import _show
from mindtorch_core.measuring import peers, turns
from mindtorch_core.measuring.op_calls import op_group
from mindtorch_core.measuring.small_calls import groups


def bench(*arguments, **env):
    return subprocess.run(
        [sys.executable, "-m", "mindtorch_core", "bench", "--rounds", "1", *arguments],
        env={**os.environ, **env}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def no_threads_are_set(monkeypatch):
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, os.environ.get(name, "1"))


@pytest.fixture
def alone(monkeypatch):
    """PyTorch is not installed."""
    monkeypatch.setattr("mindtorch_core.measuring.peers.installed", lambda names: [])


def test_without_pytorch_it_gives_its_own_times(alone, capsys):
    assert main(["bench", "--rounds", "1", "eager/add", "softmax"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    about, why, _, head, row, _, head2, row2 = out.splitlines()
    assert about.endswith("; one thread")
    assert why == "PyTorch is not installed: own times only"
    assert head.split() == ["eager/add", "mindtorch", "us"]
    assert row.split()[0] == "add"
    assert float(row.split()[1]) > 0
    assert head2.startswith("softmax ")
    assert row2.startswith("nn.functional.softmax(float32[2, 3], 1) ")


def test_json_has_machine_times_and_ratios(alone, monkeypatch, capsys):
    assert main(["bench", "--rounds", "1", "--device", "meta", "backward", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["settings"] == {"device": "meta", "threads": 1, "rounds": 1}
    assert found["without"] == "PyTorch is not installed"
    assert found["machine"]["mindtorch-core"]
    (case,) = found["groups"]["backward"].values()
    assert case["ns"]["mindtorch"] > 0
    assert case["ratio"] == {}
    assert found["summary"] == {"backward": {"target": 0.65}}


def test_pytorch_takes_turns_where_it_is_installed():
    pytest.importorskip("torch")
    done = bench("eager/add", "F.cross_entropy", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["without"] is None
    for cases in found["groups"].values():
        (case,) = cases.values()
        assert set(case["ns"]) == {"mindtorch", "torch"}
        assert case["ratio"]["torch"] > 0
    assert set(found["summary"]) == {"eager/add", "F.cross_entropy"}


def test_a_device_that_pytorch_lacks_is_measured_alone(monkeypatch, capsys):
    def refused(*size, device):
        raise RuntimeError(f"Expected one of cpu, cuda device type: {device}")

    without = type("torch", (), {"__version__": "2.13.0", "ones": refused})
    monkeypatch.setattr(peers, "pytorch", lambda: without)
    assert main(["bench", "--rounds", "1", "eager/add", "--device", "meta"]) == 0
    assert "PyTorch 2.13.0 has no device 'meta' here: own times only" in capsys.readouterr().out


def test_what_stands_in_the_place_of_pytorch_is_not_compared(monkeypatch):
    monkeypatch.setattr(peers, "installed", lambda names: list(names))
    stand_in = type("torch", (), {"__version__": "2.13.0+mindtorch.0.1.0"})
    monkeypatch.setitem(sys.modules, "torch", stand_in)
    assert peers.pytorch() is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["eagr"], "The groups are eager, requires_grad, backward, library, training, meta, import. Did you mean eager"),
        (["softmx"], "Did you mean aten::softmax"),
        (["eager/ad"], "the group eager has no case 'ad': it has add, mul"),
        (["import/core"], "the group import has no case 'core': it has none"),
        (["import", "--device", "meta"], "The groups are eager, requires_grad, backward, training."),
        (["--device", "acmee"], "No installed backend provides"),
        (["--device", "cpu:7"], "cpu"),
        (["--rounds", "0"], "--rounds must be at least 1, got 0"),
        (["svd_lowrank"], "there is no sample call of 'svd_lowrank' on 'cpu'"),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_is_said_in_a_line(arguments, said, alone, capsys):
    assert main(["bench", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith("mindtorch bench: ")
    assert said.lower() in line.lower()


def test_groups_on_another_device_leave_out_what_is_of_the_cpu():
    assert [g.name for g in groups()] == [
        "eager", "requires_grad", "backward", "library", "training", "meta"
    ]  # fmt: skip
    assert [g.name for g in groups("meta")] == ["eager", "requires_grad", "backward", "training"]


EVERY_STATEMENT = """
from mindtorch_core.measuring.small_calls import groups
for group in groups():
    for case in group.cases:
        exec(case.statements["mindtorch"], dict(group.make("mindtorch")))
        print(f"{group.name}/{case.name}")
    if group.name == "library":
        made = group.make("mindtorch")
        recorded, plain = made["custom"](made["r"]), made["custom"](made["a"])
        assert recorded.requires_grad and not plain.requires_grad
"""


def test_every_statement_runs_in_mindtorch():
    """In a process of its own, as some define ops."""
    done = subprocess.run(
        [sys.executable, "-c", EVERY_STATEMENT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == sum(len(group.cases) for group in groups())


@pytest.mark.parametrize(
    "name", ["cat", "sort", "linalg.det", "F.linear", "fft.fft", "special.erf", "masked_fill", "zeros", "bincount"]
)  # fmt: skip
def test_ops_are_called_as_users_call_them(name):
    pytest.importorskip("torch")
    group = op_group(name, "cpu", ["mindtorch", "torch"])
    (case,) = group.cases
    assert set(case.statements) == {"mindtorch", "torch"}
    for peer, statement in case.statements.items():
        exec(statement, dict(group.make(peer)))


def shown(capsys, *cases):
    """The rows of the table of some cases, each with its times in nanoseconds."""
    measured = {
        name: turns.Measured(ns, {p: ns["mindtorch"] / ns[p] for p in ns if p != "mindtorch"})
        for name, ns in cases
    }
    _show(turns.Group("small", None, ()), measured, ["mindtorch", "torch"])
    lines = capsys.readouterr().out.splitlines()
    return [re.split("  +", line) for line in lines if line.strip("- ")]


def test_a_table_has_times_ratios_and_their_mean(capsys):
    add = ("add", {"mindtorch": 4000.0, "torch": 1000.0})
    mul = ("mul", {"mindtorch": 1500.0, "torch": 1500.0})
    assert shown(capsys, add, mul, ("div", {"mindtorch": 500.0})) == [
        ["small", "mindtorch us", "torch us", "/ torch"],
        ["add", "4.000", "1.000", "4.000"],
        ["mul", "1.500", "1.500", "1.000"],
        ["div", "0.500", "-", "-"],
        ["geometric mean", "2.000"],
    ]
    assert len(shown(capsys, add)) == 2  # of one there is no mean
    alone = [(name, {"mindtorch": 1000.0}) for name in ("add", "mul")]
    assert shown(capsys, *alone) == [["small", "mindtorch us"], ["add", "1.000"], ["mul", "1.000"]]
