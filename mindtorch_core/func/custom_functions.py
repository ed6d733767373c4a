"""`torch.autograd.Function`, and ops with a rule of their own, inside ``vmap``.

What a Function gets and returns there stands for many samples. One node is made, for the tensors that
hold them: its gradients are made samples again when it calls the Function's backward, inside the same
levels as forward. So are tangents for its jvp. Where the Function has a ``vmap`` of its own, that computes
the outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..autograd.function import Function, refused_twice, run_backward
from ..autograd.moving_calls import moving_call
from ..dispatch.keys import AUTOGRAD, FORWARD, MASKS, DispatchKey, is_grad_enabled, with_masks
from ..gradients.custom_call import FunctionCtx, FunctionNode, record_call
from ..gradients.duals import LEVELS as DUAL_LEVELS
from ..tensors.tensor import Tensor
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten
from ..values.shapes import wrap_dim
from .batched import LEVELS, Batched, Level, batched, held, level_of
from .levels import DEPTH

__all__ = ["VmapInfo", "apply", "mapped"]

Args = tuple[Any, ...]
Chain = tuple[tuple[int, int], ...]  # dimension and level of each wrapper, from outside


class VmapInfo(NamedTuple):
    """What a Function's ``vmap`` is told.

    Attributes:
        batch_size: how many samples there are.
        randomness: ``error``, ``different`` or ``same``.
    """

    batch_size: int
    randomness: str


def _opened(t: Any) -> tuple[Any, Chain]:
    """What holds a value's samples in all levels, and where; itself if it has none."""
    chain = []
    while type(t) is Batched:
        chain.append((t._bdim, t._level))
        t = t._inner
    return t, tuple(chain)


def _closed(t: Any, chain: Chain) -> Any:
    """The reverse of `_opened`."""
    for bdim, level in reversed(chain):
        t = batched(t, bdim, level)
    return t


def _inside(levels: Sequence[Level], call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function with other levels running."""
    before = LEVELS.stack
    LEVELS.stack = list(levels)
    try:
        include = MASKS.include | DispatchKey.FuncTorchVmapMode
        return with_masks(include, MASKS.keep, call, *args, **kwargs)
    finally:
        LEVELS.stack = before


# ---- the node -----------------------------------------------------------------------------------


class _Input(NamedTuple):
    """A tensor among the inputs: a sample's shape, where the samples lie, whether it requires grad."""

    shape: tuple[int, ...]
    chain: Chain
    needed: bool


class _MappedCtx(FunctionCtx):
    """A context whose tensors are samples, and are saved by what holds them."""

    _cls: type[Function]
    _levels: tuple[Level, ...]
    _inputs: tuple[_Input | None, ...]
    _outputs: tuple[Chain, ...] = ()
    _chains: tuple[Chain, ...] = ()
    _forward_chains: tuple[Chain, ...] = ()

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What `save_for_backward` kept."""
        kept = super().saved_tensors
        return tuple(_closed(t, chain) for t, chain in zip(kept, self._chains, strict=False))

    def _open(self) -> None:
        """Replace the samples that were named by what holds them."""
        pairs = [_opened(t) for t in self._to_save]
        self._to_save = tuple(t for t, _ in pairs)
        self._chains = tuple(chain for _, chain in pairs)
        if self._for_forward is not None:
            pairs = [_opened(t) for t in self._for_forward]
            self._for_forward = tuple(t for t, _ in pairs)
            self._forward_chains = tuple(chain for _, chain in pairs)
        self._dirty = tuple(_opened(t)[0] for t in self._dirty)
        self._non_differentiable = tuple(_opened(t)[0] for t in self._non_differentiable)


class _MappedNode(FunctionNode):
    """Node of a Function's call on samples."""

    __slots__ = ()

    def name(self) -> str:
        """The Function's name."""
        ctx: Any = self.ctx
        return f"{ctx._cls.__name__}Backward"

    def run(self, *grads: Any) -> Any:
        """Call the Function's backward with samples, and bring what it returns to its inputs."""
        ctx: Any = self.ctx
        found = _inside(ctx._levels, _pulled_back, ctx, grads)
        cls = ctx._cls
        once = any(hasattr(f, "_once_differentiable") for f in (cls.backward, cls.vjp))
        if once and is_grad_enabled():
            return refused_twice(grads, found)
        return found


def _pulled_back(ctx: Any, grads: Args) -> Args:
    given = [
        _closed(g, c) if g is not None else g for g, c in zip(grads, ctx._outputs, strict=True)
    ]
    returned = run_backward(ctx._cls, ctx, given)
    found = returned if isinstance(returned, tuple) else (returned,)
    made = [
        _brought(g, like) if like is not None and isinstance(g, Tensor) else g
        for g, like in zip(found, ctx._inputs, strict=False)
    ]
    return (*made, *found[len(made) :])


def _pushed(ctx: Any, *tangents: Any) -> Args:
    """The tangents of what holds the outputs: the Function's jvp is called with samples."""
    given = [
        t if t is None or like is None else _closed(t, like.chain)
        for t, like in zip(tangents, ctx._inputs, strict=True)
    ]
    kept = ctx._chains
    if ctx._for_forward is not None:
        ctx._chains = ctx._forward_chains
    try:
        returned = ctx._cls.jvp(ctx, *given)
    finally:
        ctx._chains = kept
    found = returned if isinstance(returned, tuple) else (returned,)
    made = []
    for t, chain in zip(found, ctx._outputs, strict=False):
        if not {number for _, number in _opened(t)[1]} <= {number for _, number in chain}:
            raise RuntimeError(
                f"The jvp of {ctx._cls.__name__} returned a tangent for each sample of an output that is the "
                f"same for all samples"
            )
        made.append(_brought(t, _Input(t._shape, chain, True)) if isinstance(t, Tensor) else t)
    return (*made, *found[len(made) :])


def _brought(g: Any, like: _Input) -> Any:
    """A gradient with the samples where the input has them, summed where that is the same for all."""
    if not like.needed:
        return None
    if g._shape != like.shape:
        g = g.sum_to_size(like.shape)
    places = {number: bdim for bdim, number in like.chain}
    for level in reversed(LEVELS.stack):
        to = places.get(level.number)
        g, at = held(g, level.number)
        if to is None:
            g = g if at is None else g.sum(at)
        elif at is None:
            g = g.unsqueeze(to)
            g = g.expand(*(level.size if i == to else n for i, n in enumerate(g._shape)))
        elif at != to:
            g = g.movedim(at, to)
    return g


# ---- the call -----------------------------------------------------------------------------------


def apply(cls: type[Function], args: Args, kwargs: dict[str, Any]) -> Any:
    """Call a Function inside ``vmap``; NotImplemented if samples have no part in it.

    Raises:
        RuntimeError: if it is not written for ``vmap``.
    """
    leaves, _ = tree_flatten((args, kwargs))
    number = max(map(level_of, leaves), default=0)
    if not number and not cls.generate_vmap_rule:
        return NotImplemented
    rule = _rule(cls)
    level = next((each for each in LEVELS.stack if each.number == number), None)
    # A gradient that is taken inside the level is the Function's own; one around it is that of its rule.
    if rule is not None and level is not None and DEPTH.value <= level.depth:
        return _by_rule(rule, level, args, kwargs)
    inputs = (*args, *kwargs.values())
    opened = [_opened(v) for v in inputs]
    ctx = _MappedCtx()
    ctx._cls, ctx._levels = cls, tuple(LEVELS.stack)
    ctx.needs_input_grad = tuple(
        isinstance(t, Tensor) and bool(t._keys & AUTOGRAD) for t, _ in opened
    )
    ctx._inputs = tuple(
        _Input(v._shape, chain, needed) if isinstance(v, Tensor) else None
        for v, (_, chain), needed in zip(inputs, opened, ctx.needs_input_grad, strict=True)
    )
    single = False

    def forward() -> Args:
        nonlocal single
        if rule is not None and level is not None:
            found = _by_rule(rule, level, args, kwargs)
        else:
            found = cls.forward(*args, **kwargs)
        cls.setup_context(ctx, inputs, found)
        single = not isinstance(found, tuple)
        pairs = [_opened(t) for t in ((found,) if single else found)]
        ctx._outputs = tuple(chain for _, chain in pairs)
        ctx._open()
        return tuple(t for t, _ in pairs)

    held_by = [t for t, _ in opened]
    if DUAL_LEVELS and MASKS.keep & FORWARD:
        made = moving_call(_MappedNode, ctx, held_by, forward, _pushed)
    else:
        made = record_call(_MappedNode, ctx, held_by, forward)
    same = {(id(t), chain): v for (t, chain), v in zip(opened, inputs, strict=True)}
    outputs = tuple(
        same[id(t), chain] if (id(t), chain) in same else _closed(t, chain)
        for t, chain in zip(made, ctx._outputs, strict=True)
    )
    return outputs[0] if single else outputs


def _rule(cls: type[Function]) -> Callable[..., Any] | None:
    """A Function's own ``vmap``; None if it is to be called on samples."""
    own = cls.vmap is not Function.vmap
    if cls.generate_vmap_rule and own:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an "
            f"overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden "
            f"vmap staticmethod to avoid ambiguity."
        )
    if not cls.generate_vmap_rule and not own:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override "
            f"and implement the vmap staticmethod or set generate_vmap_rule=True."
        )
    return cls.vmap if own else None


def mapped(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel at FuncTorchBatched of an op whose samples are computed by a function.

    Args:
        rule: ``rule(info, in_dims, *args, **kwargs)`` gives the output, and where samples lie in it.
    """

    def kernel(*args: Any, **kwargs: Any) -> Any:
        number = max(map(level_of, tree_flatten(args)[0]))
        level = next(each for each in LEVELS.stack if each.number == number)
        return _by_rule(rule, level, args, kwargs)

    return kernel


def _by_rule(rule: Callable[..., Any], level: Level, args: Args, kwargs: dict[str, Any]) -> Any:
    """What a Function's own ``vmap``, or an op's, returns, as samples; it runs outside the level."""
    leaves, spec = tree_flatten(args)
    pairs = [held(v, level.number) for v in leaves]
    given = tree_unflatten([v for v, _ in pairs], spec)
    dims = tree_unflatten([d for _, d in pairs], spec)
    lower = [each for each in LEVELS.stack if each.number < level.number]
    info = VmapInfo(level.size, level.randomness)
    result = _inside(lower, rule, info, dims, *given, **kwargs)
    if not isinstance(result, tuple) or len(result) != 2:
        got = f"{len(result)} returns" if isinstance(result, tuple) else f"a {type(result)}"
        raise RuntimeError(
            f"Expected the vmap staticmethod to have two returns, an output and out_dims with pytree "
            f"structure compatible with the output. Got {got} instead"
        )
    outputs, made = tree_flatten(result[0])
    out_dims = _broadcast_to_and_flatten(result[1], made)
    if out_dims is None:
        raise RuntimeError(
            f"The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. "
            f"Expected out_dims={result[1]} to be compatible with the structure of `output`. out_dims has "
            f"structure {tree_flatten(result[1])[1]} but output has structure {made}."
        )
    same = {id(v): leaf for (v, _), leaf in zip(pairs, leaves, strict=True)}
    wrapped = [
        same[id(t)] if id(t) in same and isinstance(t, Tensor) else _sample(t, dim, level)
        for t, dim in zip(outputs, out_dims, strict=True)
    ]
    return tree_unflatten(wrapped, made)


def _sample(t: Any, dim: int | None, level: Level) -> Any:
    if dim is None or not isinstance(t, Tensor):
        return t
    return batched(t, wrap_dim(dim, len(t._shape)), level.number)
