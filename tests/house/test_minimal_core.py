"""The core without a single op: three ops and a backend, in the rooms below the ops' definitions.

What this process imports of the core is what it needs to dispatch, differentiate, defer and undo.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BELOW = [
    "values",
    "dispatch",
    "tensors",
    "streams",
    "runtime",
    "random",
    "opdefs",
    "deferred",
    "gradients",
]

PROGRAM = '''
import sys, types

package = types.ModuleType("mindtorch_core")  # the package, without what its names bring along
package.__path__ = [{path!r}]
sys.modules["mindtorch_core"] = package

from mindtorch_core import deferred
from mindtorch_core.dispatch.functions import fn
from mindtorch_core.dispatch.keys import AUTOGRAD_OF, DEFAULT_INCLUDED, DispatchKey
from mindtorch_core.dispatch.opdef import TensorSpec
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.gradients import record
from mindtorch_core.gradients.differentiation import grad
from mindtorch_core.opdefs.define import op
from mindtorch_core.runtime import Runtime
from mindtorch_core.tensors.tensor import from_values
from mindtorch_core.values.devices import TABLE, DeviceRow, device
from mindtorch_core.values.dtypes import float64, unpack

record.install()
deferred.install()


class Lists(Runtime):
    """A device whose memory is bytes and whose arithmetic is Python's."""

    def device_count(self):
        return 1

    def allocate(self, nbytes, on):
        return bytearray(nbytes)

    def copy_from_host(self, memory, start, data):
        memory[start : start + len(data)] = bytes(data)

    def copy_to_host(self, memory, start, nbytes):
        return memoryview(bytes(memory[start : start + nbytes]))


KEY, runtime = DispatchKey.PrivateUse1, Lists()
runtime.type, runtime.key = "lists", int(KEY | DEFAULT_INCLUDED)


def values(t):
    settled = t._settled()._own_storage()
    return unpack(runtime.copy_to_host(settled.memory, 0, settled.size_bytes), t._dtype)


def made(numbers, like):
    return from_values(list(numbers), like._shape, like._dtype, like._device)


def same(self, *rest, **options):
    return TensorSpec(self._shape, self._dtype)


with registry.transaction() as journal:
    op("plus(Tensor self, Tensor other) -> Tensor", rule=same, operators=("__add__",),
       grad={{"self": lambda g: g, "other": lambda g: g}})
    op("times(Tensor self, float by) -> Tensor", rule=same,
       grad={{"self": lambda g, by: fn.times(g, by)}})
    op("shifted(Tensor self, float by) -> Tensor",
       decomposition=lambda self, by: fn.plus(self, fn.times(self, by)))
    TABLE["lists"] = DeviceRow("lists", int(KEY), int(AUTOGRAD_OF[KEY]), runtime.key, runtime, "here")
    registry.register_kernel("plus", KEY, lambda a, b: made(map(sum, zip(values(a), values(b))), a))
    registry.register_kernel("times", KEY, lambda a, by: made((x * by for x in values(a)), a))
    registry.forget_computed()

x = from_values([1.0, 2.0], (2,), float64, device("lists", 0))
assert values(fn.shifted(x, 3.0)) == [4, 8]  # dispatches, compositions too

x.requires_grad = True
y = fn.plus(fn.shifted(x, 3.0), fn.times(x, 0.5))
(slope,) = grad([y], [x], [made([1.0, 10.0], x)])
assert values(slope) == [4.5, 45]  # differentiates

x.requires_grad = False
with deferred.pipeline_context() as pipe:
    z = fn.times(fn.shifted(x, 1.0), 2.0)
    assert z._pending and z._shape == (2,) and len(pipe.entries) == 3
    assert [entry.op.name for entry in pipe.entries] == ["aten::times", "aten::plus", "aten::times"]
assert values(z) == [4, 8]  # defers

for undo in reversed(journal):
    undo()
del TABLE["lists"]
registry.forget_computed()
assert not list(registry)  # unloads
try:
    fn.plus
except AttributeError:
    pass
else:
    raise AssertionError("the op is still there")
print(*sorted({{name.split(".")[1] for name in sys.modules if name.startswith("mindtorch_core.")}}))
'''


def test_three_ops_and_a_backend_without_the_rest():
    program = PROGRAM.format(path=str(ROOT / "mindtorch_core"))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= set(BELOW), "a room above the ops' definitions was imported"
