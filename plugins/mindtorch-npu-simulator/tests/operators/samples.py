"""Sample tensors of every dtype, and checks that all families of operators share."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from calling import TORCH, InOut, Out, close, refused, run, strided, torch
from simtoolkit import CODES, DTYPES

SPECIAL: Final = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.75, float("inf"), -float("inf"), float("nan")]


def sample(dtype: str, shape: Sequence[int] = (3, 7), seed: int = 0, special: bool = True) -> Any:
    """Numbers of both signs; of floating dtypes also zeros, infinities and NaN."""
    generator = torch.Generator().manual_seed(seed)
    if dtype == "b":
        return torch.randint(0, 2, list(shape), generator=generator).bool()
    if dtype[0] in "iu":
        low = 0 if dtype[0] == "u" else -6
        return torch.randint(low, 7, list(shape), generator=generator).to(TORCH[dtype])
    wide = torch.randn(list(shape), generator=generator, dtype=torch.float64) * 2
    if dtype[0] == "c":
        other = torch.randn(list(shape), generator=generator, dtype=torch.float64)
        return torch.complex(wide, other).to(TORCH[dtype])
    if special and wide.dim():
        flat = wide.view(-1)
        count = min(len(SPECIAL), len(flat))
        places = torch.randperm(len(flat), generator=generator)[:count]
        flat[places] = torch.tensor(SPECIAL[:count], dtype=torch.float64)
    return wide.to(TORCH[dtype])


def widened(tensor: Any) -> Any:
    """The same numbers in the dtype in which the oracle computes: it rounds once, as operators do."""
    if tensor.dtype.is_complex:
        return tensor.to(torch.complex128)
    return tensor.to(torch.float64) if tensor.dtype.is_floating_point else tensor


@contextmanager
def case(*words: Any) -> Iterator[None]:
    """Say in a failure which of a test's cases it was."""
    try:
        yield
    except Exception as error:
        error.add_note("case: " + ", ".join(map(str, words)))
        raise


def check(name: str, arguments: Sequence[Any], *expected: Any, factor: float = 1.0) -> None:
    """Run an operator on tensors as they are and on strided ones; compare with the oracle's results."""
    for gaps in (False, True):
        with case(name, "strided" if gaps else "contiguous"):
            given = [_strided(argument) for argument in arguments] if gaps else arguments
            results = run(name, *given)
            results = results if isinstance(results, tuple) else (results,)
            assert len(results) == len(expected)
            for result, right in zip(results, expected, strict=True):
                close(result, right, factor)


def _strided(argument: Any) -> Any:
    if isinstance(argument, Out):
        return replace(argument, strided=True)
    if isinstance(argument, InOut):
        return replace(argument, tensor=strided(argument.tensor))
    return strided(argument) if isinstance(argument, torch.Tensor) else argument


def check_refusals(
    name: str, arguments: Sequence[Any], allowed: Sequence[Sequence[str] | None]
) -> None:
    """Each tensor in turn left out (161001) and of every dtype that is not in its set (161002).

    The sets are given for the tensors in order; None leaves one out.
    """
    places = [k for k, a in enumerate(arguments) if isinstance(a, torch.Tensor | Out | InOut)]
    assert refused(name, *arguments) == 0, "the arguments to start from are refused"
    for place, dtypes in zip(places, allowed, strict=True):
        if dtypes is None:
            continue
        for dtype in [None, *DTYPES]:
            if dtype in dtypes:
                continue
            changed = list(arguments)
            changed[place] = None if dtype is None else _with_dtype(arguments[place], dtype)
            with case(name, f"argument {place}", dtype):
                expected = CODES.NULLPTR if dtype is None else CODES.INVALID
                assert refused(name, *changed) == expected


def _with_dtype(argument: Any, dtype: str) -> Any:
    if isinstance(argument, Out):
        return replace(argument, dtype=dtype)
    if isinstance(argument, InOut):
        return replace(argument, tensor=torch.zeros(argument.tensor.shape, dtype=TORCH[dtype]))
    return torch.zeros(argument.shape, dtype=TORCH[dtype])
