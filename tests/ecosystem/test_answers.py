"""What programs ask around tensors, and the answers: true ones, and errors that say the way out."""

import importlib
import operator
import os
import subprocess
import sys
import urllib.parse

import pytest

import mindtorch_core as torch
from mindtorch_core.ecosystem import absent_names
from mindtorch_core.frontend import surroundings
from mindtorch_core.torch_version import TorchVersion


def public_path(row):
    """The path by which programs import a module of the table."""
    for inner, shown in (("utilities.", "utils."), ("of_nn.", "nn."), ("of_sparse", "sparse")):
        row = row.replace(inner, shown)
    inside = {"autograd_profiler": "autograd.profiler"}
    return f"mindtorch_core.{inside.get(row, row)}"


@pytest.mark.parametrize("row", absent_names.ROWS)
def test_a_module_of_the_table(row):
    """It can be imported, has the names of its row, and no others."""
    module = importlib.import_module(public_path(row))
    made = absent_names.ROWS[row]
    for name in made.classes.split():
        kind = getattr(module, name)
        assert not isinstance(torch.ones(1), kind)
        with pytest.raises(NotImplementedError, match=f"{name} is not part of mindtorch: "):
            kind(1, key=2)
    for name in made.functions.split():
        with pytest.raises(NotImplementedError, match=f"{name} is not part of mindtorch: "):
            getattr(module, name)(1, key=2)
    for name in made.errors.split():
        assert issubclass(getattr(module, name), Exception)
    for name, members in made.enums.items():
        assert [m.name for m in getattr(module, name)] == members.split()
    for name, value in made.values.items():
        assert getattr(module, name) is value
    with pytest.raises(AttributeError, match="nonesuch"):
        module.nonesuch


@pytest.mark.parametrize("name", sorted({*surroundings.MODULES, *surroundings.NAMES}))
def test_a_name_of_torch(name):
    found = getattr(torch, name)
    if name in surroundings.MODULES and name not in ("cpu",):
        assert importlib.import_module(f"mindtorch_core.{name}") is found


def test_what_is_missing_says_so():
    with pytest.raises(AttributeError, match=r"'nonesuch': mindtorch .* lacks it.*list of issues"):
        torch.nonesuch
    assert not hasattr(torch, "nonesuch")


@pytest.mark.parametrize(
    "path",
    [
        "amp",
        "autograd",
        "backends",
        "distributions",
        "fft",
        "func",
        "jit",
        "linalg",
        "nn",
        "nn.functional",
        "nn.init",
        "nn.modules",
        "nn.utils",
        "optim",
        "random",
        "sparse",
        "special",
        "utils",
        "utils.data",
    ],
)
def test_modules_say_what_they_lack(path):
    module = operator.attrgetter(path)(torch)
    with pytest.raises(AttributeError, match=r"'nonesuch': mindtorch lacks it.*list of issues"):
        module.nonesuch
    assert not hasattr(module, "__nonesuch__")


def test_a_misspelt_name_of_a_module_is_guessed():
    with pytest.raises(AttributeError, match=r"Did you mean .*Adam"):
        torch.optim.Adma
    with pytest.raises(AttributeError, match=r"Did you mean vmap\?"):
        torch.func.vmapp


def test_versions_compare_as_pytorchs():
    pt = pytest.importorskip("torch")
    from torch.torch_version import TorchVersion as Theirs

    assert pt
    others = [
        "2.13",
        "2.13.0",
        "2.9.1",
        "3",
        "2.13.0rc1",
        "2.13.0.dev7",
        "2.13.1",
        (2, 13),
        (2, 14, 0),
    ]
    for text in ("2.13.0", "2.13.0+mindtorch.0.1.0", "2.13.0rc1", "2.13.0a2"):
        mine, theirs = TorchVersion(text), Theirs(text)
        for other in others:
            asked = [(a < other, a <= other, a > other, a >= other) for a in (mine, theirs)]
            assert asked[0] == asked[1], (text, other)
            assert (mine == other) is (theirs == other), (text, other)
    assert TorchVersion("2.13.0") == "2.13.0"
    assert TorchVersion("2.13.0").startswith("2.")


def test_compile_takes_what_pytorch_takes():
    assert torch.compile(len)([1, 2]) == 2

    @torch.compile(fullgraph=True, mode="max-autotune")
    def f(x):
        return x + 1

    assert f(1) == 2
    assert torch.compile(f, dynamic=True, options={"max_autotune": True}, backend="eager")(1) == 2
    assert torch.compile(len, disable=True) is len
    with pytest.raises(RuntimeError, match="Invalid backend: 'tvm'"):
        torch.compile(len, backend="tvm")
    with pytest.raises(TypeError, match="takes a function or a module"):
        torch.compile(3)
    with pytest.raises(RuntimeError, match="Unrecognized mode=fast"):
        torch.compile(len, mode="fast")
    with pytest.raises(RuntimeError, match="Either mode or options"):
        torch.compile(len, mode="default", options={"a": 1})
    assert not torch.compiler.is_compiling()
    assert torch.compiler.disable(len)([1]) == 1
    assert torch.compiler.disable(recursive=False)(len)([1]) == 1
    assert not torch._dynamo.is_compiling()


def test_scripts_are_python():
    assert torch.jit.script(len) is len
    assert torch.jit.ignore(len) is len
    assert torch.jit.ignore(drop=True)(len) is len
    assert torch.jit.unused(len) is len
    assert not torch.jit.is_scripting()
    assert not torch.jit.is_tracing()
    with pytest.raises(
        NotImplementedError, match=r"torch.jit.save is not part .* state with torch.save"
    ):
        torch.jit.save(len, "x.pt")
    with pytest.raises(NotImplementedError, match=r"torch.onnx.export .* export it with PyTorch"):
        torch.onnx.export(None, (), "x.onnx")


def test_a_process_alone():
    done = subprocess.run(
        [sys.executable, "-c", _ALONE],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        | {"MINDTORCH_COMMUNICATORS": "none"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


_ALONE = """
import pytest
import mindtorch_core as torch

assert not torch.distributed.is_available()
assert not torch.distributed.is_initialized()
assert (torch.distributed.get_rank(), torch.distributed.get_world_size()) == (0, 1)
with pytest.raises(RuntimeError, match="pip install mindtorch-mpi"):
    torch.distributed.init_process_group("gloo")
with pytest.raises(ValueError, match="Default process group has not been initialized"):
    torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
with pytest.raises(RuntimeError, match="pip install mindtorch-mpi"):
    torch.distributed.fsdp.fully_shard(torch.nn.Linear(1, 1))
"""


@pytest.mark.parametrize("name", ["get_rank", "get_world_size"])
def test_a_wrong_argument_is_named_alone(name):
    for args, kwargs, text in (
        ((), {"grop": 3}, r"got an unexpected keyword argument 'grop'\. Did you mean group\?"),
        ((1, 2), {}, r"takes from 0 to 1 positional arguments but 2 were given"),
    ):
        with pytest.raises(TypeError, match=rf"^{name}\(\) {text}") as found:
            getattr(torch.distributed, name)(*args, **kwargs)
        assert [entry.name for entry in found.traceback] == ["test_a_wrong_argument_is_named_alone"]


def test_settings_are_remembered():
    cudnn = torch.backends.cudnn
    before = cudnn.benchmark, cudnn.deterministic
    with cudnn.flags(enabled=True, benchmark=True, deterministic=True):
        assert cudnn.benchmark
        assert cudnn.deterministic
    assert (cudnn.benchmark, cudnn.deterministic) == before
    torch.backends.cuda.matmul.allow_tf32 = True
    assert torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    assert not torch.backends.mps.is_available()
    assert not cudnn.is_available()
    torch.set_float32_matmul_precision("high")
    assert torch.get_float32_matmul_precision() == "high"
    torch.set_float32_matmul_precision("highest")
    with pytest.raises(RuntimeError, match="'best' is no precision"):
        torch.set_float32_matmul_precision("best")
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.is_deterministic_algorithms_warn_only_enabled()
    assert torch.get_deterministic_debug_mode() == 1
    torch.set_deterministic_debug_mode("default")
    assert not torch.are_deterministic_algorithms_enabled()
    with pytest.raises(RuntimeError, match="expected 0, 1, or 2, but got 5"):
        torch.set_deterministic_debug_mode(5)


def test_cuda_that_is_not_there():
    cuda = importlib.import_module("mindtorch_core.cuda")
    assert torch.cuda is cuda
    assert cuda.memory_allocated() == 0
    assert cuda.get_rng_state_all() == []
    assert not cuda.is_bf16_supported()
    assert not isinstance(torch.ones(1), cuda.FloatTensor)
    for name in ("current_device", "synchronize", "get_device_properties", "get_rng_state"):
        with pytest.raises(AssertionError, match="no installed backend provides the device 'cuda'"):
            getattr(cuda, name)()
    with pytest.raises(AssertionError, match="no installed backend"):
        cuda.Stream()
    with pytest.raises(AttributeError, match=r"'torch.cuda' has no attribute 'nonesuch'"):
        cuda.nonesuch


def test_checks():
    torch._check(True)
    with pytest.raises(RuntimeError, match="Expected cond to be True"):
        torch._check(False)
    with pytest.raises(ValueError, match="mine"):
        torch._check_value(False, lambda: "mine")
    with pytest.raises(TypeError, match="cond must be a bool"):
        torch._check(torch.tensor(True))
    torch._check_tensor_all(torch.tensor([True, True]))
    with pytest.raises(RuntimeError, match="two"):
        torch._check_tensor_all(torch.tensor([True, False]), lambda: "two")


def test_hub_keeps_what_it_fetched(tmp_path, capsys):
    weights = {"w": torch.arange(3.0)}
    torch.save(weights, tmp_path / "model-deadbeef.pth")
    url = "file://" + urllib.parse.quote(str(tmp_path / "model-deadbeef.pth"))
    folder = tmp_path / "kept"
    for _ in range(2):
        found = torch.hub.load_state_dict_from_url(url, str(folder), progress=False)
        assert found["w"].tolist() == [0.0, 1.0, 2.0]
    assert capsys.readouterr().err.count("Downloading") == 1
    with pytest.raises(RuntimeError, match="invalid hash value"):
        torch.hub.load_state_dict_from_url(
            url, str(tmp_path / "other"), check_hash=True, progress=False
        )
    assert not list((tmp_path / "other").iterdir())
    with pytest.raises(NotImplementedError, match="clone someone/something yourself"):
        torch.hub.load("someone/something", "model")


def test_hub_calls_an_entry(tmp_path):
    (tmp_path / "hubconf.py").write_text(
        "dependencies = ['os']\ndef twice(x):\n    '''Two times.'''\n    return 2 * x\n"
    )
    assert torch.hub.load(tmp_path, "twice", 4, source="local") == 8
    assert torch.hub.list(tmp_path, source="local") == ["twice"]
    assert torch.hub.help(tmp_path, "twice", source="local") == "Two times."
    with pytest.raises(RuntimeError, match="Cannot find callable thrice"):
        torch.hub.load(tmp_path, "thrice", source="local")


def test_extensions_are_refused_with_the_way_out():
    from mindtorch_core.utils import cpp_extension

    with pytest.raises(NotImplementedError, match=r"load\('mine'\).*torch.library.custom_op"):
        cpp_extension.load("mine", ["mine.cpp"])


@pytest.mark.parametrize("size", [1, 2, 5, 8, 13])
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan(size, reverse):
    from mindtorch_core._higher_order_ops.associative_scan import associative_scan

    a, b = torch.rand(3, size), torch.rand(3, size)
    found = associative_scan(
        lambda p, q: {"a": p["a"] * q["a"], "b": q["a"] * p["b"] + q["b"]},
        {"a": a, "b": b}, 1, reverse,
    )  # fmt: skip
    h = torch.zeros(3)
    for i in reversed(range(size)) if reverse else range(size):
        h = a[:, i] * h + b[:, i]
        assert torch.allclose(found["b"][:, i], h)


def test_flops():
    from mindtorch_core.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        torch.ones(3, 4) @ torch.ones(4, 5)
        torch.nn.Linear(4, 2)(torch.ones(3, 4))
        torch.nn.functional.conv2d(torch.ones(1, 2, 5, 5), torch.ones(3, 2, 3, 3))
    assert counter.get_total_flops() == 2 * 60 + 2 * 24 + 2 * 9 * 54
    assert "convolution" in counter.get_table()


def test_settings_of_libraries_that_are_not_there():
    backends = torch.backends
    assert backends.mha.get_fastpath_enabled() is True
    backends.mha.set_fastpath_enabled(False)
    assert backends.mha.get_fastpath_enabled() is False
    backends.mha.set_fastpath_enabled(True)
    assert not backends.nnpack.is_available()
    backends.nnpack.set_flags(True)
    with backends.nnpack.flags(False):
        assert backends.nnpack.set_flags(False) == (False,)
    assert backends.nnpack.set_flags(True) == (True,)
    assert not backends.kleidiai.is_available()
    assert not backends.cusparselt.is_available()
    assert backends.cusparselt.version() is backends.cusparselt.get_max_alg_id() is None
    assert backends.miopen.immediate is False
    with backends.miopen.flags(immediate=True):
        assert backends.miopen.immediate is True
    assert backends.miopen.set_flags() == (False,)
    with pytest.raises(
        AttributeError, match=r"module 'torch.backends' has no attribute 'nonesuch'"
    ):
        backends.nonesuch
