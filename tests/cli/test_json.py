"""Every command prints JSON when it is asked to, and nothing else to standard output."""

import importlib
import json
import os
import subprocess
import sys

import pytest

from mindtorch_core.cli import COMMANDS, main


def run(*arguments, cwd=None):
    done = subprocess.run(
        [sys.executable, "-m", "mindtorch_core", *arguments],
        cwd=cwd, env=dict(os.environ), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_option(name, capsys):
    with pytest.raises(SystemExit):
        main([name, "--help"])
    assert "--json" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["explain", "add"],
        ["explain", "F.cross_entropy"],
        ["ops", "softmax"],
        ["keys"],
        ["backends"],
        ["cache"],
        ["doctor", "meta"],
        ["completion", "bash"],
    ],
)
def test_what_only_looks_prints_an_object(arguments, capsys):
    assert main([*arguments, "--json"]) == 0
    out = capsys.readouterr().out
    assert json.loads(out) is not None
    assert out.endswith("\n")


def test_completion_lists_the_options_as_data(capsys):
    assert main(["completion", "fish", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["commands"]) == set(COMMANDS)
    assert {"--json", "--rounds"} <= {row["option"] for row in found["commands"]["bench"]}
    assert found["script"].startswith("complete -c mindtorch")


def test_a_new_backend_says_which_files_it_wrote(tmp_path, capsys):
    assert main(["new-backend", "frob", "--directory", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    folder = tmp_path / "mindtorch-frob"
    assert found["folder"] == str(folder)
    assert sorted(found["files"]) == sorted(
        str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()
    )
    assert found["next"][-1] == "mindtorch verify frob --level smoke"


def test_a_wheel_says_where_it_is(tmp_path, capsys):
    assert main(["wheel-torch", str(tmp_path), "--json"]) == 0
    (wheel,) = tmp_path.iterdir()
    assert json.loads(capsys.readouterr().out) == {"wheel": str(wheel)}


def test_verify_gives_the_results_of_every_op():
    status, found, said = run(
        "verify", "meta", "--level", "smoke", "-k", "test_forward and exp", "--json"
    )
    assert status == found["status"] == 0
    assert found["device"] == "meta"
    assert found["totals"]["failed"] == 0
    assert found["totals"]["passed"] > 0
    ops = {row["op"]: row for row in found["ops"]}
    assert ops["exp"]["state"] == "passed"
    assert "conformance of 'meta'" in said  # the table is for people


@pytest.mark.parametrize(("code", "status"), [("print('hello')", 0), ("raise SystemExit(4)", 4)])
def test_run_tells_how_the_program_ended(code, status):
    ended, found, said = run("run", "--json", "-c", code)
    assert ended == found["status"] == status
    assert found["command"][-2:] == ["-c", code]
    assert found["environment"]["MINDTORCH_TORCH"] == "1"
    assert found["seconds"] > 0
    assert ("hello" in said) == (status == 0)


def test_output_of_several_processes_is_aside_too(tmp_path):
    (tmp_path / "say.py").write_text("print('one of two')\n")
    ended, found, said = run("run", "--json", "-n", "2", "say.py", cwd=tmp_path)
    assert ended == found["status"] == 0
    assert said.count("one of two") == 2


def test_commands_that_are_wrong_print_no_json(capsys):
    for arguments in (["explain", "nosuchop"], ["verify", "nosuchdevice"], ["trace", "nowhere.py"]):
        assert main([*arguments[:1], "--json", *arguments[1:]]) == 2
        assert capsys.readouterr().out == ""


def test_every_module_of_a_command_is_complete_for_shells():
    for name in COMMANDS:
        module = importlib.import_module(f"mindtorch_core.cli.{name.replace('-', '_')}")
        assert set(module.__all__) >= {"add_arguments", "run"}
