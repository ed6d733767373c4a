"""What Python adds to the C calls of an NPU operator.

    python benchmarks/npu_call_cost.py             print the figures
    python benchmarks/npu_call_cost.py --profile   cProfile of the calls

For each operator two loops take turns in one process: `aclnn.call`, and the same C functions called
with arguments that were made beforehand. Their difference is the cost of Python per call; it should
stay under 15 microseconds. Processor time of the calling thread is measured, so that what the device
does meanwhile, or the threads of a simulator, does not count. Needs mindtorch-npu and a toolkit with
a device.
"""

from __future__ import annotations

import argparse
import cProfile
import ctypes
import pstats
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import mindtorch_core as torch

CALLS = 200  # per turn; then the queue is drained, which is not measured
ROUNDS = 15
TURNS = 3
LIMIT = 15.0  # microseconds


def operators() -> dict[str, tuple[Any, ...]]:
    """Operators, with the arguments of small calls."""
    a, b, out = (torch.ones(2, 3).to("npu") for _ in range(3))
    square, row = torch.ones(3, 3).to("npu"), torch.ones(3).to("npu")
    return {
        "Exp": (a, out),
        "InplaceMuls": (out, 1.0),
        "Mul": (a, b, out),
        "Add": (a, b, 1, out),
        "Addcmul": (a, a, b, 2.0, out),
        "ReduceSum": (a, (0,), False, torch.float32, row),
        "Matmul": (a, square, out, 0),
    }


class Bare:
    """The C calls of an operator as a function whose constants are written into its source."""

    def __init__(self, name: str, arguments: tuple[Any, ...], stream: int | None) -> None:
        from mindtorch_npu.acl import raw
        from mindtorch_npu.acl.enums import ACL_TYPES
        from mindtorch_npu.aclnn.calls import bound

        operator = bound(name)
        self.kept: list[Any] = []
        self.scope: dict[str, Any] = {"phase1": operator.phase1, "phase2": operator.phase2}
        passed, made, gone = [], [], []
        for i, ((_, kind), value) in enumerate(
            zip(operator.row.parameters, arguments, strict=True)
        ):
            if kind == "DT":
                passed.append(str(ACL_TYPES[value]))
                continue
            found = self._constructor(kind, value)
            if found is None:
                passed.append(repr(value))
                continue
            what, constants = found
            self.scope[f"create{i}"] = getattr(raw, f"aclCreate{what}")
            self.scope[f"destroy{i}"] = getattr(raw, f"aclDestroy{what}")
            made.append(f"h{i} = create{i}({', '.join(map(str, constants))})")
            gone.append(f"destroy{i}(h{i})")
            passed.append(f"h{i}")
        cells = self.scope["cells"] = (ctypes.c_uint64 * 2)()
        at = ctypes.addressof(cells)
        workspace = torch.empty(1 << 20, dtype=torch.uint8, device="npu")
        memory = workspace.data_ptr()
        self.scope["kept"] = (self.kept, workspace)  # as long as the function
        lines = [
            *made,
            f"phase1({', '.join(passed)}, {at}, {at + 8})",
            f"phase2({memory}, cells[0], cells[1], {stream})",
            *gone,
        ]
        exec("def body():\n    " + "\n    ".join(lines), self.scope)
        self.call: Callable[[], None] = self.scope["body"]

    def _constructor(self, kind: str, value: Any) -> tuple[str, list[int]] | None:
        """Which object an argument becomes, and the constants that its constructor takes."""
        from mindtorch_npu.acl.enums import ACL_TYPES, Format

        if kind[0] == "T":
            whole = [value.untyped_storage().size_bytes // value.itemsize]
            shape, strides = self._array(value.shape), self._array(value.stride())
            return "Tensor", [
                shape, value.dim(), ACL_TYPES[value.dtype], strides, value.storage_offset(),
                int(Format.ND), self._array(whole), 1, value.data_ptr(),
            ]  # fmt: skip
        if kind == "S":
            is_float = isinstance(value, float)
            cell = (ctypes.c_double if is_float else ctypes.c_int64)(value)
            self.kept.append(cell)
            return "Scalar", [ctypes.addressof(cell), 11 if is_float else 9]
        if kind == "IA":
            return "IntArray", [self._array(value), len(value)]
        return None

    def _array(self, values: Any) -> int:
        array = (ctypes.c_int64 * max(1, len(values)))(*values)
        self.kept.append(array)
        return ctypes.addressof(array)


def timed(call: Callable[[], None]) -> float:
    """Microseconds per call, of one turn."""
    start = time.thread_time_ns()
    for _ in range(CALLS):
        call()
    spent = time.thread_time_ns() - start
    torch.npu.synchronize()
    return spent / CALLS / 1e3


def measured(ours: Callable[[], None], bare: Callable[[], None]) -> tuple[float, float]:
    """Microseconds of each, the fastest turn of every round, the median round by difference."""
    rounds = []
    for _ in range(ROUNDS):
        turns = [(timed(ours), timed(bare)) for _ in range(TURNS)]
        rounds.append((min(a for a, _ in turns), min(b for _, b in turns)))
    added = [a - b for a, b in rounds]
    return min(rounds, key=lambda r: abs(r[0] - r[1] - statistics.median(added)))


def main() -> int:
    """Print a table; 1 if an operator is over the limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", action="store_true", help="profile the calls instead")
    options = parser.parse_args()
    cases = operators()
    from mindtorch_npu import aclnn
    from mindtorch_npu.runtime import RUNTIME

    cases = {name: arguments for name, arguments in cases.items() if aclnn.available(name)}
    stream = RUNTIME.launch_stream(0)
    if options.profile:
        profile = cProfile.Profile()
        with profile:
            for name, arguments in cases.items():
                for _ in range(CALLS):
                    aclnn.call(name, *arguments)
        pstats.Stats(profile).sort_stats("tottime").print_stats(15)
        return 0
    print(f"{'operator':14}{'aclnn.call':>12}{'bare C':>10}{'added':>9}   us per call")
    worst = 0.0
    for name, arguments in cases.items():
        ours, bare = measured(
            lambda n=name, a=arguments: aclnn.call(n, *a), Bare(name, arguments, stream).call
        )
        worst = max(worst, ours - bare)
        print(f"{name:14}{ours:12.2f}{bare:10.2f}{ours - bare:9.2f}")
    print(f"at most {worst:.1f} us are added; the limit is {LIMIT:.0f}")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
