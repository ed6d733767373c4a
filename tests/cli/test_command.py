"""The command `mindtorch`, run as users run it."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core.cli import COMMANDS, main
from mindtorch_core.dispatch.keys import DispatchKey

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "mindtorch_core"]
NEEDS_RANKS = (
    "--elastic, --max-restarts, --grace, --plain, --log-dir, --redirects, --tee and --local-ranks-filter go "
    "with -n"
)


def run(*arguments, cwd=ROOT, **env):
    """Run the command in a process of its own."""
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def printed(capsys, *arguments):
    """What the command prints, run in this process."""
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def refused(capsys, *arguments):
    """What the command says of arguments it does not understand."""
    status = main(arguments)
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    (line,) = err.splitlines()
    return line


def test_the_script_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    module, _, function = project["scripts"]["mindtorch"].partition(":")
    assert getattr(import_module(module), function) is main


def test_version_and_help():
    assert run("--version").stdout == f"mindtorch {torch.__version__}\n"
    text = run("--help").stdout
    for name, summary in COMMANDS.items():
        assert re.search(rf"^ +{name}\s+{summary[:30]}", text, re.M)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: mindtorch {command} ")
    module = import_module(f"mindtorch_core.cli.{command.replace('-', '_')}")
    assert module.__doc__.splitlines()[0] in out


def test_no_command_or_an_unknown_one_is_refused():
    for arguments in ([], ["explane"]):
        done = run(*arguments)
        assert done.returncode == 2
        assert "usage: mindtorch" in done.stderr
        assert "Traceback" not in done.stderr
        assert done.stdout == ""


# ---- explain -----------------------------------------------------------------------------------


def test_explain_prints_the_kernel_and_where_it_is():
    done = run("explain", "add", "--requires-grad")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    chosen = re.search(r"^  (\w+) +CHOSEN +(\S+) of mindtorch-core", done.stdout, re.M)
    assert chosen[1] == "AutogradCPU"
    assert re.search(r"^  CPU +then +\S+ of mindtorch-cpu \d", done.stdout, re.M)
    place = re.search(r"(\S+/mindtorch_cpu/\S+\.py):(\d+)", done.stdout)
    assert (ROOT / place[1]).exists()


@pytest.mark.parametrize("name", ["add", "aten::add", "add.Tensor", "aten.add.Tensor", "torch.add"])
def test_explain_takes_the_names_people_use(name, capsys):
    assert printed(capsys, "explain", name).startswith("aten::add(Tensor self")


@pytest.mark.parametrize(
    ("options", "keys"),
    [
        ([], "ADInplaceOrView BackendSelect CPU"),
        (["--requires-grad"], "AutogradCPU ADInplaceOrView BackendSelect CPU"),
        (["--pipeline"], "ADInplaceOrView BackendSelect Pipeline CPU"),
        (["--inference"], "ADInplaceOrView Inference BackendSelect CPU"),
        (["--autocast"], "AutocastCPU ADInplaceOrView BackendSelect CPU"),
        (["--modes"], "ADInplaceOrView Python BackendSelect CPU"),
        (["--device", "meta"], "ADInplaceOrView BackendSelect Meta"),
        (["--device", "CUDA"], "ADInplaceOrView BackendSelect CUDA"),
    ],
)
def test_explain_describes_situations(options, keys, capsys):
    data = json.loads(printed(capsys, "explain", "mm", *options, "--json"))
    assert data["keys"] == keys.split()
    assert [row["key"] for row in data["rows"]] == keys.split()


def test_explain_of_a_call_that_fails_says_what_it_raises(capsys):
    out = printed(capsys, "explain", "exp", "--device", "CUDA")
    assert "MISSING" in out
    assert "Could not run 'aten::exp' with arguments from the 'CUDA' backend." in out


def test_explain_sees_what_a_module_registers(tmp_path):
    (tmp_path / "acme_ops.py").write_text(
        "from mindtorch_core.dispatch.registry import registry\n"
        "def fold(x):\n"
        "    return x\n"
        "registry.register_schema('acme::fold', 'fold(Tensor x) -> Tensor')\n"
        "registry.register_kernel('acme::fold', 'CPU', fold)\n"
    )
    done = run("explain", "acme::fold", "--import", "acme_ops", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^  CPU +CHOSEN +fold\n +acme_ops.py:2$", done.stdout, re.M)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["explain", "ad"], "Did you mean aten::add"),
        (["explain", "add.Foo"], "aten::add has no overload named 'Foo'"),
        (["explain", "add", "--device", "cpuu"], "Did you mean cpu"),
        (["explain", "add", "--device", "Autograd"], "Autograd is not the key of a backend"),
        (["explain", "add", "--device", "xpu"], "(or ask for the dispatch key XPU, which needs no backend)"),
        (["explain", "add", "--device", "acme"], "No installed backend provides it"),
        (["explain", "add", "--device", "meta", "--autocast"], "autocast does not serve"),
        (["explain", "add", "--import", "no_such_module"], "cannot import 'no_such_module': ModuleNotFound"),
        (["explain", "nn.Linear"], "nn.Linear is a module: ask for what its forward calls, F.linear"),
        (["ops", "--backend", "CUDAA"], "Did you mean cuda"),
        (["run"], "name a script, or a module after -m, or a text after -c"),
        (["run", "no_such.py"], "there is no file 'no_such.py'"),
        (["run", "-n", "0", "-c", "1"], "-n wants a number of processes, got 0"),
        (["run", "--elastic", "-c", "1"], NEEDS_RANKS),
        (["run", "--plain", "-c", "1"], NEEDS_RANKS),
        (["run", "--grace", "1", "-c", "1"], NEEDS_RANKS),
        (["run", "--max-restarts", "0", "-c", "1"], NEEDS_RANKS),
        (["run", "-n", "2", "--grace", "-1", "-c", "1"], "--grace wants a number of seconds, got -1"),
        (["run", "-n", "2", "--grace", "inf", "-c", "1"], "--grace wants a number of seconds, got inf"),
        (["run", "-n", "2", "--max-restarts", "-1", "-c", "1"], "not negative, got -1"),
        (["trace", "no_such.py"], "there is no file 'no_such.py'"),
        (["trace", "--graph-ops", "0", __file__], "--graph-ops must be at least 1, got 0"),
        (["bench", "eager/no_such_case"], "has no case 'no_such_case': it has "),
        (["wheel-torch", __file__], "is not a folder"),
        (["new-backend", "acme", "--directory", "no_such"], "there is no folder 'no_such' to make mindtorch-acme in"),
        (["verify", "--communicator", "mpi", "-n", "0"], "-n wants a number of processes, got 0"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_one_line_and_status_2(arguments, text, capsys):
    line = refused(capsys, *arguments)
    assert line.startswith(f"mindtorch {arguments[0]}: ")
    assert text in line


# ---- ops and keys ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "listed", "left_out"),
    [
        ("softmax", ["aten::softmax", "aten::log_softmax"], ["aten::exp"]),
        ("linalg_*", ["aten::linalg_inv"], ["aten::inverse"]),
        ("aten::add", ["aten::add", "aten::addmm"], ["aten::_add_relu"]),
        ("*inv?ex*", ["aten::linalg_inv_ex"], ["aten::linalg_inv"]),
    ],
)
def test_ops_of_a_pattern(capsys, pattern, listed, left_out):
    data = json.loads(printed(capsys, "ops", pattern, "--json"))
    found = {each["op"].partition(".")[0] for each in data["ops"]}
    assert found >= set(listed)
    assert not found & set(left_out)
    text = printed(capsys, "ops", pattern)
    assert all(name in text for name in listed)


def test_a_pattern_that_no_op_matches(capsys):
    line = refused(capsys, "ops", "sofmax")
    assert "no op listed by these options matches 'sofmax'. Did you mean softmax" in line
    assert "matches 'softmax'" in refused(capsys, "ops", "softmax", "--missing")


def test_ops_lists_every_op_with_totals(capsys):
    out = printed(capsys, "ops")
    data = json.loads(printed(capsys, "ops", "--json"))
    assert data["device"] == "cpu"
    assert out.startswith(f"Ops on cpu (key CPU, supplied by {data['distribution']})")
    assert len(data["ops"]) == sum(data["totals"].values())
    head = [line.split() for line in out.splitlines()[:12]]
    assert all([how, str(n)] in head for how, n in data["totals"].items() if n or how == "missing")
    assert all(f"\n{each['op']} " in out for each in data["ops"])
    assert max(map(len, out.splitlines())) <= 100


def test_ops_lists_what_is_missing_and_primitives_alone(capsys):
    assert json.loads(printed(capsys, "ops", "--missing", "--json"))["ops"] == []
    missing = json.loads(printed(capsys, "ops", "--backend", "XPU", "--missing", "--json"))
    assert {each["served"] for each in missing["ops"]} == {"missing"}
    assert len(missing["ops"]) == missing["totals"]["missing"] > 0
    primitives = json.loads(printed(capsys, "ops", "--primitives", "--json"))
    assert all(each["primitive"] for each in primitives["ops"])
    assert len(primitives["ops"]) >= len(missing["ops"])
    assert "none is missing" in printed(capsys, "ops", "--missing")


def test_keys_lists_the_order_and_the_aliases(capsys):
    data = json.loads(printed(capsys, "keys", "--json"))
    listed = [k["key"] for k in data["keys"]] + [a["alias"] for a in data["aliases"]]
    assert sorted(listed) == sorted(k.name for k in DispatchKey)
    out = printed(capsys, "keys", "--all")
    at = [out.index(f" {name} ") for name in ("AutogradCPU", "BackendSelect", "Pipeline", "CPU")]
    assert at == sorted(at)
    whole = " ".join(out.split())
    for alias in data["aliases"]:
        assert f"{alias['alias']}: {alias['purpose']} {', '.join(alias['members'])}" in whole
    assert len(printed(capsys, "keys").splitlines()) < 70


# ---- as a citizen of a shell -------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["ops", "--json"], ["keys", "--all"]])
def test_a_reader_may_leave(arguments):
    with subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
        process.wait(60)
    assert err == b""
    assert process.returncode in (0, 141)


def test_output_is_plain_ascii_wherever_it_goes():
    done = run("explain", "add", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout


def test_a_backend_that_fails_is_one_line_on_stderr(site):
    # a name near to that of a dispatch key, VE, which is not suggested
    site.backend("vex", "raise ImportError('no driver')\n")
    done = run("explain", "add", "--device", "vex", PYTHONPATH=str(site.folder))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    warning, error = done.stderr.splitlines()
    assert warning.startswith("mindtorch: warning: the backend 'vex' of mindtorch-vex 1.0")
    assert error.startswith("mindtorch explain: the 'vex' backend of mindtorch-vex 1.0 failed")
    assert "no driver" in error


def test_a_third_partys_backend_is_explained_by_its_device(site):
    site.toy("acme")
    done = run("explain", "add", "--device", "acme", PYTHONPATH=str(site.folder))
    assert done.returncode == 0, done.stderr
    assert re.search(r"^  PrivateUse1 +CHOSEN +.* of mindtorch-acme 1.0$", done.stdout, re.M)
    listed = run("ops", "--backend", "acme", "--missing", PYTHONPATH=str(site.folder))
    assert "Ops on acme (key PrivateUse1, supplied by mindtorch-acme 1.0)" in listed.stdout
