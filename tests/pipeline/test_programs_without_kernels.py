"""A backend whose compiler knows ops that it has no kernels for."""

# ruff: noqa: F811 (a fixture)

from pathlib import Path

import pytest
from compilers import compiler, names, ones  # noqa: F401 (a fixture)

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry


@pytest.fixture
def knowing(compiler, toy, monkeypatch):
    """A toy that leaves to the CPU what it has no kernel for, and compiles all that is defined."""
    monkeypatch.setattr(
        toy.ToyRuntime, "compiles", lambda self, op: op.definition is not None, raising=False
    )
    registration = registry.register_fallback("toy", torch.library.cpu_fallback)
    yield compiler
    registration.remove()


def left_to_the_cpu():
    return sum(torch.library.fallback_counts("toy").values())


def test_an_op_without_a_kernel_is_part_of_a_program(knowing):
    def erf(run, inputs, numbers):
        return [torch.erf(inputs[0].cpu() * numbers[0]).to("toy") * numbers[1]]

    knowing.around = erf
    x, before = ones(3), left_to_the_cpu()
    with torch.pipeline(through_backward=True) as pipe:
        y = (x * 0.5).erf() * 2
    assert y.tolist() == pytest.approx([1.0409998] * 3)
    (program,) = knowing.programs
    assert names(program) == ["mul", "erf", "mul"]
    assert [i.op.fallback for i in program.instructions] == [False, True, False]
    assert left_to_the_cpu() == before
    assert not pipe.stats()["breaks"]


def test_it_is_differentiated_and_replayed(knowing):
    x = ones(3, requires_grad=True)
    for _ in range(8):
        with torch.pipeline(through_backward=True) as pipe:
            x.erf().sum().backward()
        assert x.grad.tolist() == pytest.approx([0.4151075] * 3)
        x.grad = None
    assert pipe.stats()["replayed"] == pipe.stats()["recorded"]


def test_an_op_with_several_results(knowing):
    x = torch.tensor([[3.0, 1.0], [1.0, 3.0]], device="toy")
    with torch.pipeline():
        values, vectors = torch.linalg.eigh(x * 1.0)
        highest, at = x.cummax(1)
    assert values.tolist() == pytest.approx([2.0, 4.0])
    assert vectors.abs().flatten().tolist() == pytest.approx([0.5**0.5] * 4)
    assert (highest.tolist(), at.tolist()) == ([[3.0, 3.0], [1.0, 3.0]], [[0, 0], [0, 1]])


def test_where_its_program_is_declined_it_is_left_to_the_cpu_at_the_launch(
    toy, knowing, monkeypatch
):
    monkeypatch.setattr(toy.ToyRuntime, "compile", lambda self, program: None)
    x, before = ones(3), left_to_the_cpu()
    with torch.pipeline() as pipe:
        y = (x * 0.5).erf()
        assert y._pending
    assert y.tolist() == pytest.approx([0.5204999] * 3)
    assert left_to_the_cpu() > before
    assert not pipe.stats()["breaks"]


def test_what_fails_at_the_launch_is_said_by_op_and_line(knowing):
    hopeless = torch.full((3, 3), float("nan"), device="toy")
    with (
        pytest.raises(torch.PipelineError, match="linalg_eigh failed") as found,
        torch.pipeline(),
    ):
        kept = torch.linalg.eigh(hopeless)  # this line
    file, line = found.value.location.rsplit(":", 1)
    assert kept[0].shape == (3,)
    assert "this line" in Path(file).read_text().splitlines()[int(line) - 1]


def test_unless_the_compiler_says_so_it_breaks_a_block(knowing, toy, monkeypatch):
    monkeypatch.setattr(toy.ToyRuntime, "compiles", torch.runtime.Runtime.compiles)
    registry.forget_computed()
    x = ones(3)
    with torch.pipeline(through_backward=True) as pipe:
        y = (x * 0.5).erf()
    assert y.tolist() == pytest.approx([0.5204999] * 3)
    assert list(pipe.stats()["breaks"]) == ["aten::erf: not computed by toy"]
