"""Views share memory, count versions with their base, and in-place ops are seen through them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import mindtorch_core as torch

from .base import ConformanceBase
from .checks import made, refuses, require

__all__ = ["AliasTests"]

_VIEWS: Final[dict[str, Callable[[Any], Any]]] = {
    "x[1]": lambda x: x[1],
    "x[:, 1:]": lambda x: x[:, 1:],
    "x[::2]": lambda x: x[::2],
    "x.t()": lambda x: x.t(),
    "x.view(-1)": lambda x: x.view(-1),
    "x.reshape(4, 3)": lambda x: x.reshape(4, 3),
    "x.unsqueeze(0)": lambda x: x.unsqueeze(0),
    "x.narrow(1, 1, 2)": lambda x: x.narrow(1, 1, 2),
    "x.diagonal()": lambda x: x.diagonal(),
    "x.permute(1, 0)[1:]": lambda x: x.permute(1, 0)[1:],
    "x.split(2)[1]": lambda x: x.split(2)[1],
    "x.detach()": lambda x: x.detach(),
    "x.unfold(1, 2, 1)": lambda x: x.unfold(1, 2, 1),
}


class AliasTests(ConformanceBase):
    """Aliasing, versions and writes through views."""

    def _base(self) -> Any:
        return made([float(i) for i in range(12)], self.device).view(3, 4)

    def test_views_share_memory(self) -> None:
        """A write to the base is seen in each view, and a write through a view in the base."""
        for name, make in _VIEWS.items():
            base = self._base()
            view = make(base)
            base.add_(100)
            require(view.tolist() == make(base).tolist(), f"{name} does not see its base change")
            require(_smallest(view) >= 100, f"{name} keeps the elements from before")
            view.zero_()
            zeros = sum(row.count(0.0) for row in base.tolist())
            positions = {(i, j) for i in range(3) for j in range(4) if base[i, j].item() == 0}
            require(zeros == len(positions) > 0, f"a write through {name} does not reach its base")
            require(
                view.untyped_storage().data_ptr() == base.untyped_storage().data_ptr(),
                f"{name} lies in memory of its own",
            )

    def test_views_count_versions(self) -> None:
        """Writes count one version for the base and all its views; a copy counts its own."""
        base = self._base()
        view, copy = base[1:], base.clone()
        before, apart = base._version, copy._version
        view.add_(1)
        require(base._version > before, "a write through a view leaves the base's version stale")
        require(base._version == view._version, "base and view count versions apart")
        base.mul_(2)
        require(view._version == base._version, "a write to the base leaves a view's version stale")
        require(copy._version == apart, "a copy counts the versions of its source")

    def test_stale_values_are_refused(self) -> None:
        """backward() refuses saved values that were written over since."""
        w = made([1.0, 2.0, 3.0], self.device).requires_grad_()
        x = made([4.0, 5.0, 6.0], self.device)
        y = (w * x).sum()
        x.add_(1)
        refuses("backward() after a saved tensor was written", y.backward, RuntimeError)
        y = (w * x).exp()
        y.mul_(2)
        refuses("backward() after a saved result was written", y.sum().backward, RuntimeError)

    def test_writes_through_views_have_gradients(self) -> None:
        """The gradient passes a write into a part of a tensor."""
        w: Any = made([1.0, 2.0, 3.0, 4.0], self.device).requires_grad_()
        t = w * 2
        t[1:3].mul_(10)
        t[0] = 7
        t.sum().backward()
        found = w.grad.tolist()
        require(found == [0, 20, 20, 2], f"the gradient of writes through views is {found}")

    def test_inplace_ops_return_themselves(self) -> None:
        """In-place ops return their tensor, keep its memory and refuse what does not fit."""
        writes: dict[str, Callable[[Any], Any]] = {
            "add_": lambda t: t.add_(1),
            "mul_": lambda t: t.mul_(t),
            "copy_": lambda t: t.copy_(t + 1),
            "fill_": lambda t: t.fill_(3),
            "zero_": lambda t: t.zero_(),
            "relu_": lambda t: t.relu_(),
            "uniform_": lambda t: t.uniform_(),
        }
        for name, write in writes.items():
            t = self._base()
            memory = t.untyped_storage().data_ptr()
            require(write(t) is t, f"{name} returns another tensor than its own")
            require(t.untyped_storage().data_ptr() == memory, f"{name} moved the tensor")
        row = made([1.0, 2.0, 3.0, 4.0], self.device)
        refuses("row.add_(matrix)", lambda: row.add_(self._base()), RuntimeError)
        count = made([1, 2], self.device, "int64")
        refuses("int64.add_(0.5)", lambda: count.add_(0.5), RuntimeError)
        whole = self._base()
        whole.add_(row)
        require(whole.tolist()[1] == [5, 7, 9, 11], "an in-place op does not broadcast its operand")

    def test_overlapping_operands(self) -> None:
        """Operands may be the target itself or a view of it."""
        t = self._base()
        t.copy_(t.clone().flip(0))
        require(t.tolist()[0] == [8, 9, 10, 11], "copy_ from a flipped copy differs")
        t = self._base()
        t[1:].copy_(t[:-1].clone())
        require([row[0] for row in t.tolist()] == [0, 0, 4], "copy_ of shifted rows differs")
        t = self._base()
        t.add_(t)
        require(t.tolist()[2] == [16, 18, 20, 22], "t.add_(t) differs")
        out = self._base()
        torch.mul(out, 2, out=out)
        require(out.tolist()[0] == [0, 2, 4, 6], "out= that is an operand differs")

    def test_detach_and_data(self) -> None:
        """``detach()`` and ``data`` share memory; clones and results do not."""
        t = self._base()
        t.data.fill_(2)
        require(t.tolist()[0] == [2] * 4, "a write through data is not seen")
        made_of_it = t * 1
        made_of_it.fill_(3)
        require(t.tolist()[0] == [2] * 4, "a result lies in the memory of its operand")


def _smallest(view: Any) -> float:
    return float(min(view.reshape(-1).tolist()))
