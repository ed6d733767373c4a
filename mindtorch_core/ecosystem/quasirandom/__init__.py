"""``torch.quasirandom``: Sobol's sequences, whose points fill a cube more evenly than random ones do."""

from __future__ import annotations

from typing import Any, Final

from ...tensors.tensor import Tensor
from .directions import BITS, DIMENSIONS, direction_numbers

__all__ = ["SobolEngine"]

_DTYPES: Final = {"float16": "Half", "bfloat16": "BFloat16"}


class SobolEngine:
    """Draws the points of a Sobol sequence one after the other, scrambled if that is asked for.

    Args:
        dimension: of the points, at most 21201.
        scramble: whether the sequence is scrambled and shifted at random (Owen, Matousek), which
            keeps it even.
        seed: of the scrambling; without one the default generator's state counts.

    Raises:
        ValueError: for another number of dimensions.
        ModuleNotFoundError: without SciPy, which has the direction numbers.
    """

    MAXBIT = BITS
    MAXDIM = DIMENSIONS

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        import mindtorch_core as torch

        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]"
            )
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        self.sobolstate = direction_numbers(dimension)
        if scramble:
            self._scramble()
        else:
            self.shift = torch.zeros(dimension, device="cpu", dtype=torch.int64)
        self.quasi = self.shift.clone(memory_format=torch.contiguous_format)
        self._first_point = (self.quasi / 2**self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """The next points.

        Args:
            n: how many.
            out: a tensor that takes them, whatever its shape was.
            dtype: of the points; the default dtype if it is None.

        Returns:
            A tensor of ``n`` rows.
        """
        import mindtorch_core as torch

        if dtype is None:
            dtype = torch.get_default_dtype()
        if self.num_generated:
            result = self._advance(n, dtype)
        elif n == 1:
            result = self._first_point.to(dtype)
        else:
            result = torch.cat((self._first_point.to(dtype), self._advance(n - 1, dtype)), dim=-2)
        self.num_generated += n
        return result if out is None else out.resize_as_(result).copy_(result)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """The next ``2**m`` points; with those before they must be a power of 2, as balance asks.

        Raises:
            ValueError: if they are not.
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Begin again at the first point."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Pass over ``n`` points."""
        steps = n if self.num_generated else n - 1  # the first point takes no step
        if steps > 0:
            self.quasi = self._after(steps, only_last=True)[0]
        self.num_generated += n
        return self

    def _advance(self, n: int, dtype: Any) -> Tensor:
        """The points that the next ``n`` steps give, as numbers in [0, 1)."""
        import mindtorch_core as torch

        if n < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n}: [{n}, {self.dimension}]"
            )
        if dtype not in (torch.float32, torch.float64):
            name = str(dtype).rpartition(".")[2]
            name = _DTYPES.get(name, {"int64": "Long", "int32": "Int"}.get(name, name))
            raise NotImplementedError(f"\"_sobol_engine_draw\" not implemented for '{name}'")
        if n == 0:
            return torch.empty(0, self.dimension, dtype=dtype, device="cpu")
        points = self._after(n)
        self.quasi = points[-1].clone()
        return points.to(dtype).mul_(0.5**self.MAXBIT)

    def _after(self, n: int, *, only_last: bool = False) -> Tensor:
        """The whole numbers of the next ``n`` points, or of the last of them, in rows.

        Point ``i`` is the exclusive or of the direction numbers at the bits of ``i ^ (i >> 1)``.
        """
        import mindtorch_core as torch

        index = max(self.num_generated - 1, 0)
        ahead = torch.arange(index + n if only_last else index + 1, index + n + 1, device="cpu")
        changed = (ahead ^ (ahead >> 1)) ^ (index ^ (index >> 1))
        points = self.quasi.expand(len(ahead), self.dimension)
        for bit in range(min((index + n).bit_length(), self.MAXBIT)):
            points = points ^ ((changed >> bit & 1)[:, None] * self.sobolstate[:, bit])
        return points

    def _scramble(self) -> None:
        """Multiply the direction numbers by random triangular matrices of bits, and draw a shift."""
        import mindtorch_core as torch

        generator = None
        if self.seed is not None:
            generator = torch.Generator()
            generator.manual_seed(self.seed)
        bits = self.MAXBIT
        powers = 2 ** torch.arange(bits, device="cpu")
        draws = torch.randint(2, (self.dimension, bits), device="cpu", generator=generator)
        self.shift = torch.mv(draws, powers)
        matrices = torch.randint(
            2, (self.dimension, bits, bits), device="cpu", generator=generator
        ).tril()
        matrices.diagonal(0, -2, -1).fill_(1)
        # The rows of a matrix, and the bits of a number, begin at the highest bit.
        highest_first = powers.flip(0)[:, None]
        before = (self.sobolstate[:, None, :] & highest_first).ne(0)
        after = torch.matmul(matrices.float(), before.float()).long() & 1
        self.sobolstate = (after * highest_first).sum(1)

    def __repr__(self) -> str:
        options = [f"dimension={self.dimension}"]
        if self.scramble:
            options.append("scramble=True")
        if self.seed is not None:
            options.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(options)})"
