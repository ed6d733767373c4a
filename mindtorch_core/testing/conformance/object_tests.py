"""Tensors as objects: files, pickles, copies, printing."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import pytest

import mindtorch_core as torch

from ...operators.recipes import LAYOUTS, build, tensor
from ...values.dtypes import DTYPES
from .base import ConformanceBase
from .checks import has, has_dtype, made, require
from .sweeps import SWEPT

__all__ = ["ObjectTests"]


def _through_a_file(value: Any, **options: Any) -> Any:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, **options)


class ObjectTests(ConformanceBase):
    """Saving, loading, pickling, copying and showing tensors of the device."""

    def test_files(self) -> None:
        """``save`` and ``load`` keep elements, dtype, layout, device and what shares memory."""
        for name in SWEPT:
            if not has_dtype(self.device, name):
                continue
            for layout in LAYOUTS:
                t = build(tensor(2, 3, dtype=name, layout=layout), self.device)
                back = _through_a_file(t)
                require(
                    back.device is t.device, f"loading put a tensor of {t.device} on {back.device}"
                )
                require(back.dtype is DTYPES[name], f"loading made {back.dtype} of {name}")
                require(
                    back.tolist() == t.tolist(), f"loading changed elements of {name}, {layout}"
                )
                require(back.stride() == t.stride(), f"loading changed strides, {layout}")
        base = made([1, 2, 3], self.device)
        first, second = _through_a_file([base, base[1:]])
        first.fill_(8)
        require(second.tolist() == [8, 8], "tensors that shared memory do not after loading")

    def test_files_elsewhere(self) -> None:
        """A file is loaded on another device by ``map_location``."""
        if not has("cpu"):
            pytest.skip("there is no CPU backend to load tensors on")
        t = made([1, 2, 3], self.device)
        host = _through_a_file(t, map_location="cpu")
        require(
            (host.device.type, host.tolist()) == ("cpu", [1, 2, 3]), "loading on the CPU differs"
        )
        back = _through_a_file(host, map_location=self.device)
        require(
            (back.device.type, back.tolist()) == (self.device, [1, 2, 3]),
            f"loading a CPU tensor on {self.device} differs",
        )

    def test_pickles(self) -> None:
        """Pickles keep elements, device and requires_grad."""
        t = made([1.0, 2.0], self.device).requires_grad_()
        back = pickle.loads(pickle.dumps(t))
        require(
            (back.tolist(), back.device, back.requires_grad) == ([1, 2], t.device, True),
            f"a pickled tensor comes back as {back!r}",
        )

    def test_copies_of_objects(self) -> None:
        """``deepcopy`` gives memory of its own, ``copy`` shares it."""
        t = made([1.0, 2.0], self.device)
        deep, shallow = copy.deepcopy(t), copy.copy(t)
        t.fill_(9)
        require(deep.tolist() == [1, 2], "a deep copy shares memory")
        require(shallow.tolist() == [9, 9], "a shallow copy has memory of its own")
        require(deep.device is t.device, "a deep copy is on another device")

    def test_state(self) -> None:
        """A dictionary of weights is saved, loaded and written back into others."""
        weights = {"w": made([1.0, 2.0], self.device), "nested": [made([3], self.device, "int64")]}
        back = _through_a_file(weights)
        target = {"w": torch.zeros(2, device=self.device), "n": torch.zeros(1, device=self.device)}
        target["w"].copy_(back["w"])
        target["n"].copy_(back["nested"][0])
        found = {name: t.tolist() for name, t in target.items()}
        require(found == {"w": [1, 2], "n": [3]}, f"a state comes back as {found}")

    def test_printing(self) -> None:
        """A tensor shows its elements and its device."""
        shown = repr(made([1.5, 2.0], self.device))
        require("1.5" in shown and "2." in shown, f"the elements are not shown: {shown}")
        if self.device != "cpu":
            require(f"device='{self.devices()[0]}'" in shown, f"the device is not shown: {shown}")
