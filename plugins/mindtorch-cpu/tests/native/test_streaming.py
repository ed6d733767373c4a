"""Results that no cache holds are written past the caches: bits, unaligned memory, tails, rows and threads."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.native import compiler, preparing
from mindtorch_cpu.native.kernels import KERNELS, text_of
from mindtorch_cpu.native.program import Graph, Node, Program
from mindtorch_cpu.native.reference import probes, same

F = torch.nn.functional


def forget():
    preparing._program.cache_clear()
    preparing._rows_program.cache_clear()


@pytest.fixture(autouse=True)
def streaming(monkeypatch):
    """Every result of a program counts as one that no cache holds."""
    forget()
    with monkeypatch.context() as patch:
        patch.setattr(preparing, "_UNCACHED", 1)
        yield
    forget()


def tensor(*shape, code="f4", seed=1):
    return torch.from_numpy(np.asarray(probes(code, seed, int(np.prod(shape))))).reshape(shape)


def check(both, group):
    found, wanted, counted = both(group)
    for one, other in zip(found, wanted, strict=True):
        assert same(one.numpy(), other.numpy())
    assert set(counted) <= {"compiled"}
    assert any("streamed" in getattr(k.program, "layouts", ()) for k in KERNELS.kernels())


@pytest.mark.parametrize("code", ["f4", "f8", "i4", "u1", "f2", "bf"])
def test_every_length_with_its_tail(both, code):
    for n in (*range(1, 40), 2047, 2048, 2049, 70_001):
        x, y = tensor(n, code=code), tensor(n, code=code, seed=2)
        check(both, lambda x=x, y=y: (x * y + x, x > y))


@pytest.mark.parametrize("width", [64, 1024, 1000, 131, 3000])
def test_rows(both, width):
    x, w = tensor(9, width), tensor(width, seed=2)
    check(both, lambda: (F.layer_norm(x, (width,), w), x - 1))
    check(both, lambda: (F.softmax(x, -1) * w, x.exp()))


def test_rows_that_are_written_and_added_up(by_kernels):
    x = torch.randn(70, 256, requires_grad=True)
    w = torch.randn(256, requires_grad=True)
    F.layer_norm(x, (256,), w).sum().backward()
    found = x.grad, w.grad
    KERNELS.mode = "off"
    x.grad = w.grad = None
    F.layer_norm(x, (256,), w).sum().backward()
    assert torch.equal(found[0], x.grad)
    assert torch.equal(found[1], w.grad)


def test_results_that_begin_within_a_line_of_memory(by_kernels):
    x = torch.randn(70, 1024)
    wanted = F.gelu(x, approximate="tanh")
    room = torch.zeros(70 * 1024 + 64)
    for start in (0, 1, 5, 16, 33):
        room.zero_()
        out = room[start : start + x.numel()].view(x.shape)
        for _ in range(3):
            torch.ops.aten.gelu.out(x, approximate="tanh", out=out)
            assert torch.equal(out, wanted)
        assert not room[:start].any()
        assert not room[start + x.numel() :].any()


def test_two_threads(both):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        x, y = tensor(700_001), tensor(700_001, seed=2)
        check(both, lambda: (x * y + x, x.double() - y))
    finally:
        torch.set_num_threads(before)


def test_vectors_of_results_go_past_the_caches_and_those_of_scratch_memory_do_not(
    by_kernels, monkeypatch
):
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    written = []
    streamed = compiler.streamed
    monkeypatch.setattr(
        compiler, "streamed", lambda text: written.append(streamed(text)) or written[-1]
    )
    # The sum goes to scratch memory, where NumPy's exp reads it, and the product to the result.
    nodes = Node("add", "f4", (0, 0)), Node("exp", "f4", (1,)), Node("multiply", "f4", (1, 2))
    graph = Graph(("f4",), (), nodes, ((3, 1),))
    compiler.compiled(text_of(Program(graph, ("dense", "streamed"), 0)))
    (text,) = written
    past = [line for line in text.splitlines() if "!nontemporal" in line]
    assert past
    assert all("!llvm.access.group" in line for line in past)
    assert len(past) < text.count("store <")
    compiler.compiled(text_of(Program(graph, ("dense", "dense"), 0)))
    assert len(written) == 1
