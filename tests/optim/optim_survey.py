"""PyTorch's OptimizerInfo database, run on both libraries.

Every entry, every configuration of its own and every implementation that it names (for-loop, foreach,
fused), on real and complex parameters: the same gradients for many steps, then parameters and states
are compared.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import warnings
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import torch as pt
from torch.testing._internal.common_optimizers import optim_db

import mindtorch_core as torch
from mindtorch_core import plugins

STEPS: Final = 50
TOLERANCE: Final = 1e-6
SHAPES: Final = ((4, 3), (3, 5))
VECTORS: Final = ((2, 3, 2), ())


class Case(NamedTuple):
    """One configuration.

    Attributes:
        name: of the optimizer.
        number: of the configuration in the database.
        kwargs: PyTorch's, for its optimizer.
        desc: what the database says of it.
        dtype: of the parameters.
        impl: "forloop", "foreach", "fused" or "differentiable".
    """

    name: str
    number: int
    kwargs: dict[str, Any]
    desc: str
    dtype: str
    impl: str

    @property
    def id(self) -> str:
        """A name for tests."""
        return f"{self.name}-{self.number}-{self.impl}-{self.dtype}"


def cases(name: str) -> Iterator[Case]:
    """Every configuration of an optimizer."""
    info = next(each for each in optim_db if each.optim_cls.__name__ == name)
    dtypes = ["float32", "float64"]
    if info.supports_complex and name != "SparseAdam":
        dtypes.append("complex64")
    for i, given in enumerate(info.optim_inputs_func(device="cpu")):
        for dtype, impl in itertools.product(dtypes, ("forloop", *info.supported_impls)):
            if impl == "fused" and (dtype == "complex64" or "cpu" not in info.supports_fused_on):
                continue
            kwargs = dict(given.kwargs)
            if impl == "forloop":
                kwargs.update({"foreach": False} if "foreach" in info.supported_impls else {})
            elif impl == "foreach" and _tensors(kwargs):
                continue  # refused, as `test_options` has it
            else:
                kwargs[impl] = True
            yield Case(name, i, kwargs, given.desc, dtype, impl)


def _tensors(kwargs: dict[str, Any]) -> bool:
    return any(isinstance(v, pt.Tensor) for v in _flat(kwargs.values()))


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, tuple):
            yield from _flat(value)
        else:
            yield value


def ours(value: Any) -> Any:
    """An option of PyTorch's as ours."""
    if isinstance(value, pt.Tensor):
        return torch.tensor(value.tolist(), dtype=getattr(torch, str(value.dtype).split(".")[1]))
    if isinstance(value, tuple):
        return tuple(ours(each) for each in value)
    return value


def _numbers(rng: Any, shape: tuple[int, ...], dtype: str) -> Any:
    drawn = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        drawn = drawn + 1j * rng.standard_normal(shape)
    return np.asarray(drawn).astype(dtype)


class Run:
    """An optimizer of one library with its parameters.

    Attributes:
        params: leaves.
        optimizer: the optimizer.
    """

    def __init__(self, lib: Any, case: Case, device: str = "cpu") -> None:
        rng = np.random.default_rng(case.number)
        shapes = SHAPES if case.name == "Muon" else SHAPES + VECTORS
        kwargs = case.kwargs if lib is pt else {k: ours(v) for k, v in case.kwargs.items()}
        arrays = [_numbers(rng, shape, case.dtype) for shape in shapes]
        self.lib, self.name = lib, case.name
        # So far away that none is reached: near a minimum rounding decides where a step goes.
        away = [a + np.where(_numbers(rng, a.shape, "float64") < 0, -4, 3) for a in arrays]
        self.targets = [lib.tensor(a.astype(case.dtype)).to(device) for a in away]
        leaves = [lib.tensor(a).to(device).requires_grad_(True) for a in arrays]
        self.differentiable = bool(kwargs.get("differentiable"))
        self.params = [p.clone() for p in leaves] if self.differentiable else leaves
        self.optimizer = getattr(lib.optim, case.name)(self.params, **kwargs)

    def loss(self) -> Any:
        """The squared distance from the targets, and a term that turns the gradient's sign."""
        self.optimizer.zero_grad()
        pairs = zip(self.params, self.targets, strict=True)
        with self.lib.no_grad():
            total = 0.0
            for p, target in pairs:
                distance = p.detach() - target
                p.grad = distance * 0.5 + (distance * distance.conj()).real * 0.05
                total = total + 0.25 * (distance * distance.conj()).real.sum()
        return total

    def step(self) -> None:
        """Once."""
        if self.name == "LBFGS":
            self.optimizer.step(self.loss)
        else:
            self.loss()
            self.optimizer.step()

    def results(self) -> list[Any]:
        """Parameters and the tensors of the state, in order."""
        found = [p.detach() for p in self.params]
        state = self.optimizer.state_dict()["state"]
        for key in sorted(state):
            for name in sorted(state[key]):
                value = state[key][name]
                if isinstance(value, pt.Tensor | torch.Tensor):
                    found.append(value.detach())
        return [np.asarray(t.cpu().tolist()) for t in found]


def _run(lib: Any, case: Case, device: str, steps: int) -> Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = Run(lib, case, device)
        for _ in range(steps):
            made.step()
    return made


def _difference(mine: Run, theirs: Run) -> float:
    """The largest one, relative where values are large; infinite where states hold other things."""
    keys = [sorted(s) for s in theirs.optimizer.state_dict()["state"].values()]
    if keys != [sorted(s) for s in mine.optimizer.state_dict()["state"].values()]:
        return float("inf")
    worst = 0.0
    for a, b in zip(mine.results(), theirs.results(), strict=True):
        if a.shape != b.shape:
            return float("inf")
        if a.size:
            worst = max(worst, float((np.abs(a - b) / np.maximum(1, np.abs(b))).max()))
    return worst


def compare(case: Case, device: str = "cpu", steps: int = STEPS) -> float:
    """How far this library is from PyTorch after some steps.

    Where PyTorch's foreach, fused or differentiable step differs from its for-loop by more than the
    tolerance, the distance from the nearer of both counts: there is one step here.
    """
    mine = _run(torch, case, device, steps)
    found = _difference(mine, _run(pt, case, "cpu", steps))
    if found > TOLERANCE and case.impl != "forloop":
        plain = {k: v for k, v in case.kwargs.items() if k != case.impl}
        loop = case._replace(kwargs=plain)
        found = min(found, _difference(mine, _run(pt, loop, "cpu", steps)))
    return found


NAMES: Final = sorted({info.optim_cls.__name__ for info in optim_db})


def has_npu() -> bool:
    """Whether there is an NPU, real or simulated."""
    with contextlib.suppress(ImportError, RuntimeError):
        import mindtorch_npu_simulator

        os.environ.setdefault("ASCEND_TOOLKIT_HOME", str(mindtorch_npu_simulator.toolkit_root()))
    return "npu" in {status.name for status in plugins.backends()} and torch.npu.is_available()


def on_npu(name: str, steps: int) -> float:
    """The largest difference of an optimizer's plain configurations on an NPU, in float32."""
    chosen = [c for c in cases(name) if c.impl == "forloop" and c.dtype == "float32"]
    return max((compare(c, "npu", steps) for c in chosen), default=0.0)
