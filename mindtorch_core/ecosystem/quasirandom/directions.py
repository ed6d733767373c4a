"""Direction numbers of Sobol's sequences, from the polynomials and first numbers of Joe and Kuo (2008).

SciPy brings their table "new-joe-kuo-6.21201"; whoever draws such points has it as a rule.
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Final

from ...tensors.tensor import Tensor

__all__ = ["BITS", "DIMENSIONS", "direction_numbers"]

BITS: Final = 30
DIMENSIONS: Final = 21201


def direction_numbers(dimension: int) -> Tensor:
    """Whole numbers of `BITS` bits, a row for each of the first dimensions.

    Raises:
        ModuleNotFoundError: without SciPy.
    """
    import mindtorch_core as torch

    polynomials, first = _table(dimension)
    rows = [torch.ones(1, BITS, dtype=torch.int64, device="cpu")]
    degrees = [p.bit_length() - 1 for p in polynomials.tolist()]
    for degree in sorted({*degrees[1:]}):  # the table has them in that order
        start, count = degrees.index(degree, 1), degrees[1:].count(degree)
        part = slice(start, start + count)
        coefficients = [polynomials[part] >> degree - k & 1 for k in range(1, degree)]
        rows.append(_extended(coefficients, [*first[part, :degree].unbind(1)]))
    return torch.cat(rows) * 2 ** torch.arange(BITS - 1, -1, -1, device="cpu")


def _table(dimension: int) -> tuple[Tensor, Tensor]:
    """For each dimension the bits of a polynomial, and its first numbers, up to 18."""
    import mindtorch_core as torch

    scipy = importlib.util.find_spec("scipy")
    if scipy is None or scipy.origin is None:
        raise ModuleNotFoundError(
            "torch.quasirandom.SobolEngine takes its direction numbers from SciPy, which is not installed: "
            "pip install scipy",
            name="scipy",
        )
    path = Path(scipy.origin).parent / "stats" / "_sobol_direction_numbers.npz"
    with importlib.import_module("numpy").load(path) as table:
        found = [torch.from_numpy(table[name][:dimension]) for name in ("poly", "vinit")]
    return found[0], found[1]


def _extended(coefficients: list[Tensor], numbers: list[Tensor]) -> Tensor:
    """The first numbers of polynomials, continued by the polynomials' recurrence."""
    import mindtorch_core as torch

    degree = len(numbers)
    for j in range(degree, BITS):
        following = numbers[j - degree] ^ (numbers[j - degree] << degree)
        for k, coefficient in enumerate(coefficients, 1):
            following = following ^ ((numbers[j - k] << k) * coefficient)
        numbers.append(following)
    return torch.stack(numbers, 1)
