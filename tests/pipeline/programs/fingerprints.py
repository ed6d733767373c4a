"""Prints the fingerprints of programs as JSON, and a key.

    python fingerprints.py COUNT

A process of its own: that the backend compiles all blocks at once is asked when an op is recorded first.
COUNT ops are defined before, so that others have other numbers.
"""

import json
import sys

import mindtorch_core as torch
from mindtorch_core.backend import PROGRAMS
from mindtorch_core.values.devices import row_of

FOUND = []
BLOCKS = {
    "plain": lambda x, y: (x + y).sum(0),
    "another op": lambda x, y: (x - y).sum(0),
    "another dimension": lambda x, y: (x + y).sum(1),
    "another flag": lambda x, y: (x + y).sum(0, keepdim=True),
    "another dtype": lambda x, y: (x + y).sum(0, dtype=torch.float64),
    "the same operand": lambda x, y: (x + x).sum(0),
    "operands in turn": lambda x, y: (y + x * 1).sum(0),
    "both seen": lambda x, y: ((z := x + y), z.sum(0)),
    "a number": lambda x, y: (x + 1).sum(0),
    "a number of Python's other kind": lambda x, y: (x + 1.0).sum(0),
    "other strides": lambda x, y: (x.t() + y).sum(0),
    "written": lambda x, y: x.add_(y).sum(0),
    "of a formula": lambda x, y: torch.nn.functional.gelu(x + 2.5, approximate="tanh").relu_(),
}


def fingerprint(body, x, y):
    """That of the block in which a function computes."""
    PROGRAMS.forget("cpu")
    with torch.pipeline():
        held = body(x, y)
    assert held is not None
    return FOUND.pop()[0]


def twice(body, *shape, **options):
    """Those of two blocks."""
    return [
        fingerprint(body, torch.ones(shape, **options), torch.ones(shape, **options))
        for _ in range(2)
    ]


def main():
    """The command."""
    for i in range(int(sys.argv[1])):
        torch.library.define(f"other::op{i}", "(Tensor x) -> Tensor")
    runtime = row_of("cpu").runtime
    runtime.planned_from, runtime.compiles_at_once = 1, True
    runtime.compile = lambda program: FOUND.append((program.fingerprint, hash(program.key)))
    found = {name: twice(body, 3, 3) for name, body in BLOCKS.items()}
    found["other sizes"] = twice(BLOCKS["plain"], 4, 4)
    found["of another dtype"] = twice(BLOCKS["plain"], 3, 3, dtype=torch.float64)
    shared = torch.ones(6, 3)
    found["shared memory"] = [fingerprint(BLOCKS["plain"], shared[:3], shared[3:])]
    found["another number"] = twice(lambda x, y: (x + 2.0).sum(0), 3, 3)
    with torch.pipeline():
        held = torch.ones(3, 4).exp()
    assert held is not None
    print(json.dumps([found, FOUND[-1][1]]))


if __name__ == "__main__":
    main()
