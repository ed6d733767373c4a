"""Compiled kernels on disk: private, bounded, shared by processes, and never trusted when damaged."""

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from mindtorch_core.cli import main
from mindtorch_cpu.native import store
from mindtorch_cpu.native.kernels import KERNELS, Kernels
from mindtorch_cpu.native.program import Graph, Node, Program

PROGRAM = """
import mindtorch_core as torch
from mindtorch_core.values.devices import row_of
from mindtorch_cpu.fusion.limits import LIMITS
from mindtorch_cpu.native.kernels import KERNELS

x = torch.arange(5000.0)
row_of("cpu").runtime.planned_from = LIMITS.min_elements = 1
KERNELS.mode = "now"
with torch.pipeline() as pipe:
    made = [(x * 0.01 + i).tanh().reshape(-1) if i == 0 else (x + i).exp() * 0.5 for i in range(3)]
assert torch.equal(made[0], (x * 0.01 + 0).tanh())
stats = KERNELS.stats()
print(stats["kernels"], stats["from_disk"], stats["reason"])
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    KERNELS.wait()  # what earlier tests have begun to compile goes where they keep it
    where = tmp_path / "cache"
    monkeypatch.setenv("MINDTORCH_KERNEL_CACHE", str(where))
    return where


def run(*options):
    done = subprocess.run(
        [sys.executable, *options, "-c", PROGRAM], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[:2]


@pytest.fixture
def compiler():
    pytest.importorskip("llvmlite")


def test_what_is_saved_is_loaded(folder):
    assert store.load("a") is None
    store.save("a", b"code")
    assert store.load("a") == b"code"
    assert store.load("b") is None
    assert store.usage() == (1, next(folder.iterdir()).stat().st_size)
    assert store.clear() == 1
    assert store.load("a") is None


def test_files_are_private(folder):
    store.save("a", b"code")
    (path,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", [b"", b"short", b"mindtorch kernel 1\n" + b"0" * 40])
def test_a_damaged_file_counts_as_missing(folder, damage):
    store.save("a", b"code")
    (path,) = folder.iterdir()
    path.write_bytes(damage)
    assert store.load("a") is None
    store.save("a", b"code")
    assert store.load("a") == b"code"


def test_a_file_under_another_name_counts_as_missing(folder):
    store.save("a", b"code")
    (path,) = folder.iterdir()
    path.rename(folder / path.name.replace("a", "b", 1))
    assert store.load("b") is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no such permissions")
@pytest.mark.parametrize("where", ["folder", "file"])
def test_what_others_can_write_is_not_used(folder, where):
    store.save("a", b"code")
    (path,) = folder.iterdir()
    (folder if where == "folder" else path).chmod(0o722)
    assert store.load("a") is None


def test_a_link_is_not_followed(folder, tmp_path):
    store.save("a", b"code")
    (path,) = folder.iterdir()
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert store.load("a") is None


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MINDTORCH_KERNEL_CACHE", str(tmp_path / "file" / "below"))
    store.save("a", b"code")
    assert store.load("a") is None
    assert store.usage() == (0, 0)


def test_nothing_is_kept_where_the_variable_is_empty(monkeypatch):
    monkeypatch.setenv("MINDTORCH_KERNEL_CACHE", "")
    store.save("a", b"code")
    assert store.load("a") is None
    assert store.folder() is None


def test_the_least_recently_used_go_first(folder, monkeypatch):
    monkeypatch.setattr(store, "_MOST_FILES", 4)
    for age, name in enumerate("abcd"):
        store.save(name, b"code")
        (path,) = (p for p in folder.iterdir() if p.name.startswith(name))
        os.utime(path, (1000 + age, 1000 + age))
    assert store.load("a") == b"code"  # which makes it the newest
    store.save("e", b"code")
    assert [name for name in "abcde" if store.load(name)] == ["a", "d", "e"]


KILLED = """
import os
from mindtorch_cpu.native import store

os.replace = lambda *paths: os._exit(0)
store.save("a", bytes(1000))
"""


def test_what_a_killed_process_leaves_is_counted_cleared_and_pruned(folder):
    def leave():
        subprocess.run([sys.executable, "-c", KILLED], check=True, timeout=120)
        (path,) = (p for p in folder.iterdir() if p.suffix != ".kernel")
        return path

    left = leave()
    assert store.usage() == (1, left.stat().st_size)
    assert store.clear() == 1
    assert list(folder.iterdir()) == []
    left = leave()
    store.save("b", b"code")
    assert left.exists()  # whoever writes it may be at work
    os.utime(left, (1000, 1000))
    store.save("c", b"code")
    assert sorted(path.name for path in folder.iterdir()) == ["b.kernel", "c.kernel"]


def test_processes_share_kernels(compiler, folder):
    made, from_disk = run()
    assert int(made) > 0
    assert from_disk == "0"
    assert run() == [made, made]
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:-9])
    assert run() == [made, "0"]
    assert run() == [made, made]


def test_what_lies_on_disk_is_loaded_by_the_launch_that_wants_it(compiler, folder, monkeypatch):
    product = Graph(("f4", "f4"), (), (Node("multiply", "f4", (0, 1)),), ((2, 2),))
    program = Program(product, ("dense",) * 3, 0)
    first, second = Kernels(), Kernels()
    asked = []
    monkeypatch.setattr(Kernels, "_ask", lambda self, program: asked.append(program))
    assert first.usable  # the compiler is loaded when something first asks for it
    assert [first.get(program, 8) for _ in range(2)] == [None, None]
    assert asked == [program]  # to be compiled behind the program's back
    made = first.get(program, 8, at_once=True)
    assert made.source == "compiled"
    assert second.get(program, 8) is None
    assert second.get(program, 8).source == "disk"
    assert Kernels().get(program, 1 << 30).source == "disk"
    assert asked == [program]
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:-9])
    assert Kernels().get(program, 1 << 30) is None
    assert asked == [program, program]


def test_processes_that_start_at_once(compiler, folder):
    with ThreadPoolExecutor(4) as pool:
        counts = {made for made, _ in pool.map(lambda _: run(), range(4))}
    assert len(counts) == 1
    assert not [path for path in folder.iterdir() if path.suffix != ".kernel"]


def test_the_command_shows_and_clears_it(folder, capsys):
    store.save("a", b"code")
    assert main(["cache"]) == 0
    assert capsys.readouterr().out.startswith("cpu: 1 compiled kernels, ")
    assert main(["cache", "--clear", "--json"]) == 0
    assert '"cpu": "0 compiled kernels, ' in capsys.readouterr().out
    assert list(folder.iterdir()) == []
