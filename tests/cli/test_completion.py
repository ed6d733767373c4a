"""`mindtorch completion`: shells offer the commands and the options that there are."""

import importlib
import shutil
import subprocess

import pytest

from mindtorch_core.cli import COMMANDS, main

ASK = """
{script}
COMP_WORDS=(mindtorch {words})
COMP_CWORD={at}
_mindtorch
echo "${{COMPREPLY[@]}}"
"""


def script(capsys, shell):
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("ex", ["explain"]),
        ("ve", ["verify"]),
        ("explain --p", ["--pipeline"]),
        ("explain add --req", ["--requires-grad"]),
        ("ops --m", ["--missing"]),
        ("ops nothing", []),
        ("''", list(COMMANDS)),
    ],
)
def test_bash_offers_what_fits(capsys, words, offered):
    text = ASK.format(script=script(capsys, "bash"), words=words, at=len(words.split()))
    done = subprocess.run(
        ["bash", "--norc", "-c", text], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.split() == offered


def test_zsh_takes_the_script_of_bash(capsys):
    text = script(capsys, "zsh")
    assert text.endswith(script(capsys, "bash"))
    assert "bashcompinit" in text.splitlines()


def test_fish_knows_every_command_and_option(capsys):
    lines = script(capsys, "fish").splitlines()
    assert all(line.startswith("complete -c mindtorch -n ") for line in lines)
    for name in COMMANDS:
        (line,) = [each for each in lines if f" -a {name} " in each]
        assert "__fish_use_subcommand" in line
        importlib.import_module(f"mindtorch_core.cli.{name.replace('-', '_')}")
    assert any("from verify' -l level -d 'how much is tested" in line for line in lines)
    assert any("from verify' -s h -d 'show this help" in line for line in lines)
    assert all(line.replace("\\'", "").count("'") % 2 == 0 for line in lines)


def test_another_shell_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["completion", "cmd"])
    assert ended.value.code == 2
    assert "choose from" in capsys.readouterr().err
