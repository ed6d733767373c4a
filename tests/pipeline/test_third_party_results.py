"""Ops of third parties in pipelines: their results are those of eager calls, whatever kind they are."""

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.dispatcher import dispatch
from mindtorch_core.dispatch.registry import registry


@pytest.fixture(scope="module")
def ops():
    @torch.library.custom_op("third_results::conjugate", mutates_args=())
    def conjugate(x: torch.Tensor) -> torch.Tensor:
        return (x * 2).conj()

    conjugate.register_fake(torch.empty_like)

    @torch.library.custom_op("third_results::imaginary", mutates_args=())
    def imaginary(x: torch.Tensor) -> torch.Tensor:
        return (x * 2).conj().imag

    imaginary.register_fake(lambda x: torch.empty_like(x.real))

    @torch.library.custom_op("third_results::several", mutates_args=())
    def several(x: torch.Tensor) -> list[torch.Tensor]:
        return [(x * 2).conj(), x + 1]

    several.register_fake(lambda x: [torch.empty_like(x), torch.empty_like(x)])
    return lambda x: [conjugate(x) + 1, conjugate(x), imaginary(x), several(x)]


def run_in_blocks(ops, x):
    for _ in range(4):  # replayed from the second on
        with torch.pipeline():
            found = ops(x)
    return found


def run_captured(ops, x):
    step = torch.pipeline.capture(lambda x: ops(x))
    step(x)
    return step(x)


@pytest.mark.parametrize("run", [run_in_blocks, run_captured])
def test_results_are_those_of_eager_calls(ops, run):
    x = torch.tensor([1 + 2j, 3 - 1j])
    *eager, eager_list = ops(x)
    *found, found_list = run(ops, x)
    assert type(found_list) is list
    for a, b in zip([*eager, *eager_list], [*found, *found_list], strict=True):
        assert a.tolist() == b.tolist()


@pytest.mark.parametrize("run", [run_in_blocks, run_captured])
@pytest.mark.parametrize("part", ["every_other", "rear"])
def test_a_part_of_other_memory_lies_as_was_promised(run, part):
    """One row of numbers too: what is made of it reads them one after the other."""

    @torch.library.custom_op(f"third_results::{part}", mutates_args=())
    def op(x: torch.Tensor) -> torch.Tensor:
        return (x * 2)[::2] if part == "every_other" else (x * 2)[2:]

    op.register_fake(lambda x: torch.empty(x.shape[0] // 2))

    def ops(x):
        return op(x).view(2, 1), op(x).sum(), op(x).add_(1), op(x)

    x = torch.arange(4.0)
    for a, b in zip(ops(x), run(ops, x), strict=True):
        assert a.tolist() == b.tolist()
        assert b.is_contiguous()


class Unhashable(dict):
    """What no program can be told by."""


@pytest.mark.parametrize("options", [Unhashable(by=3), {"by": 3}, bytearray(3), {0, 1, 2}])
def test_arguments_that_cannot_be_hashed(options):
    """Blocks are computed as ever, without a warning; functions are not captured, and say why."""
    name = "third_results::scaled"
    with registry.scope():
        registry.register(
            name, "cpu", lambda x, o: x * len(o), meta=lambda x, o: torch.empty_like(x)
        )
        x = torch.arange(3.0)
        wanted = ((x + 1) * len(options)).tolist()
        (found,) = run_in_blocks(lambda x: [dispatch(name, None, x + 1, options)], x)
        assert found.tolist() == wanted
        step = torch.pipeline.capture(lambda x: dispatch(name, None, x + 1, options))
        with pytest.raises(
            torch.CaptureError, match="an argument of one of its ops cannot be kept"
        ) as e:
            step(x)
        assert e.value.result.tolist() == wanted
