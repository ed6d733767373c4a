"""A fallback of a third party's device that runs what it lacks on the CPU, for all ops."""

from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs.define import definitions
from mindtorch_core.opdefs.torch_ops import overload_of
from mindtorch_core.testing.comparison import assert_close, outcome
from mindtorch_core.testing.samples import samples

registry.load_backends()

pytestmark = pytest.mark.slow
SOURCES = Path(__file__).parents[1] / "toy_backend"
DEFINED = {d.name: d for d in definitions()}


def moved(value, device):
    """Arguments or results with every tensor on a device."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, list | tuple):
        return [moved(v, device) for v in value]
    return value


def run_on_cpu(op, *args, **kwargs):
    """The library's fallback, and a note of the op it was called for."""
    SEEN.append(str(op))
    return torch.library.cpu_fallback(op.name(), *args, **kwargs)


SEEN = []


@pytest.fixture
def fallback(toy):
    SEEN.clear()
    key = torch.DispatchKeySet(torch.empty(0, device="toy")._keys) & registry.key_of("toy")
    with torch.library._scoped_library("_", "IMPL", key.highest()) as lib:
        lib.fallback(run_on_cpu)
        yield


def test_without_it_the_op_is_missing(toy):
    with pytest.raises(torch.NoKernelError, match=r"'aten::exp' .* 'toy' backend"):
        torch.exp(torch.ones(2, device="toy"))


def test_it_serves_what_the_device_lacks_and_nothing_else(fallback):
    x = torch.tensor([0.0, 1.0], device="toy")
    before = torch.library.fallback_counts("toy").get("aten::exp", 0)
    y = torch.exp(x) + x
    assert SEEN == ["aten.exp.default"]
    assert torch.library.fallback_counts("toy")["aten::exp"] == before + 1
    assert y.device.type == "toy"
    assert_close(y.cpu(), torch.tensor([1.0, 3.718282]))


def test_gradients_pipelines_and_modes(fallback):
    class Count(torch.DispatchMode):
        ops = ()

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.ops += (str(func),)
            return func(*args, **(kwargs or {}))

    x = torch.tensor([0.0, 1.0], device="toy", requires_grad=True)
    with torch.pipeline():
        y = torch.exp(x).sum()
    with Count() as mode:
        y.backward()
    assert_close(x.grad.cpu(), torch.tensor([1.0, 2.718282]))
    assert "aten.mul.Tensor" in mode.ops


@pytest.mark.parametrize("name", DEFINED)
def test_every_op(fallback, name):
    op = overload_of(registry.entry(name))
    for sample in samples(DEFINED[name])[:2]:
        sample_args, sample_kwargs = sample.build("cpu")
        sample_kwargs.pop("out", None)
        expected = outcome(op, *sample_args, **sample_kwargs)
        if isinstance(expected, Exception) or DEFINED[name].traits.random:
            continue
        args, kwargs = sample.build("cpu")
        kwargs.pop("out", None)
        kwargs = {k: "toy" if k == "device" else v for k, v in kwargs.items()}
        kwargs = {k: moved(v, "toy") for k, v in kwargs.items()}
        found = outcome(op, *(moved(a, "toy") for a in args), **kwargs)
        if (
            str(found) == "the toy sums over all dimensions only"
        ):  # a kernel of its own, and its limits
            continue
        if "to be on cpu" in str(found):  # positions that decide a shape, as in PyTorch
            continue
        if "empty" in name:
            assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
            continue
        assert_close(found, expected, check_device=False, equal_nan=True)


@pytest.mark.parametrize(
    "draw",
    [lambda x: torch.poisson(x), lambda x: x.random_(), lambda x: torch.randperm(3, device="toy")],
)
def test_random_numbers_need_a_kernel_that_seeds_them(fallback, toy, draw):
    toy.RUNTIME.generator = lambda on: None
    x = torch.ones(3, device="toy")
    for _ in range(2):
        with pytest.raises(
            torch.NoKernelError, match=r"itself needs 'aten::random_\.from'"
        ) as refused:
            draw(x)
    assert (refused.value.op, refused.value.device) == ("aten::random_.from", "toy")
    assert torch.exp(x).tolist() == [pytest.approx(2.718282)] * 3  # the fallback itself is well


def test_copies_need_a_kernel(site):
    source = (SOURCES / "plugin.py").read_text()
    for name in ("copy_", "clone"):
        source = source.replace(f'    "{name}": {name},\n', "")
    source += "\nregistry.register_fallback(KEY, torch.library.cpu_fallback)\n"
    site.backend("toy", source, config="DEVICE, KEY, API = 'toy', 'PrivateUse2', 1\n")
    site.run(
        "x = torch.ones(2, 3, device='toy')\n"
        "assert x.exp().tolist()[1][2] > 2.7\n"
        "try:\n"
        "    x.t().tolist()\n"
        "except torch.NoKernelError as error:\n"
        "    assert \"itself needs 'aten::copy_' on 'toy'\" in str(error), error\n"
        "else:\n"
        "    assert False, 'nothing was raised'\n"
    )
