"""What a vendor gets wrong is told with the vendor's line: while loading, or at the first call."""

import pytest

pytestmark = pytest.mark.slow

# A right backend. Each mistake below replaces a part of it.
PLUGIN = """
import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.library import cpu_fallback
from mindtorch_core.plugins import Backend, hookimpl
from mindtorch_core.runtime import Runtime

class VexRuntime(Runtime):
    def device_count(self):
        return 1
    def allocate(self, nbytes, on):
        return bytearray(nbytes)
    def copy_from_host(self, memory, start, data):
        memory[start : start + len(data)] = data
    def copy_to_host(self, memory, start, nbytes):
        return memoryview(bytes(memory[start : start + nbytes]))

RUNTIME = VexRuntime()

def neg(self):
    return RUNTIME.from_host((-self.cpu()).numpy().data.cast("B"), self.shape, self.dtype, self.device)

def exp_(self):
    return self

KERNELS = {"neg": neg, "exp_": exp_}

@hookimpl
def mindtorch_backend():
    return Backend(device="vex", runtime=RUNTIME, api=1)

@hookimpl
def mindtorch_register(key):
    for name, fn in KERNELS.items():
        registry.register_kernel(name, key, fn)
    registry.register_fallback(key, cpu_fallback)
"""
TWICE = '    registry.register_kernel("neg", key, lambda self: self)\n'


def with_mistake(part, wrong):
    """The backend with a part replaced, and the number of the line in which that begins."""
    assert PLUGIN.count(part) == 1, part
    return PLUGIN.replace(part, wrong), PLUGIN[: PLUGIN.index(part)].count("\n") + 1


def test_the_backend_without_a_mistake_works(site):
    site.backend("vex", PLUGIN)
    site.run('assert (-torch.tensor([1.0, -2.0], device="vex")).tolist() == [-1.0, 2.0]')


# The part, what stands there instead, what is said, and the line that is named: the one with a text,
# or None if no line is to blame but the entry point.
DESCRIBED, REGISTERED = "return Backend(", "registry.register_kernel("
REFUSED = {
    "driver": ("import mindtorch_core as torch", "import vexdriver", "named 'vexdriver'", "vexdriver"),
    "hook that is not marked": ("@hookimpl\ndef mindtorch_register", "def mindtorch_register",
                                "is not marked as a hook: decorate it with", None),
    "hook that returns nothing": (DESCRIBED, "Backend(", "or it returns None", None),
    "argument of a hook": ("mindtorch_register(key)", "mindtorch_register(key, device)",
                           "{'device'} are declared in the hookimpl", None),
    "no api": (", api=1", "", "missing 1 required positional argument: 'api'", DESCRIBED),
    "api as text": ("api=1", 'api="1"', "Backend(api=...) takes an int, got '1'", DESCRIBED),
    "class of a runtime": ("runtime=RUNTIME", "runtime=VexRuntime",
                           "an instance of a class derived from mindtorch_core.runtime", DESCRIBED),
    "runtime of its own kind": ("class VexRuntime(Runtime)", "class VexRuntime",
                                "an instance of a class derived from mindtorch_core", DESCRIBED),
    "method that is missing": ("    def device_count(self):\n        return 1\n", "",
                               "Can't instantiate abstract class VexRuntime", "RUNTIME = "),
    "method with too few arguments": ("allocate(self, nbytes, on)", "allocate(self, nbytes)",
                                      "with (nbytes, on): too many positional", DESCRIBED),
    "method that is none": ("        return 1\n", "        return 1\n    synchronize = None\n",
                            "VexRuntime.synchronize must be a method, but is None", DESCRIBED),
    "key that does not exist": ("api=1", 'api=1, key="PrivateUse4"', "Did you mean PrivateUse", None),
    "key of a functionality": ("api=1", 'api=1, key="AutogradCPU"', "is no backend's", None),
    "kernel that is none": ('"neg": neg', '"neg": None', "required to be a callable", REGISTERED),
    "arguments changed about": ("register_kernel(name, key, fn)", "register_kernel(key, name, fn)",
                                "the name of an op is a str, not <DispatchKey.Private", REGISTERED),
    "two fallbacks": ("cpu_fallback)\n", "cpu_fallback)\n    registry.register_fallback(key, neg)\n",
                      "multiple backend fallbacks", "register_fallback(key, neg)"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_mistake_that_is_found_while_loading(site, name):
    part, wrong, told, blamed = REFUSED[name]
    source, _ = with_mistake(part, wrong)
    site.backend("vex", source)
    at = "(at the entry point vex = mindtorch_vex.plugin)"
    if blamed is not None:
        at = f"plugin.py:{source[: source.index(blamed)].count(chr(10)) + 1})"
    site.run(
        f"""
record_warnings()
with refused("'vex' backend of mindtorch-vex 1.0 failed to load", {told!r}, {at!r}):
    torch.ones(2, device="vex")
(text,) = warned
assert {told!r} in text and {at!r} in text, text
cpu_and_meta_work()
"""
    )


def test_a_device_that_pytorch_knows_has_its_own_key(site):
    site.backend("cuda", PLUGIN.replace('"vex"', '"cuda"'))
    site.run(
        """
record_warnings()
with refused("the device 'cuda' has the dispatch key CUDA, not PrivateUse1: say key='CUDA'"):
    torch.ones(2, device="cuda")
"""
    )


def test_a_warning_stands_at_the_line_that_asked_for_the_device(site):
    site.backend("vex", "import vexdriver")
    site.run(
        """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with refused("vexdriver"):
        torch.ones(2, device="vex")
assert [w.filename for w in caught] == [__file__]
"""
    )


DOUBTFUL = {
    "unknown op": ('"neg": neg', '"negg": neg', ["'aten::negg'", "no such op", "Did you mean neg"]),
    "unknown overload": ('"neg": neg', '"neg.Scalar": neg', ["'aten::neg.Scalar'", "no such op"]),
    "two kernels": ("    registry.register_fallback", TWICE + "    registry.register_fallback",
                    ["Overriding", "aten::neg at PrivateUse", "previous kernel", "new kernel"]),
}  # fmt: skip


@pytest.mark.parametrize("name", DOUBTFUL)
def test_what_is_rarely_meant_is_a_warning(site, name):
    part, wrong, told = DOUBTFUL[name]
    source, _ = with_mistake(part, wrong)
    site.backend("vex", source)
    site.run(
        f"""
record_warnings()
torch.ones(2).to("vex")
(text,) = warned
assert all(part in text for part in {told!r}), text
assert "plugin.py:" in text and "mindtorch-vex 1.0" in text, text
"""
    )


NEG = PLUGIN[PLUGIN.index("def neg(self)") : PLUGIN.index("def exp_")]
CALLS = {
    "returns nothing": ("def neg(self): pass\n", "returned None where the schema says a Tensor"),
    "returns a pair": (
        "def neg(self): return self, self\n",
        "returned a tuple of 2 where the schema",
    ),
    "takes nothing": ("def neg(): pass\n", "takes 0 positional arguments, and the call passes 1"),
    "requires more": (
        "def neg(self, out): pass\n",
        "requires 'out', which the schema does not have",
    ),
    "requires a keyword": ("def neg(self, *, out): pass\n", "requires the keyword argument 'out'"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_kernel_that_does_not_fit_its_schema_is_named(site, name):
    wrong, told = CALLS[name]
    source, line = with_mistake(NEG, wrong)
    site.backend("vex", source)
    site.run(
        f"""
a = torch.ones(2).to("vex")
for _ in range(2):
    try:
        torch.neg(a)
    except RuntimeError as error:
        assert all(p in str(error) for p in ({told!r}, "aten::neg", "plugin.py:{line}")), error
    else:
        raise AssertionError("it did not fail")
"""
    )


def test_an_in_place_kernel_that_forgets_to_return_is_named(site):
    source, line = with_mistake("def exp_(self):\n    return self", "def exp_(self):\n    pass")
    site.backend("vex", source)
    site.run(
        f"""
try:
    torch.ones(2).to("vex").exp_()
except RuntimeError as error:
    assert "the kernel of aten::exp_ returned None" in str(error), error
    assert str(error).endswith("plugin.py:{line}"), error
else:
    raise AssertionError("it did not fail")
"""
    )


def test_a_pipeline_says_what_the_kernel_gave(site):
    source, _ = with_mistake(NEG, "def neg(self): pass\n")
    site.backend("vex", source)
    site.run(
        """
try:
    with torch.pipeline():
        kept = torch.neg(torch.ones(2).to("vex"))
except torch.PipelineError as error:
    assert "the kernel gave None where its meta function had said [2]" in str(error), error
else:
    raise AssertionError("it did not fail")
"""
    )


def test_an_op_without_a_kernel_is_no_missing_key_of_a_table(site):
    source, _ = with_mistake("    registry.register_fallback(key, cpu_fallback)\n", "")
    site.backend("vex", source)
    site.run(
        """
import traceback
try:
    torch.exp(torch.ones(2).to("vex"))
except torch.NoKernelError as error:
    assert "KeyError" not in "".join(traceback.format_exception(error))
else:
    raise AssertionError("it did not fail")
"""
    )


def test_a_runtime_may_have_an_init_of_its_own(site):
    own = "class VexRuntime(Runtime):\n    def __init__(self):\n        self.handle = None\n"
    source, _ = with_mistake("class VexRuntime(Runtime):\n", own)
    site.backend("vex", source)
    site.run(
        """
torch.vex.set_device(0)
assert torch.vex.current_device() == torch.vex.current_stream().device.index == 0
"""
    )


def test_a_misspelt_device_is_suggested(site):
    site.backend("vex", PLUGIN)
    site.run('with refused("Did you mean vex?"):\n    torch.ones(2, device="vexx")\n')


COPIES = """
import contextlib

def refused(call, pipeline):
    try:
        with torch.pipeline() if pipeline else contextlib.nullcontext():
            call(torch.zeros(2, 3, device="vex"))
    except RuntimeError as error:
        return str(error)

CALLS = {
    "The size of tensor a (3) must match the size of tensor b (7)": lambda x: x.copy_(torch.ones(7)),
    "The size of tensor a (3) must match": lambda x: x.copy_(torch.ones(7, device="vex")),
    "output with shape [2, 3] doesn't match": lambda x: x.copy_(torch.ones(4, 2, 3, device="vex")),
    "output with shape [1, 3] doesn't match": lambda x: x[:1].copy_(torch.ones(2, 1, 3)),
    "The expanded size of the tensor (3) must match": lambda x: x.__setitem__(0, torch.ones(7)),
}
for text, call in CALLS.items():
    assert text in refused(call, False), refused(call, False)
    assert text in refused(call, True), refused(call, True)
x = torch.zeros(2, 2, device="vex")
assert x.copy_(torch.ones(2, 2, device="vex")).tolist() == [[1.0, 1.0], [1.0, 1.0]]
"""


def test_a_copy_sees_no_shapes_that_the_rule_refuses(site):
    """Its own words, or memory beyond its end, are not what users get: at once as in pipelines."""
    copy = """
def copy_(self, src, non_blocking=False):
    memory = self.untyped_storage().memory
    memory[:] = bytes(src.cpu().numpy().data.cast("B"))[: len(memory)]
    return self

KERNELS = {"copy_": copy_, """
    site.backend("vex", PLUGIN.replace("KERNELS = {", copy))
    site.run(COPIES)
