"""Backends with one mistake each, loaded in this process: what is said of it, and that nothing stays."""

import re
import sys
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core import plugins
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.plugins import Diagnosis, diagnose, loader
from mindtorch_core.values.devices import TABLE
from mindtorch_core.values.errors import BackendUnavailableError

TOY = (Path(__file__).parents[1] / "toy_backend" / "plugin.py").read_text()


@pytest.fixture
def install(site, monkeypatch):
    """Installs the toy backend with changes to its text, as a device of that name."""
    names = []

    def made(name, *changes, key=None):
        text = TOY
        for before, after in changes:
            assert before in text
            text = text.replace(before, after, 1)
        site.backend(name, text, config=f"DEVICE, KEY, API = {name!r}, {key!r}, 2\n")
        loader.rediscover()
        names.append(name)

    with monkeypatch.context() as path:
        path.delenv("MINDTORCH_BACKENDS", raising=False)
        path.syspath_prepend(str(site.folder))
        yield made
        for name in names:
            if name in TABLE:
                plugins.unload(name)
            for module in [m for m in sys.modules if m.partition(".")[0] == f"mindtorch_{name}"]:
                del sys.modules[module]
    loader.rediscover()


MISTAKES = {
    "a hook without its mark": (
        [("@hookimpl\ndef mindtorch_register", "def mindtorch_register")],
        r"mindtorch_register at \S+plugin\.py:\d+ is not marked as a hook: decorate it with mindtorch_c",
    ),
    "a method that is none": (
        [("class ToyRuntime(Runtime):\n", "class ToyRuntime(Runtime):\n    synchronize = 3\n")],
        r"ToyRuntime\.synchronize must be a method, but is 3",
    ),
    "a kernel that is none": (
        [('    "add": add,\n', '    "add": add,\n    7: add,\n')],
        r"the name of an op is a str, not 7: pass \(name, key, fn\)",
    ),
    "a kernel that cannot be called": (
        [("registry.register_kernel(name, key, logged(name, kernel))", "registry.register_kernel(name, key, 5)")],
        r"Input function is required to be a callable but found type <class 'int'> \(as the kernel of ad",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_plugin(install, mistake):
    changes, words = MISTAKES[mistake]
    install("faulty", *changes)
    before = {name: dict(registry.entry(name).records) for name in ("aten::add", "aten::relu")}
    with (
        pytest.raises(BackendUnavailableError, match=words),
        pytest.warns(RuntimeWarning, match="faulty"),
    ):
        plugins.load("faulty")
    assert "faulty" not in TABLE
    assert {n: dict(registry.entry(n).records) for n in before} == before
    with pytest.raises(BackendUnavailableError, match=words):
        torch.ones(2, device="faulty")


@pytest.mark.parametrize(
    ("name", "key", "words"),
    [
        (
            "faulty",
            "Autograd",
            "the dispatch key Autograd is no backend's: leave key out, and",
        ),
        (
            "cuda",
            "PrivateUse1",
            "the device 'cuda' has the dispatch key CUDA, not PrivateUse1: say key='CUDA'",
        ),
        ("faulty", "Nothing", "could not parse dispatch key: Nothing"),
    ],
)
def test_a_key_that_it_cannot_have(install, name, key, words):
    install(name, key=key)
    with (
        pytest.raises(BackendUnavailableError, match=re.escape(words)),
        pytest.warns(RuntimeWarning, match=name),
    ):
        plugins.load(name)
    assert name not in TABLE


HOOK = "\n\n@hookimpl\ndef mindtorch_doctor():\n    {}\n"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise OSError('no driver')", "mindtorch_doctor() raised OSError: no driver"),
        ("return 'well'", "mindtorch_doctor() must return a Diagnosis, and returned 'well'"),
        ("return None", "devices: 2"),
    ],
)
def test_a_backend_that_examines_itself(install, body, said):
    install("examined", ("\nCALLS = []", f"{HOOK.format(body)}\nCALLS = []"))
    assert diagnose("examined") == Diagnosis(said.startswith("devices"), said)


@pytest.mark.parametrize(
    ("count", "found"),
    [
        ("return 0", Diagnosis(False, "no device was found")),
        ("raise OSError('no bus')", Diagnosis(False, "device_count() raised OSError: no bus")),
    ],
)
def test_devices_are_counted_by_the_way(install, count, found):
    install("counted", ("        return 2\n", f"        {count}\n"))
    assert diagnose("counted") == found


def test_a_list_of_failures_that_is_not_there(install):
    install("listed", ("runtime=RUNTIME", "runtime=RUNTIME, known_failures='no_such.txt'"))
    with pytest.raises(
        FileNotFoundError, match=r"backend of 'listed' says that \S+no_such\.txt lists"
    ):
        loader.known_failures_of("listed")


def test_a_list_of_failures(install):
    install("listed", ("runtime=RUNTIME", "runtime=RUNTIME, known_failures='plugin.py'"))
    assert loader.known_failures_of("listed").name == "plugin.py"
    install("without")
    assert loader.known_failures_of("without") is None


def test_a_kernel_of_an_op_that_there_is_not(install):
    install("strange", ('    "add": add,\n', '    "add": add,\n    "ad": add,\n'))
    with pytest.warns(UserWarning, match="no such op") as said:
        plugins.load("strange")
    assert len(said) == 1
    words = str(said[0].message)
    assert words.startswith(
        "mindtorch-strange 1.0 registers a kernel for 'aten::ad', and there is no s"
    )
    assert "add" in words.partition("\n")[0].rpartition("nothing will call it.")[2]
    assert "\n  kernel: " in words
    assert (torch.ones(2, device="strange") + 1).tolist() == [2, 2]
