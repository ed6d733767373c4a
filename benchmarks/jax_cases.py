"""Two of the programs in JAX: the same sizes, losses and AdamW, written with `jax.numpy`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["STEPS"]


def step_of(loss: Callable, parameters: Any) -> Callable[[], Any]:
    """A compiled step of AdamW, which is called with the state that the one before gave."""

    @jax.jit
    def step(parameters: Any, first: Any, second: Any, count: Any, key: Any) -> Any:
        key, drawn = jax.random.split(key)
        value, grads = jax.value_and_grad(loss)(parameters, drawn)
        count += 1
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, grads)
        size, scale = 1e-4 / (1 - 0.9**count), jnp.sqrt(1 - 0.999**count)

        def new(p: Any, m: Any, v: Any) -> Any:
            return p * (1 - 1e-6) - size * m / (jnp.sqrt(v) / scale + 1e-8)

        return jax.tree.map(new, parameters, first, second), first, second, count, key, value

    zeros = jax.tree.map(jnp.zeros_like, parameters)
    state = [parameters, zeros, zeros, jnp.float32(0), jax.random.key(0)]

    def run() -> None:
        *state[:], _loss = jax.block_until_ready(step(*state))

    return run


def cross_entropy(scores: Any, labels: Any) -> Any:
    chosen = jnp.take_along_axis(jax.nn.log_softmax(scores), labels[..., None], -1)
    return -chosen.mean()


def gpt(width: int = 128, layers: int = 4, letters: int = 65, heads: int = 4) -> Callable[[], Any]:
    draw = np.random.default_rng(0)

    def drawn(*shape: int) -> Any:
        return jnp.asarray(0.02 * draw.standard_normal(shape, np.float32))

    def linear(given: int, made: int) -> Any:
        return {"w": drawn(given, made), "b": jnp.zeros(made)}

    def norm() -> Any:
        return {"w": jnp.ones(width), "b": jnp.zeros(width)}

    blocks = [
        {
            "norm1": norm(), "norm2": norm(), "gather": linear(width, 3 * width),
            "give": linear(width, width), "wide": linear(width, 4 * width),
            "narrow": linear(4 * width, width),
        }
        for _ in range(layers)
    ]  # fmt: skip
    parameters = {
        "letter": drawn(letters, width), "place": drawn(64, width), "blocks": blocks,
        "norm": norm(), "scores": drawn(width, letters),
    }  # fmt: skip
    text = jnp.asarray(draw.integers(letters, size=(12, 65)))

    def normed(p: Any, x: Any) -> Any:
        x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * p["w"] + p["b"]

    def through(p: Any, x: Any) -> Any:
        return x @ p["w"] + p["b"]

    def block(p: Any, x: Any) -> Any:
        parts = jnp.split(through(p["gather"], normed(p["norm1"], x)), 3, -1)
        q, k, v = (a.reshape(*a.shape[:2], heads, -1) for a in parts)
        seen = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        x = x + through(p["give"], seen.reshape(x.shape))
        wide = jax.nn.gelu(through(p["wide"], normed(p["norm2"], x)), approximate=False)
        return x + through(p["narrow"], wide)

    def loss(p: Any, key: Any) -> Any:
        x = p["letter"][text[:, :-1]] + p["place"][jnp.arange(64)]
        for each in p["blocks"]:
            x = block(each, x)
        return cross_entropy(normed(p["norm"], x) @ p["scores"], text[:, 1:])

    return step_of(loss, parameters)


def cnn() -> Callable[[], Any]:
    draw = np.random.default_rng(0)
    shapes = {"conv1": (32, 1, 3, 3), "conv2": (64, 32, 3, 3), "line1": (9216, 128),
              "line2": (128, 10)}  # fmt: skip
    parameters = {}
    for name, shape in shapes.items():
        made = shape[0] if len(shape) == 4 else shape[1]
        weight = 0.05 * draw.standard_normal(shape, np.float32)
        parameters[name] = {"w": jnp.asarray(weight), "b": jnp.zeros(made)}
    images = jnp.asarray(draw.standard_normal((64, 1, 28, 28), np.float32))
    labels = jnp.asarray(draw.integers(10, size=64))

    def convolved(p: Any, x: Any) -> Any:
        made = jax.lax.conv_general_dilated(x, p["w"], (1, 1), "VALID")
        return jax.nn.relu(made + p["b"][:, None, None])

    def dropped(x: Any, rate: float, key: Any) -> Any:
        return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0)

    def loss(p: Any, key: Any) -> Any:
        first, second = jax.random.split(key)
        x = convolved(p["conv2"], convolved(p["conv1"], images))
        x = x.reshape(64, 64, 12, 2, 12, 2).max((3, 5))
        x = dropped(x, 0.25, first).reshape(64, -1)
        x = dropped(jax.nn.relu(x @ p["line1"]["w"] + p["line1"]["b"]), 0.5, second)
        return cross_entropy(x @ p["line2"]["w"] + p["line2"]["b"], labels)

    return step_of(loss, parameters)


STEPS = {"gpt": gpt, "cnn": cnn}
