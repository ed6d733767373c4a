"""Machines that do not tell what others tell: no home, no caches, no permissions, no ops."""

import os
import types

import pytest

from mindtorch_cpu import processor, register
from mindtorch_cpu.native import store


def test_a_user_without_a_home_keeps_nothing(monkeypatch):
    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("MINDTORCH_KERNEL_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(store.Path, "home", nowhere)
    assert store.folder() is None
    store.save("a", b"code")
    assert store.load("a") is None


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MINDTORCH_KERNEL_CACHE", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no such permissions")
def test_nothing_is_written_where_others_can_write(folder):
    folder.mkdir()
    folder.chmod(0o777)
    store.save("a", b"code")
    assert not [*folder.iterdir()]


def test_systems_without_users_trust_what_is_there(folder, monkeypatch):
    without = types.SimpleNamespace(**{k: v for k, v in vars(os).items() if k != "geteuid"})
    monkeypatch.setattr(store, "os", without)
    store.save("a", b"code")
    folder.chmod(0o777)
    assert store.load("a") == b"code"


def test_a_file_that_cannot_be_put_in_its_place_is_taken_away(folder, monkeypatch):
    def refuse(source, target):
        raise OSError("the file system is full")

    monkeypatch.setattr(store.os, "replace", refuse)
    store.save("a", b"code")
    assert not [*folder.iterdir()]
    assert store.load("a") is None


def test_caches_that_are_not_told_are_32_kib(tmp_path):
    assert processor.first_cache(tmp_path) == 1 << 15
    told = {
        "index0": {"level": "1", "type": "Instruction", "size": "16K"},
        "index1": {"level": "1", "type": "Data"},  # its size cannot be read
        "index2": {"level": "2", "type": "Unified", "size": "512K"},
        "index3": {"level": "1", "type": "Data", "size": "many"},
        "index4": {"level": "1", "type": "Data", "size": "48K"},
    }
    for index, files in told.items():
        (tmp_path / "cache" / index).mkdir(parents=True)
        for name, text in files.items():
            (tmp_path / "cache" / index / name).write_text(f"{text}\n", encoding="utf-8")
    assert processor.first_cache(tmp_path) == 48 << 10


def test_a_processor_of_which_nothing_is_told(monkeypatch):
    monkeypatch.setattr(processor, "Path", lambda name: types.SimpleNamespace(read_text=refused))
    assert processor._told() == {}


def refused(encoding):
    raise OSError("there is no such file")


def test_ops_without_what_a_kernel_asks_for():
    with pytest.raises(LookupError, match="cosine_embedding_loss has no rule"):
        register.rule_of("cosine_embedding_loss")
    with pytest.raises(LookupError, match="mul is not made of other ops"):
        register.composition_of("mul")
