"""The process needs no more memory, however many steps it runs."""

import ctypes

import pytest

STEPS = """
import contextlib
import ctypes
import gc
import mindtorch_core as torch

F = torch.nn.functional
x, labels = torch.randn(32, 16).to("npu"), torch.randint(0, 4, (32,)).to("npu")
first = torch.randn(16, 32).to("npu").requires_grad_()
second = torch.randn(32, 4).to("npu").requires_grad_()


class Heap(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "{fields}".split()]


def steps(count):
    for _ in range(count):
        with {block}:
            loss = F.cross_entropy((x @ first).relu() @ second, labels)
            gradients = torch.autograd.grad(loss, [first, second])
            with torch.no_grad():
                for weight, gradient in zip((first, second), gradients):
                    weight.sub_(gradient * 0.01)
        loss.item()
    gc.collect()
    return heap().uordblks  # bytes that are allocated and not freed, of Python and C++


heap = ctypes.CDLL(None).mallinfo2
heap.restype = Heap
steps(700)
before = steps(300)
print(steps(1000) - before)
"""
FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="the C library does not say what it holds"
)
@pytest.mark.parametrize("block", ["contextlib.nullcontext()", "torch.pipeline()"])
def test_a_step_leaves_nothing_behind(python, block):
    # With Python's own allocator too from the C library.
    program = STEPS.replace("{fields}", FIELDS).replace("{block}", block)
    grown = int(python(program, PYTHONMALLOC="malloc"))
    assert grown < 20_000  # 20 bytes a step
