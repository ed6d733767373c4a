"""Blocks of many ops become functions in steps that grow with the ops, not with their square."""

import sys

import pytest

import mindtorch_core as torch
from mindtorch_core.backend import PROGRAMS
from mindtorch_cpu.straight import compiling, lines


def opcodes(call):
    """How many steps the interpreter takes for a call."""
    count, before = 0, sys.gettrace()

    def trace(frame, event, arg):
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def many_runs(count):
    y, w = torch.ones(64), torch.eye(8)
    for _ in range(count // 4):
        y = ((y * 0.5 + 1).tanh().view(8, 8) @ w).view(64)
    return y


def a_run_of_many_inputs(count):
    y = torch.ones(64)
    for x in torch.ones(count, 64).unbind():
        y = y + x
    return y


@pytest.mark.parametrize("block", [many_runs, a_run_of_many_inputs])
def test_a_block_is_written_in_steps_that_grow_with_its_ops(monkeypatch, block):
    PROGRAMS.forget("cpu")
    given = []
    monkeypatch.setattr(
        compiling, "Writer", lambda *args: given.append(args) or lines.Writer(*args)
    )
    for count in (32, 256):
        for _ in range(4):
            with torch.pipeline():
                kept = block(count)
        del kept
    few, many = (opcodes(lambda args=args: lines.Writer(*args).source()) for args in given)
    assert many < 10 * few
