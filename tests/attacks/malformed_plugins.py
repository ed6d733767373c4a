"""Breaks a working backend in many ways and looks at what is said, what stays, and what goes on working.

Run as a script. Each fault replaces parts of a right plugin's text; some faults come in pairs.
"""

import difflib
import gc
import importlib
import os
import random
import re
import sys
import time
import traceback
import warnings
from pathlib import Path

from checks import cpu_and_meta_work, snapshot

import mindtorch_core as torch
from mindtorch_core import plugins
from mindtorch_core.dispatch import current_pipeline
from mindtorch_core.dispatch.keys import MASKS
from mindtorch_core.plugins import loader

EXTRA = """
    registry.register_schema("vex::own", "own(Tensor self) -> Tensor")
    registry.register("vex::own", key, relu, meta=lambda self: TensorSpec(self.shape, self.dtype))
    registry.register_fallback(key, cpu_fallback)
"""
TOY = (Path(__file__).parents[1] / "toy_backend" / "plugin.py").read_text()
PLUGIN = TOY.replace(
    "from .config import API, DEVICE, KEY",
    "from mindtorch_core.backend import TensorSpec\nfrom mindtorch_core.library import cpu_fallback\n"
    "API, DEVICE, KEY = 2, 'vex', None",
).replace("logged(name, kernel))\n", f"logged(name, kernel))\n{EXTRA}", 1)

RAISE = 'raise ValueError("its own words")'
NONSENSE = [
    "None",
    "3",
    "'text'",
    "[]",
    "print",
    "object()",
    "-1",
    "2 ** 70",
    "float('nan')",
    "b'12'",
]
LINES = [line for line in PLUGIN.split("\n") if line.strip()]
RESULTS = ["None", "3", "[self]", "(self, self)", "self.cpu()", "self.to('meta')", "self[:1]",
           "new(self, (2,), [1, 2], torch.float64)", "new(self, (5,), [1] * 5)", "self.shape",
           "NotImplemented", "self.cpu().numpy()", "self", "object()"]  # fmt: skip
EARLY = "registry.register_schema('vex::early', 'early(Tensor x) -> Tensor')"
HOSTILE = [
    "import sys; sys.modules['mindtorch_core.backend'] = None",
    "import sys; sys.modules['mindtorch_cpu'] = sys",
    "torch.ones(2, device='vex')",
    "import threading; threading.Thread(target=lambda: torch.ones(3) + 1).start()",
    "import sys; sys.exit(3)",
    "raise KeyError",
    "raise BaseException('all the way')",
    "from mindtorch_core.plugins import loader; loader.load('vex')",
    "import warnings; warnings.warn('by the vendor')",
    "import mindtorch_vex.nothing",
    "def broken(:",
]


def swapped(text, old, new):
    assert old in text, old
    return text.replace(old, new, 1)


# Each takes the text and the chance, and gives another text.


def a_line_goes(text, chance):
    return swapped(text, chance.choice(LINES) + "\n", "")


def a_line_comes_twice(text, chance):
    line = chance.choice(LINES) + "\n"
    return swapped(text, line, line + line)


def two_lines_change_places(text, chance):
    one, other = chance.sample(LINES, 2)
    return swapped(swapped(text, one, "@@"), other, one).replace("@@", other)


def a_function_raises(text, chance):
    head = chance.choice(re.findall(r" *def .*:\n(?= )", text))
    indent = " " * (len(head) - len(head.lstrip()) + 4)
    return swapped(text, head, f"{head}{indent}{chance.choice([RAISE, *HOSTILE])}\n")


def a_function_returns_nonsense(text, chance):
    head = chance.choice(re.findall(r" *def .*:\n(?= )", text))
    indent = " " * (len(head) - len(head.lstrip()) + 4)
    return swapped(text, head, f"{head}{indent}return {chance.choice(NONSENSE)}\n")


def a_kernel_returns_something_else(text, chance):
    head = chance.choice(re.findall(r"def \w+\(self.*:\n(?= {4}\w)", text))
    return swapped(text, head, f"{head}    return {chance.choice(RESULTS)}\n")


def another_signature(text, chance):
    found = chance.choice(re.findall(r"def \w+\((.+)\):", text))
    other = chance.choice(
        ["", "self", "*args", "a, b, c, d", "self, *, x", "on", "**kw", found + ", more"]
    )
    return swapped(text, f"({found}):", f"({other}):")


def another_argument(text, chance):
    old = chance.choice(["device=DEVICE", "key=KEY", "runtime=RUNTIME", "api=API", "name, key", '"add": add',
                         "API, DEVICE, KEY = 2, 'vex', None", '"relu"', '"vex::own"', "key, relu", "cpu_fallback)",
                         '"own(Tensor self) -> Tensor"', "self.dtype)", "TensorSpec(self.shape"])  # fmt: skip
    new = chance.choice([*NONSENSE, '"cpu"', '"relu"', "'PrivateUse1'", "'CPU'", "'AutogradNPU'", "key",
                         '"own(Tensor self"', '"nothing::at all"', "api=1", "api=99", "''", "runtime=ToyRuntime", "device='cpu'", "device='meta'", "key='CPU'",
                         "device='with space'", "relu"])  # fmt: skip
    return swapped(text, old, new)


def the_module_does_harm(text, chance):
    line = chance.choice(LINES)
    return swapped(
        text, line, f"{chance.choice([RAISE, EARLY, *HOSTILE])}\n{line}" if line[0] != " " else line
    )


def memory_of_another_size(text, chance):
    lie = chance.choice(
        ["bytearray(nbytes // 2)", "bytearray(nbytes + 8)", "bytes(nbytes)", "None", "nbytes"]
    )
    return swapped(text, "return bytearray(nbytes)", f"return {lie}")


def copies_of_another_size(text, chance):
    lie = chance.choice(["bytes(nbytes)", "memoryview(b'')", "memoryview(bytes(nbytes - 1))", "None",
                         "memoryview(bytes(8 * nbytes))", "bytearray(nbytes)", "[0] * nbytes"])  # fmt: skip
    return swapped(
        text, "return memoryview(bytes(memory[start : start + nbytes]))", f"return {lie}"
    )


FAULTS = [a_line_goes, a_line_comes_twice, two_lines_change_places, a_function_raises,
          a_function_returns_nonsense, a_kernel_returns_something_else, another_signature,
          another_argument, the_module_does_harm, memory_of_another_size, copies_of_another_size]  # fmt: skip


def broken(chance):
    text = PLUGIN
    for fault in chance.sample(FAULTS, chance.choice([1, 1, 1, 2])):
        try:
            text = fault(text, chance)
        except AssertionError:  # the first fault took the place of the second
            continue
    return text


# ---- what must hold -----------------------------------------------------------------------------


def deferred():
    with torch.pipeline():
        x = torch.ones(2, device="vex")
        y = torch.ops.vex.own(-x) + x
    return y.tolist()


USES = [
    lambda: torch.ones(2, device="vex"),
    lambda: torch.tensor([1.0, -2.0], device="vex").cpu(),
    lambda: (-torch.tensor([1.0, -2.0], device="vex")).tolist(),
    lambda: (torch.ones(2, device="vex") + torch.ones(2, device="vex")).tolist(),
    lambda: torch.ones(2, device="vex").exp_().tolist(),
    lambda: torch.ones(2, device="vex").sum().item(),
    lambda: torch.ops.vex.own(torch.ones(2, device="vex")).tolist(),
    lambda: repr(torch.ones(2, device="vex")),
    lambda: torch.ones(2).to("vex").to("cpu"),
    lambda: (torch.ones(2, device="vex", requires_grad=True) * 2).sum().backward(),
    deferred,
    lambda: torch.empty(3, device="vex:1"),
    lambda: torch.rand(3, device="vex"),
    lambda: torch.vex.synchronize(),
    lambda: torch.ones(2, device="vex") + torch.ones(2),
]


# Results of kernels are not looked at in eager calls, whatever they are; pipelines check them.
CLEAR = (RuntimeError, TypeError, ValueError, NotImplementedError, IndexError)
NEVER = (SystemError, MemoryError, AssertionError)


def from_the_plugin(error):
    """Whether an error arose in the plugin's own lines, or is caused by one that did."""
    while error is not None:
        frames = traceback.extract_tb(error.__traceback__)
        if frames and "mindtorch_vex" in frames[-1].filename:
            return True
        error = error.__cause__ or error.__context__
    return False


def raised(use):
    """What a call raises, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            use()
        except BaseException as error:  # noqa: BLE001 (plugins raise anything)
            return error
    return None


def check_state():
    cpu_and_meta_work()
    assert (MASKS.include, MASKS.keep, torch.is_grad_enabled()) == (0, -1, True)
    assert current_pipeline() is None


def attack(text, before, modules):
    """Load, use and unload a plugin; gives whether it was refused."""
    loader.rediscover()
    said = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            plugins.load("vex")
        except torch.BackendUnavailableError as error:
            said.append(str(error))
    texts = [str(w.message) for w in caught] + said
    check_state()
    status = next((s for s in plugins.backends() if s.name == "vex"), None)
    assert status is not None
    if status.state == "failed":
        assert said, texts
        assert re.search(r"mindtorch-vex 1\.0|mindtorch_vex", said[0]), said
        assert snapshot() == before, "something stays of a plugin that was refused"
        assert set(sys.modules) - modules == set() or not any(
            m.startswith("mindtorch_vex") for m in sys.modules
        ), "its modules stay"
        return True
    for use in USES:
        error = raised(use)
        if error is not None and not from_the_plugin(error):
            assert isinstance(error, Exception), repr(error)
            assert not isinstance(error, NEVER), repr(error)
            named = "vex" in str(error)
            assert use is not deferred or named or isinstance(error, CLEAR), (
                f"{error!r} says nothing of the plugin"
            )
            assert str(error) or not isinstance(error, CLEAR), repr(error)
        check_state()
    plugins.unload("vex")
    gc.collect()
    assert before in (None, snapshot()), "something stays of a plugin that was unloaded"
    check_state()
    return False


def changes(text):
    lines = difflib.unified_diff(PLUGIN.split("\n"), text.split("\n"), lineterm="", n=1)
    return "\n".join(lines)


def main(first, seconds, folder):
    package = Path(folder) / "mindtorch_vex"
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    plugins.load("cpu"), plugins.load("meta")
    package.joinpath("plugin.py").write_text(PLUGIN)
    cpu_and_meta_work()
    assert not attack(PLUGIN, None, set()), "the right one is refused"
    for use in USES[:11]:
        use()
    plugins.unload("vex")
    before, modules = snapshot(), set(sys.modules)
    counts = {"refused": 0, "loaded": 0}
    seed, end = first, time.monotonic() + seconds
    while time.monotonic() < end and (seed == first or "ATTACK_SEED" not in os.environ):
        text = broken(random.Random(seed))
        package.joinpath("plugin.py").write_text(text)
        importlib.invalidate_caches()
        kept = dict(sys.modules)
        try:
            counts["refused" if attack(text, before, modules) else "loaded"] += 1
        except BaseException:
            print(f"{changes(text)}\n(ATTACK_SEED={seed} repeats it)", file=sys.stderr, flush=True)
            raise
        sys.modules.update(kept)
        seed += 1
    print(seed - first, "plugins:", counts)
    assert seed < first + 50 or all(counts.values()), counts
