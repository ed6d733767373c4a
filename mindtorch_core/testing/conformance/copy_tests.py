"""Copies: between device and host, layouts and dtypes, onto views, and between devices."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any, Final

import pytest

import mindtorch_core as torch

from ...operators.recipes import LAYOUTS, build, tensor
from ...values.dtypes import DTYPES, finfo
from ..comparison import assert_close, outcome
from .base import ConformanceBase
from .checks import has, has_dtype, made, require
from .sweeps import SWEPT

__all__ = ["CopyTests"]

_INF: Final = float("inf")
# By the dtype that is converted to: numbers, and what they become. Ties go to the even neighbour.
_ROUNDED: Final[dict[str, dict[float, float]]] = {
    "float16": {
        2049.0: 2048.0,
        2051.0: 2052.0,
        1 + 3 * 2**-11: 1 + 2**-9,
        1 + 2**-12: 1.0,
        65519.0: 65504.0,
        65520.0: _INF,
        -1e6: -_INF,
        3 * 2**-25: 2**-23,
        3 * 2**-26: 2**-24,
        2**-25: 0.0,
        -0.0: -0.0,
        float("nan"): float("nan"),
    },
    "bfloat16": {
        257.0: 256.0,
        259.0: 260.0,
        1 + 3 * 2**-9: 1 + 2**-7,
        -3.4e38: -_INF,
        2.0**100: 2.0**100,
        -0.0: -0.0,
        float("nan"): float("nan"),
        _INF: _INF,
    },
    "float32": {
        1 + 2**-24: 1.0,
        1 + 3 * 2**-24: 1 + 2**-22,
        1e39: _INF,
        3 * 2.0**-150: 2.0**-148,
        -0.0: -0.0,
        float("nan"): float("nan"),
    },
}


class CopyTests(ConformanceBase):
    """Elements arrive, whatever their layout and dtype, and nothing else changes."""

    def _dtypes(self) -> list[str]:
        return [name for name in SWEPT if has_dtype(self.device, name)]

    def test_host_and_back(self) -> None:
        """Elements of every dtype and layout come back as they went."""
        for name, layout in product(self._dtypes(), LAYOUTS):
            recipe = tensor(3, 4, dtype=name)
            wanted = build(recipe, self.device).tolist()
            found = build(replace(recipe, layout=layout), self.device)
            require(found.tolist() == wanted, f"{name}, {layout}: the host gets other elements")
            require(found.clone().tolist() == wanted, f"{name}, {layout}: clone differs")
            packed = found.contiguous()
            require(packed.tolist() == wanted, f"{name}, {layout}: contiguous() differs")
            require(packed.is_contiguous(), f"{name}, {layout}: contiguous() is not")
            require(found.t().tolist() == list(map(list, zip(*wanted, strict=True))),
                    f"{name}, {layout}: the transpose differs")  # fmt: skip

    def test_with_the_cpu(self) -> None:
        """Tensors go to the CPU and come from it, in every layout, and do not share memory."""
        if not has("cpu"):
            pytest.skip("there is no CPU backend to copy to")
        for name, layout in product(self._dtypes(), LAYOUTS):
            recipe = tensor(3, 4, dtype=name, layout=layout)
            mine, host = build(recipe, self.device), build(recipe, "cpu")
            for what, found, wanted in (
                ("to the CPU", mine.cpu(), host),
                ("from the CPU", host.to(self.device), mine),
                ("copy_ from the CPU", torch.empty_like(mine).copy_(host), mine),
                ("copy_ to the CPU", torch.empty_like(host).copy_(mine), host),
                ("not blocking", host.to(self.device, non_blocking=True), mine),
            ):
                assert_close(found, wanted, msg=f"{what}, {name}, {layout}")
        a = made([1, 2], self.device)
        b = a.cpu()
        a.add_(1)
        if self.device != "cpu":
            require(b.tolist() == [1, 2], "the copy on the CPU changes with its source")

    def test_between_layouts(self) -> None:
        """``copy_`` writes the elements of a view and nothing around them."""
        for to, of in product(LAYOUTS, LAYOUTS):
            source = build(tensor(3, 4, layout=of, seed=7), self.device)
            target = build(tensor(3, 4, layout=to), self.device)
            memory = _memory_of(target)
            outside = _without(memory.tolist(), target)
            target.copy_(source)
            require(target.tolist() == source.tolist(), f"copy_ from {of} to {to} differs")
            require(_without(memory.tolist(), target) == outside, f"copy_ to {to} wrote elsewhere")

    def test_conversions(self) -> None:
        """Elements are converted between all pairs of dtypes as Python would."""
        names = self._dtypes()
        for source, target in product(names, names):
            values: list[Any] = [0, 1, 2, 3] if source != "bool" else [False, True, True, False]
            found = made(values, self.device, source).to(DTYPES[target])
            wanted = [bool(v) if target == "bool" else int(v) for v in values]
            require(
                found.dtype is DTYPES[target] and found.tolist() == wanted,
                f"{source} to {target} gave {found.dtype} {found.tolist()}",
            )
        if "float32" in names and "int32" in names:
            cut = made([1.75, -1.75, 0.5], self.device).to(torch.int32)
            require(
                cut.tolist() == [1, -1, 0], f"float32 to int32 gave {cut.tolist()}, not cut off"
            )
        for target, cases in _ROUNDED.items():
            for source in ("float32", "float64"):
                if source != target and {source, target} <= set(names):
                    got = made(list(cases), self.device, source).to(DTYPES[target]).tolist()
                    nearest = [0.0 if self._flushed(v, target) else v for v in cases.values()]
                    require(
                        [str(v) for v in got] == [str(v) for v in nearest],
                        f"{source} to {target} gave {got} for {list(cases)}, not the nearest, {nearest}",
                    )

    def _flushed(self, value: float, dtype: str) -> bool:
        return 0 < abs(value) < finfo(DTYPES[dtype]).tiny and self.numerics().flushes_subnormals

    def test_odd_shapes(self) -> None:
        """Scalars, empty tensors, expanded and flipped ones are copied."""
        scalar = torch.tensor(2.5, device=self.device)
        number: Any = scalar.clone().tolist()
        require(scalar.item() == 2.5 and number == 2.5, "a scalar differs")
        one = made([1, 2, 3], self.device)
        wide = one.expand(2, 3)
        require(wide.clone().tolist() == [[1, 2, 3], [1, 2, 3]], "an expanded tensor differs")
        require(wide.tolist() == [[1, 2, 3], [1, 2, 3]], "an expanded tensor's list differs")
        require(one.new_zeros((0, 3)).clone().tolist() == [], "an empty tensor differs")
        target = torch.zeros(2, 3, device=self.device)
        target.copy_(one)
        require(target.tolist() == [[1, 2, 3]] * 2, "copy_ does not broadcast")
        target[:, 1].fill_(9)
        require(target.tolist() == [[1, 9, 3]] * 2, "fill_ of a column wrote elsewhere")

    def test_copies_are_copies(self) -> None:
        """``clone`` and ``to(copy=True)`` give memory of their own; ``to`` the same gives itself."""
        for what, copy in (
            ("clone()", torch.clone),
            ("to(copy=True)", lambda t: t.to(t.dtype, copy=True)),
            ("a conversion", lambda t: t.to(torch.int64)),
            ("x + 0", lambda t: t + 0),
            ("torch.tensor-like copy", lambda t: torch.empty_like(t).copy_(t)),
        ):
            t = made([1, 2], self.device)
            found = copy(t)
            t.fill_(7)
            require(found.tolist() == [1, 2], f"{what} shares memory with its source")
            found.fill_(5)
            require(t.tolist() == [7, 7], f"writing into {what} changes its source")
        t = made([1, 2], self.device)
        require(t.to(self.device) is t, "to() the device that it is on makes another tensor")

    def test_between_devices(self) -> None:
        """Tensors go from each device to each other; operands on two devices are refused."""
        devices = self.devices()
        if len(devices) < 2:
            pytest.skip(f"there is one {self.device} device")
        for a, b in product(devices, devices):
            t = made([1, 2, 3], a)
            require(t.device is a, f"a tensor asked for on {a} is on {t.device}")
            moved = t.to(b)
            require((moved.device, moved.tolist()) == (b, [1, 2, 3]), f"from {a} to {b} it differs")
            require((moved + 1).device is b, f"the result of an op on {b} is elsewhere")
            if a is not b:
                found = outcome(lambda t=t, moved=moved: t + moved)
                require(
                    isinstance(found, RuntimeError),
                    f"operands on {a} and {b} are added: where `t.device is not other.device`, kernels "
                    "raise a RuntimeError, 'Expected all tensors to be on the same device, ...'",
                )
                t.add_(1)
                require(moved.tolist() == [1, 2, 3], f"the copy on {b} changes with that on {a}")
                self._between_layouts(a, b)

    def _between_layouts(self, a: Any, b: Any) -> None:
        for of, to in product(LAYOUTS, LAYOUTS):
            source = build(tensor(3, 4, layout=of, seed=7), str(a))
            target = build(tensor(3, 4, layout=to), str(b))
            target.copy_(source)
            require(
                target.tolist() == source.tolist(), f"copy_ from {of} on {a} to {to} on {b} differs"
            )


def _memory_of(t: Any) -> Any:
    """The whole memory behind a tensor, as one row."""
    storage = t.untyped_storage()
    return t.as_strided((storage.size_bytes // t.dtype.itemsize,), (1,), 0)


def _without(memory: list[Any], t: Any) -> list[Any]:
    """Elements of the memory that are not the tensor's."""
    rows, columns = t.shape
    first, (down, right) = t.storage_offset(), t.stride()
    own = {first + i * down + j * right for i in range(rows) for j in range(columns)}
    return [value for i, value in enumerate(memory) if i not in own]
