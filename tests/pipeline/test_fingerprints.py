"""`Program.fingerprint` is equal for equal programs in every process, and another for each other program."""

import os
import subprocess
import sys
import types

import pytest

import mindtorch_core as torch
from mindtorch_core.backend import PROGRAMS, Instruction, Program
from mindtorch_core.values.devices import row_of


@pytest.fixture
def of(monkeypatch):
    """Gives the fingerprint of the block in which a function computes."""
    found = []
    runtime = row_of("cpu").runtime
    monkeypatch.setattr(runtime, "planned_from", 1)
    monkeypatch.setattr(runtime, "compiles_at_once", True, raising=False)
    monkeypatch.setattr(runtime, "compile", lambda program: found.append(program.fingerprint))

    def fingerprint(body):
        PROGRAMS.forget("cpu")
        with torch.pipeline():
            held = body()
        assert held is not None
        return found[-1]

    yield fingerprint
    PROGRAMS.forget("cpu")


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
    "a whole number": lambda x, y: (x + 1.0).sum(0),
    "other strides": lambda x, y: (x.t() + y).sum(0),
    "written": lambda x, y: x.add_(y).sum(0),
}


def test_each_other_program_has_another(of):
    found = {}
    for name, body in BLOCKS.items():
        for _ in range(2):
            x, y = torch.ones(3, 3), torch.ones(3, 3)
            found.setdefault(name, set()).add(of(lambda x=x, y=y, b=body: b(x, y)))
    x, y = torch.ones(4, 4), torch.ones(4, 4)
    found["other sizes"] = {of(lambda: BLOCKS["plain"](x, y))}
    z, w = torch.ones(3, 3, dtype=torch.float64), torch.ones(3, 3, dtype=torch.float64)
    found["of another dtype"] = {of(lambda: BLOCKS["plain"](z, w))}
    shared = torch.ones(6, 3)
    found["shared memory"] = {of(lambda: BLOCKS["plain"](shared[:3], shared[3:]))}
    assert all(len(each) == 1 for each in found.values()), found
    assert len({*map(tuple, found.values())}) == len(found)
    assert None not in {text for each in found.values() for text in each}


def test_numbers_to_compute_with_are_no_part(of):
    x = torch.ones(3)
    assert of(lambda: x * 2.5) == of(lambda: x * 3.5)
    assert of(lambda: x * 2.5) != of(lambda: x * 3)


SCRIPT = """
import sys
import types
import mindtorch_core as torch
from mindtorch_core.values.devices import row_of
for i in range(int(sys.argv[1])):  # so that ops have other numbers
    torch.library.define(f"other::op{i}", "(Tensor x) -> Tensor")
runtime = row_of("cpu").runtime
runtime.planned_from, runtime.compiles_at_once = 1, True
runtime.compile = lambda program: print(program.fingerprint, hash(program.key))
with torch.pipeline():
    x = torch.ones(3, 4)
    y = torch.nn.functional.gelu(x + 2.5, approximate="tanh").sum(1, dtype=torch.float64).relu_()
"""


def test_processes_agree():
    found = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, ops],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for ops, seed in (("0", "1"), ("7", "2"))
    ]
    (one, key), (other, another_key) = found
    assert one == other
    assert key != another_key  # of a process alone


def test_an_object_that_no_text_says_has_none():
    op = types.SimpleNamespace(name="acme::search", writes=False)
    parts = [("cpu", [Instruction(op, (given,), {}, (), None)]) for given in ("a", object())]
    said, unsaid = [Program(*part, (), (), (), (), (), (), None) for part in parts]
    assert said.fingerprint is not None
    assert unsaid.fingerprint is None
