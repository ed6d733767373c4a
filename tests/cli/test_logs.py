"""Where the lines of several processes go: shown and into files, as torchrun's options say."""

import os
import subprocess
import sys

import pytest

from mindtorch_core.cli.logs import Logs

PROGRAM = """
import os, sys
rank = os.environ["RANK"]
print("out", rank)
print("err", rank, file=sys.stderr)
with open(os.environ["TORCHELASTIC_ERROR_FILE"], "w") as file:
    file.write(rank)
"""


def run(folder, module, *options):
    """What is shown, without labels, and what files hold, by rank and name."""
    script = folder / "program.py"
    script.write_text(PROGRAM)
    logs = folder / module.partition(".")[0]
    command = [sys.executable, "-m", *module.split(), "--nproc-per-node=2", f"--log-dir={logs}"]
    done = subprocess.run(
        [*command, *options, str(script)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True, text=True, timeout=58, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [line[-5:] for line in (done.stdout + done.stderr).splitlines()]
    shown = sorted(line for line in lines if line[:4] in ("out ", "err "))
    files = {}
    for run in logs.iterdir():
        for file in run.rglob("*.*"):
            if file.name in ("stdout.log", "stderr.log", "error.json"):
                files[str(file.relative_to(run))] = file.read_text()
    return shown, files


@pytest.mark.parametrize(
    "options",
    [
        ["-r", "0:1,1:2", "-t", "1:1"],
        ["--tee", "3", "--local-ranks-filter", "1", "--logs-specs=default"],
    ],
    ids=" ".join,
)
def test_lines_go_where_torchrun_has_them_go(tmp_path, options):
    pytest.importorskip("torch")
    mine = run(tmp_path, "mindtorch_core run -m torch.distributed.run", *options)
    assert mine == run(tmp_path, "torch.distributed.run", *options)
    assert mine[1]


def test_what_is_redirected_is_not_shown(tmp_path):
    logs = Logs(str(tmp_path), "name", redirects="0:3,1:2", tee="1:1", shown="0,1")
    logs.begin(2, 3)
    assert [logs.shows(rank, 0) for rank in range(3)] == [False, True, False]
    assert [logs.shows(rank, 1) for rank in range(3)] == [False, False, False]
    places = [[logs.place(rank, stream) for stream in (0, 1)] for rank in range(3)]
    folder = logs.folder / "attempt_2"
    assert places == [
        [folder / "0" / "stdout.log", folder / "0" / "stderr.log"],
        [folder / "1" / "stdout.log", folder / "1" / "stderr.log"],
        [None, None],
    ]
    assert logs.folder.parent == tmp_path
    assert logs.folder.name.startswith("name_")


def test_without_options_there_are_no_files_and_all_is_shown():
    logs = Logs()
    assert logs.folder is None
    assert logs.place(0, 0) is None
    assert logs.shows(5, 1)


@pytest.mark.parametrize("text", ["4", "0:4", "a", "1:1,", "0-1:3"])
def test_streams_are_numbers(text):
    with pytest.raises(ValueError, match=r"^--redirects: .* does not match"):
        Logs(redirects=text)


def test_ranks_are_numbers_and_the_folder_is_none_of_a_file(tmp_path):
    with pytest.raises(ValueError, match="local ranks are whole numbers"):
        Logs(shown="0-1")
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="is a file"):
        Logs(str(tmp_path / "file"))


def test_files_that_nobody_installed_are_refused_by_name(capsys):
    from mindtorch_core.distributed.run import main

    with pytest.raises(SystemExit):
        main(["--logs-specs=mine", "program.py"])
    assert "entrypoint under 'torchrun.logs_specs[mine]' key" in capsys.readouterr().err
