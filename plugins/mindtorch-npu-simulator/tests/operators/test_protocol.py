"""The two phases of a call: what they refuse, and what the watcher finds."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_int64, c_uint64, c_void_p
from typing import Any

import pytest
from simtoolkit import CODES, Toolkit

from mindtorch_npu_simulator import control

FOUR = struct.pack("4f", 1, 2, 3, 4)


class Sum:
    """aclnnReduceSum of four floats, phase one done."""

    def __init__(self, kit: Toolkit) -> None:
        self.kit = kit
        self.source, self.target = kit.upload(FOUR), kit.upload(bytes(4))
        self.x: int | None = kit.tensor("f32", [4], self.source)
        self.out = kit.tensor("f32", [], self.target, storage=1)
        self.dims = kit.base.aclCreateIntArray((c_int64 * 1)(), 0)
        self.one, self.two = kit.phases("ReduceSum")
        self.size, self.executor = c_uint64(), c_void_p()
        self.prepare()

    def prepare(self) -> None:
        """Phase one."""
        arguments = (self.x, self.dims, False, 0, self.out)
        code = self.one(*arguments, byref(self.size), byref(self.executor))
        self.kit.check(code, "phase one")

    def launch(self, workspace: int | None, size: int | None = None) -> int:
        """Phase two."""
        given = self.size.value if size is None else size
        return int(self.two(workspace, given, self.executor, self.kit.stream))

    def result(self) -> float:
        """Wait, and read the sum."""
        self.kit.check(self.kit.synchronize(), "the stream")
        return float(struct.unpack("f", self.kit.download(self.target, 4))[0])


@contextmanager
def prepared(kit: Toolkit) -> Iterator[Sum]:
    """A sum, all of whose objects but the executor are released at the end."""
    call = Sum(kit)
    try:
        yield call
    finally:
        kit.synchronize()
        kit.base.aclDestroyTensor(call.x)
        kit.base.aclDestroyTensor(call.out)
        kit.base.aclDestroyIntArray(call.dims)
        kit.free(call.source)
        kit.free(call.target)


def findings() -> str:
    """Take the findings, as one text."""
    return "; ".join(f"{f['kind']}: {f['text']}" for f in control.findings(clear=True))


def test_a_whole_call(opened: Toolkit) -> None:
    with prepared(opened) as call, opened.workspace(call.size.value) as workspace:
        assert call.size.value > 0
        assert call.launch(workspace) == 0
        assert call.result() == 10.0


def test_phase_two_takes_the_executor(opened: Toolkit) -> None:
    with prepared(opened) as call, opened.workspace(call.size.value) as workspace:
        assert call.launch(workspace) == 0
        assert call.launch(workspace) == CODES.INNER
        assert "aclnnReduceSum" in findings()
        assert opened.base.aclDestroyAclOpExecutor(call.executor) == CODES.INNER
        assert "aclDestroyAclOpExecutor" in findings()


@pytest.mark.parametrize("wrong", ["missing", "small"])
def test_a_wrong_workspace_costs_the_executor(opened: Toolkit, wrong: str) -> None:
    with prepared(opened) as call, opened.workspace(call.size.value) as workspace:
        if wrong == "missing":
            assert call.launch(None) == CODES.NULLPTR
        else:
            assert call.launch(workspace, call.size.value - 1) == CODES.INVALID
        assert call.launch(workspace) == CODES.INNER
        assert findings()


def test_no_executor(opened: Toolkit) -> None:
    _, two = opened.phases("ReduceSum")
    assert two(None, 0, None, opened.stream) == CODES.NULLPTR


def test_an_executor_of_another_operator(opened: Toolkit) -> None:
    _, other = opened.phases("Add")
    with prepared(opened) as call:
        assert other(None, 0, call.executor, opened.stream) == CODES.INNER
    text = findings()
    assert "aclnnAdd" in text
    assert "aclnnReduceSum" in text


def test_a_tensor_destroyed_between_the_phases(opened: Toolkit) -> None:
    with prepared(opened) as call, opened.workspace(call.size.value) as workspace:
        opened.base.aclDestroyTensor(call.x)
        assert call.launch(workspace) == CODES.INNER
        assert "aclnnReduceSum" in findings()
        call.x = None


def test_an_abandoned_executor_is_live_until_it_is_destroyed(opened: Toolkit) -> None:
    with prepared(opened) as call:
        alive = control.live()["executor"]
        assert opened.base.aclDestroyAclOpExecutor(call.executor) == 0
        assert control.live().get("executor", 0) == alive - 1


def test_a_repeatable_executor(opened: Toolkit) -> None:
    with prepared(opened) as call, opened.workspace(call.size.value) as workspace:
        assert opened.base.aclSetAclOpExecutorRepeatable(call.executor) == 0
        for _ in range(3):
            assert call.launch(workspace) == 0
            assert call.result() == 10.0
        assert opened.base.aclDestroyAclOpExecutor(call.executor) == 0


def test_memory_freed_before_the_kernel_ran(opened: Toolkit) -> None:
    with prepared(opened) as call, opened.workspace(call.size.value) as workspace:
        with control.held("aclnnReduceSum"):
            assert call.launch(workspace) == 0
            opened.free(call.source)
        assert opened.synchronize() != 0
        assert "aclnnReduceSum" in findings()
        call.source = opened.upload(FOUR)


def test_an_injected_failure_of_a_kernel(opened: Toolkit) -> None:
    with prepared(opened) as call, opened.workspace(call.size.value) as workspace:
        control.inject(f"kernel:aclnnReduceSum:1={CODES.AICORE}")
        assert call.launch(workspace) == 0
        assert opened.synchronize() == CODES.AICORE
        control.clear_faults()
        call.prepare()
        assert call.launch(workspace) == 0
        assert call.result() == 10.0


def test_an_injected_failure_of_phase_two_takes_the_executor(opened: Toolkit) -> None:
    with prepared(opened) as call, opened.workspace(call.size.value) as workspace:
        control.inject("aclnnReduceSum:1=561000")
        assert call.launch(workspace) == CODES.INNER
        control.clear_faults()
        assert findings() == ""
        assert call.launch(workspace) == CODES.INNER
        assert findings()


def phase_one(kit: Toolkit, *arguments: Any) -> int:
    """Phase one of aclnnNeg, alone."""
    one, _ = kit.phases("Neg")
    size, executor = c_uint64(), c_void_p()
    code = int(one(*arguments, byref(size), byref(executor)))
    if code == 0:
        kit.base.aclDestroyAclOpExecutor(executor)
    return code


def test_a_view_that_leaves_all_memory_is_not_touched(opened: Toolkit) -> None:
    memory = opened.upload(bytes(64))
    tensors = [opened.tensor("f32", [3], memory, [step], 0, storage=3) for step in (2**61, 1)]
    one, two = opened.phases("Neg")
    size, executor = c_uint64(), c_void_p()
    assert one(*tensors, byref(size), byref(executor)) == 0
    assert "storage" in findings()
    assert two(None, size.value, executor, opened.stream) == 0
    assert opened.synchronize() != 0
    assert "out-of-bounds" in findings()
    for tensor in tensors:
        opened.base.aclDestroyTensor(tensor)
    opened.free(memory)


def test_descriptors_are_checked(opened: Toolkit) -> None:
    memory = opened.upload(bytes(64))
    good = opened.tensor("f32", [2, 2], memory)
    shifted = opened.tensor("f32", [2, 2], memory + 4)
    outside = opened.tensor("f32", [2, 2], memory, [8, 1], 2, storage=8)
    deep = opened.tensor("f32", [1] * 9, memory)
    assert phase_one(opened, good, good) == 0
    assert phase_one(opened, shifted, good) == CODES.INVALID
    assert "aligned" in opened.message()
    assert phase_one(opened, deep, deep) == CODES.INVALID
    assert phase_one(opened, None, good) == CODES.NULLPTR
    phase_one(opened, outside, good)
    assert "storage" in findings()
    for tensor in (good, shifted, outside, deep):
        opened.base.aclDestroyTensor(tensor)
    assert phase_one(opened, good, good) == CODES.INVALID
    assert findings()
    opened.free(memory)
