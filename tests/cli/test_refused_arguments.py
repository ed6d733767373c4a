"""Commands in this process: arguments that they refuse, and what they do for who looks on."""

import io
import json
import os
import sys
import webbrowser

import pytest

from mindtorch_core.cli import launch, main, rank, run, trace
from mindtorch_core.cli.new_backend import _check_name
from mindtorch_core.cli.outputs import Output
from mindtorch_core.cli.usage import UsageError, import_modules


def refused(capsys, *arguments):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    return line.removeprefix(f"mindtorch {arguments[0]}: ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["verify"], "name a device, or a communicator by --communicator"),
        (["verify", "cpu", "-n", "2"], "-n is for communicators; --shard I/N divides the tests of a de"),
        (["verify", "cpu", "--shard", "3/2"], "3/2"),
        (["verify", "cpu", "--html", "no_such/page.html"], "cannot write 'no_such/page.html': its folder"),
        (["verify", "cpu", "--junit", "no_such/it.xml"], "cannot write 'no_such/it.xml': its folder does"),
        (["verify", "--communicator", "mpi", "--shard", "1/2"], "--shard: that is of devices, not of com"),
        (["verify", "nonesuch"], "No installed backend provides it"),
        (["doctor", "cpuu"], "no backend 'cpuu' is installed (installed: "),
        (["explain", "nn.Identity"], "nn.Identity is a module: ask for what its forward calls, an op or"),
        (["explain", "nn.Nonesuch"], "Nonesuch"),
        (["run", "-n", "2", "--redirects", "9", "-c", "1"], "9"),
        (["bench", "--rounds", "0"], "--rounds must be at least 1, got 0"),
    ],
)  # fmt: skip
def test_one_line_says_what_is_wrong(arguments, said, capsys):
    line = refused(capsys, *arguments)
    assert said in line
    assert not line.startswith("mindtorch")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "Acme",
            "'Acme' cannot be a device's name: it is lower-case letters and digits, a letter first, i",
        ),
        ("mindtorch-my-chip", "such as my_chip"),
        ("class", "such as acme"),
        ("9", "such as acme"),
        ("a__b", "such as a_b"),
        ("x" * 200, "is too long: at most "),
        ("cpu", "the device 'cpu' is supplied by mindtorch-cpu"),
        ("cuda", "'cuda' is a device that PyTorch knows; choose a name of your own"),
        ("add", "torch.add is something else already; choose another name"),
        ("none", "MINDTORCH_BACKENDS=none means no backend at all; choose another name"),
        ("nn", "torch.nn is something else already"),
    ],
)
def test_names_of_new_devices(name, said):
    with pytest.raises(UsageError) as refusal:
        _check_name(name)
    assert said in str(refusal.value)


def test_a_package_of_that_name(monkeypatch, tmp_path):
    (tmp_path / "mindtorch_acmeish").mkdir()
    (tmp_path / "mindtorch_acmeish" / "__init__.py").write_text("")
    _check_name("acmeish")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UsageError, match="a package mindtorch_acmeish is installed already"):
        _check_name("acmeish")


def test_a_new_backend_is_written_once(tmp_path, capsys):
    folder = tmp_path / "mindtorch-my-chip"
    assert main(["new-backend", "my_chip", "--directory", str(tmp_path)]) == 0
    first, following, *commands = capsys.readouterr().out.splitlines()
    assert (first, following) == (f"wrote {folder}", "next:")
    assert commands == [
        f"  pip install -e '{folder}[test]'", "  mindtorch verify my_chip --level smoke",
    ]  # fmt: skip
    assert (folder / "src" / "mindtorch_my_chip").is_dir()
    assert "exists already; choose another --directory, or remove it" in refused(
        capsys, "new-backend", "my_chip", "--directory", str(tmp_path)
    )
    assert main(["new-backend", "other", "--directory", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["folder"] == str(tmp_path / "mindtorch-other")
    assert all((tmp_path / "mindtorch-other" / file).is_file() for file in found["files"])


def test_a_folder_that_cannot_be_written(tmp_path, capsys, monkeypatch):
    def full(self, *args, **kwargs):
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr("pathlib.Path.write_text", full)
    said = refused(capsys, "new-backend", "my_chip", "--directory", str(tmp_path))
    assert said.startswith("cannot write '")
    assert said.endswith("': No space left on device")


def test_modules_are_found_in_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "found_here_alone.py").write_text("VALUE = 3\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p not in ("", os.getcwd())])
    import_modules([])
    assert str(tmp_path) not in sys.path
    import_modules(["found_here_alone"])
    assert sys.modules.pop("found_here_alone").VALUE == 3
    assert sys.path[0] == os.getcwd()
    with pytest.raises(UsageError, match="cannot import 'nor_here'"):
        import_modules(["nor_here"])


# ---- who looks on -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "variables", "terminals", "looks"),
    [
        ("linux", {}, (True, True), False),
        ("linux", {"DISPLAY": ":0"}, (True, True), True),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, (True, True), True),
        ("linux", {"DISPLAY": ":0"}, (False, True), False),
        ("linux", {"DISPLAY": ":0"}, (True, False), False),
        ("darwin", {}, (True, True), True),
        ("win32", {}, (True, True), True),
        ("win32", {}, (True, False), False),
    ],
)
def test_a_page_is_opened_where_somebody_looks(monkeypatch, platform, variables, terminals, looks):
    class Stream(io.StringIO):
        def __init__(self, terminal):
            super().__init__()
            self.isatty = lambda: terminal

    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "platform", platform)
        patched.setattr(sys, "stdout", Stream(terminals[0]))
        patched.setattr(sys, "stderr", Stream(terminals[1]))
        found = trace._somebody_looks()
    assert found is looks


@pytest.mark.parametrize("there", [True, False])
def test_a_browser_that_is_not_there_is_told_of(monkeypatch, tmp_path, capsys, there):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda uri: opened.append(uri) or there)
    page = tmp_path / "page.html"
    trace._open(page)
    assert opened == [page.as_uri()]
    out, err = capsys.readouterr()
    assert (f"found no browser; the page is {page}" in out + err) is not there


def test_a_script_is_traced_into_files(tmp_path, capsys, monkeypatch):
    script = tmp_path / "script.py"
    script.write_text(
        "import mindtorch_core as torch\nwith torch.pipeline():\n    x = torch.ones(3).add(1).relu()\n"
    )
    monkeypatch.chdir(tmp_path)
    assert main(["trace", "--json", str(script)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["files"]
    assert all(os.path.exists(path) for path in found["files"].values())


# ---- processes ----------------------------------------------------------------------------------


def test_what_stands_on_standard_input(monkeypatch):
    def closed(number):
        raise OSError(9, "Bad file descriptor")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fstat", closed)
        patched.setattr(os, "isatty", closed)
        found = run._program_on_standard_input(), launch._input()
    assert found == (False, launch.subprocess.DEVNULL)


def test_a_rank_that_has_ended_is_noted_whole(tmp_path):
    assert not rank.has_gone(tmp_path, 0)  # it was never here
    rank._stay(tmp_path, "0")
    assert not rank.has_gone(tmp_path, 0)  # it holds its lock
    (tmp_path / "1.here").write_text("")
    assert rank.has_gone(tmp_path, 1)
    rank.note_end(tmp_path, 1, -9)
    assert not rank.has_gone(tmp_path, 1)
    assert (tmp_path / "1.end").read_text() == "-9"
    assert not (tmp_path / "1.ending").exists()


def test_a_pipe_that_nobody_reads():
    reading, writing = os.pipe()
    try:
        assert not rank._is_unread(writing)
        os.close(reading)
        assert rank._is_unread(writing)
    finally:
        os.close(writing)


def test_others_are_waited_for_no_longer_than_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv(rank.GRACE, "0")
    assert rank._grace() == 0
    rank._await_others(tmp_path, 2)
    monkeypatch.delenv(rank.GRACE)
    assert rank._grace() == 5
    for number in range(2):
        rank.note_end(tmp_path, number, 0)
    rank._await_others(tmp_path, 2)


def test_a_process_whose_end_is_said_for_it(tmp_path, capsys):
    output = Output(tmp_path, 3)
    with open(tmp_path / "3.err", "w") as err:
        err.write(
            "Traceback (most recent call last):\n  File ...\nDistributedError: rank 1 is gone\n"
        )
    output.note_end()
    output.await_process(1)
    assert output.is_consequence()
    assert output.blamed() == 1
    output.show_held()
    output.finish()
    shown = capsys.readouterr().err.splitlines()
    assert shown[0] == "[3] Traceback (most recent call last):"
    assert shown[-1] == "[3] DistributedError: rank 1 is gone"


def test_an_error_that_blames_nobody(tmp_path):
    output = Output(tmp_path, 0)
    with open(tmp_path / "0.err", "w") as err:
        err.write("Traceback (most recent call last):\n  File ...\nValueError: rank 1 of 2\n")
    output.note_end()
    output.await_process(1)
    assert (output.blamed(), output.is_consequence()) == (None, False)
    output.finish()
