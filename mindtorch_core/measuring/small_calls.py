"""What small calls cost.

Everything is tiny, so that what is measured is what a library adds to the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

from .peers import library
from .turns import OURS, Case, Group, Namespace, same

__all__ = ["groups"]

_VALUES: Final = {
    "a": [1.0, 2.0], "b": [3.0, 4.0], "c": [0.0, 0.0],
    "m": [[1.0, 2.0], [3.0, 4.0]], "n": [[0.5, 0.0], [0.0, 0.5]],
}  # fmt: skip

_OPS: Final = (
    same("add", "a + b", "a + b"),
    same("mul", "a * b", "a * b"),
    same("relu", "torch.relu(a)", "np.maximum(a, 0)"),
    same("sum", "a.sum()", "a.sum()"),
    same("matmul", "m @ n", "m @ n"),
    same("reshape", "a.reshape(2, 1)", "a.reshape(2, 1)"),
    same("transpose", "m.transpose(0, 1)", "m.swapaxes(0, 1)"),
    same("index", "m[0]", "m[0]"),
    same("cat", "torch.cat((a, b))", "np.concatenate((a, b))"),
    same("exp", "torch.exp(a)", "np.exp(a)"),
    same("comparison", "a < b", "a < b"),
    same("in-place add", "c.add_(b)", "np.add(c, b, c)"),
)
_BACKWARD: Final = same(
    "four ops, forward+backward", "a.grad = b.grad = None; ((a * b + b).relu()).sum().backward()"
)
_META: Final = (same("add", "a + b"), same("matmul", "m @ n"), same("sum", "a.sum()"))
_THIRD_PARTY: Final = (
    same("overload", "torch.ops.aten.add.Tensor(a, b)"),
    same("packet", "torch.ops.aten.add(a, b)"),
    same("kernel in Python", "torch.ops.call_cost.kernel(a)"),
    same("custom op", "custom(a)"),
    same("custom op, recorded", "custom(r)"),
    same("under a mode", "with mode: a + b; a * b; a + b; a * b"),
)


def groups(device: str = "cpu", settle: Callable[[], None] | None = None) -> tuple[Group, ...]:
    """The groups of small calls on a device.

    Args:
        device: where tensors lie. What third parties write is measured on the CPU, and shapes on the
            meta device: elsewhere those groups are left out.
        settle: waits for the device; see `Group`.
    """
    recorded = partial(_small, requires_grad=True, device=device)
    found = (
        Group("eager", 1.0, _OPS, partial(_small, device=device), settle),
        Group("requires_grad", 1.1, tuple(map(_recorded, _OPS)), recorded, settle),
        Group("backward", 0.65, (_BACKWARD,), recorded, settle),
        Group(
            "training", 1.0, (same("MLP step, batch 64", "step()"),), partial(_mlp, device), settle
        ),
    )
    if device != "cpu":
        return found
    return (
        *found[:-1],
        Group("library", 0.6, _THIRD_PARTY, _third_party),
        found[-1],
        Group("meta", 0.06, _META, partial(_small, device="meta")),
    )


def _small(peer: str, *, requires_grad: bool = False, device: str = "cpu") -> Namespace:
    """Two-element vectors a, b, c and 2x2 matrices m, n."""
    torch = library(peer)
    if peer == "numpy":
        return {"np": torch, **{k: torch.array(v, torch.float32) for k, v in _VALUES.items()}}
    made = {k: torch.tensor(v, device=device) for k, v in _VALUES.items()}
    if requires_grad:
        made = {k: t if k == "c" else t.requires_grad_() for k, t in made.items()}
    return {"torch": torch, **made}


def _recorded(case: Case) -> Case:
    """A small op as it is measured with gradients."""
    if case.name == "in-place add":  # on one tensor the history would grow with every call
        return same("clone, in-place add", "a.clone().add_(b)")
    return same(case.name, case.statements[OURS])


def _mlp(device: str, peer: str) -> Namespace:
    """One step of training 64 -> 128 -> 10 on a batch of 64, as the function ``step``."""
    torch, functional = library(peer), library(peer, ".nn.functional")
    torch.manual_seed(0)
    x, y = torch.randn(64, 64).to(device), torch.randint(0, 10, (64,)).to(device)
    w1, w2 = torch.randn(128, 64) * 0.1, torch.randn(10, 128) * 0.1
    start = (w1, torch.zeros(128), w2, torch.zeros(10))
    weights = [t.to(device).requires_grad_() for t in start]
    velocities = [torch.zeros_like(w) for w in weights]

    def step() -> None:
        for w in weights:
            w.grad = None
        w1, b1, w2, b2 = weights
        hidden = functional.linear(x, w1, b1).relu()
        functional.cross_entropy(functional.linear(hidden, w2, b2), y).backward()
        with torch.no_grad():
            for w, v in zip(weights, velocities, strict=True):
                v.mul_(0.9).add_(w.grad)
                w.sub_(v, alpha=1e-4)

    return {"step": step}


@cache
def _third_party(peer: str) -> Namespace:
    """An op with a kernel in Python, a custom op with a gradient, and a mode that hands ops on."""
    names = _small(peer)
    torch = names["torch"]
    own, utils = library(peer, ".library"), library(peer, ".utils._python_dispatch")
    lib = own.Library("call_cost", "DEF")
    lib.define("kernel(Tensor x) -> Tensor")
    lib.impl("kernel", lambda x: x.clone(), "CPU")
    custom = own.custom_op(
        "call_cost::custom", lambda x: x.clone(), mutates_args=(), schema="(Tensor x) -> Tensor"
    )
    custom.register_autograd(lambda ctx, g: g)

    def hand_on(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))

    mode = type("HandOn", (utils.TorchDispatchMode,), {"__torch_dispatch__": hand_on})
    recorded = torch.tensor([1.0, 2.0], requires_grad=True)
    return {**names, "lib": lib, "custom": custom, "mode": mode(), "r": recorded}
