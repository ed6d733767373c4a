"""The programs of the pipeline benchmark, written once for each library that shares an interface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["CASES", "Case"]

Program = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """One program.

    Attributes:
        name: shown in the table.
        inputs: shapes of its float32 inputs.
        program: takes the library's module and the inputs, returns what is to be computed.
        grad: whether the first inputs require grad and the program is followed by backward.
        numpy: the same in NumPy, where it differs from ``program``.
        peers: libraries that can run it, all if None.
    """

    name: str
    inputs: tuple[tuple[int, ...], ...]
    program: Program
    grad: int = 0
    numpy: Program | None = None
    peers: tuple[str, ...] | None = None


def chain(t: Any, x: Any, y: Any) -> Any:
    """Seven element-wise ops."""
    return t.tanh(t.exp(t.relu((x + y) * x) - y * 0.5))


def numpy_chain(np: Any, x: Any, y: Any) -> Any:
    return np.tanh(np.exp(np.maximum((x + y) * x, 0) - y * np.float32(0.5)))


def softmax(t: Any, x: Any) -> Any:
    e = t.exp(x - t.amax(x, -1, keepdim=True))
    return e / t.sum(e, -1, keepdim=True)


def numpy_softmax(np: Any, x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(t: Any, x: Any, weight: Any, bias: Any) -> Any:
    n = 1.0 / x.shape[-1]
    centred = x - t.sum(x, -1, keepdim=True) * n
    variance = t.sum(centred * centred, -1, keepdim=True) * n
    return centred * t.rsqrt(variance + 1e-5) * weight + bias


def numpy_layer_norm(np: Any, x: Any, weight: Any, bias: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    return centred / np.sqrt(variance + np.float32(1e-5)) * weight + bias


def gelu(t: Any, x: Any) -> Any:
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1.0 + t.tanh(inner))


def gelu_mlp(t: Any, w1: Any, w2: Any, x: Any, y: Any) -> Any:
    """Loss of a two-layer perceptron."""
    difference = gelu(t, x @ w1) @ w2 - y
    return (difference * difference).sum()


def adam(t: Any, p: Any, g: Any, m: Any, v: Any) -> Any:
    """One step of Adam (Kingma and Ba, 2015), in place."""
    m.mul_(0.9).add_(g, alpha=0.1)
    v.mul_(0.999).add_(g * g, alpha=0.001)
    p.sub_(m / (t.sqrt(v) + 1e-8) * 1e-3)
    return p


def numpy_adam(np: Any, p: Any, g: Any, m: Any, v: Any) -> Any:
    m *= np.float32(0.9)
    m += np.float32(0.1) * g
    v *= np.float32(0.999)
    v += np.float32(0.001) * g * g
    p -= m / (np.sqrt(v) + np.float32(1e-8)) * np.float32(1e-3)
    return p


def jax_adam(t: Any, p: Any, g: Any, m: Any, v: Any) -> Any:
    m = m * 0.9 + 0.1 * g
    v = v * 0.999 + 0.001 * g * g
    return p - m / (t.sqrt(v) + 1e-8) * 1e-3, m, v


def many_ops(t: Any, x: Any) -> Any:
    """5,000 ops on two elements: what recording and launching cost."""
    for _ in range(2500):
        x = x * 1.0001 + 0.5
    return x


SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)

CASES: tuple[Case, ...] = (
    *(Case(f"chain {n:,}", ((n,), (n,)), chain, numpy=numpy_chain) for n in SIZES),
    Case("softmax 4096x1024", ((4096, 1024),), softmax, numpy=numpy_softmax),
    Case("layer norm 4096x1024", ((4096, 1024), (1024,), (1024,)), layer_norm,
         numpy=numpy_layer_norm),
    Case("GELU MLP, fwd+bwd", ((512, 2048), (2048, 512), (256, 512), (256, 512)), gelu_mlp, grad=2,
         peers=("mindtorch", "eager", "torch", "compile", "jax")),
    Case("Adam step, 1M", ((1_000_000,),) * 4, adam, numpy=numpy_adam),
    Case("5,000 scalar ops", ((2,),), many_ops, peers=("mindtorch", "eager", "torch", "numpy")),
)  # fmt: skip
