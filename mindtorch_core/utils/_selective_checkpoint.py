"""Checkpoints that keep what some ops have computed, and compute the rest again.

Two dispatch modes stand around the two runs of a checkpointed function. The first asks a policy about each
op and keeps the results that it wants kept; the second hands those out instead of computing them.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Self

from ..frontend.dispatch_modes import DispatchMode
from ..opdefs.torch_ops import OpOverload, OpOverloadPacket
from ..tensors.tensor import Tensor
from ._pytree import tree_map

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "create_selective_checkpoint_contexts",
]

Policy = Callable[..., Any]


class CheckpointPolicy(enum.Enum):
    """What becomes of an op's result until backward.

    It is kept (``SAVE``), computed once more (``RECOMPUTE``), or kept in the host's memory (``CPU_OFFLOAD``).
    ``MUST`` and ``PREFER`` are the same here: nothing else decides about it.
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_KEPT: Final = frozenset({CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE})
_OFFLOADED: Final = frozenset(
    {CheckpointPolicy.MUST_CPU_OFFLOAD, CheckpointPolicy.PREFER_CPU_OFFLOAD}
)


class SelectiveCheckpointContext:
    """What a policy is told besides the op and its arguments.

    Attributes:
        is_recompute: False: policies are asked in the first run only.
        op_output: what the op has returned.
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


class _Ignored(frozenset[str]):
    """Ops that policies are not asked about: both runs detach tensors, but not equally often."""

    def __contains__(self, op: object) -> bool:
        return super().__contains__(op.name() if isinstance(op, OpOverload) else op)


SAC_IGNORED_OPS: Final = _Ignored({"aten::detach"})


class _Kept(NamedTuple):
    """A tensor among the results that were kept."""

    tensor: Tensor
    version: int
    device: Any  # where it goes back to

    def value(self, may_change: bool) -> Tensor:
        """The tensor.

        Raises:
            RuntimeError: if it was written since.
        """
        if not may_change and self.tensor._version != self.version:
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated"
            )
        return self.tensor if self.device is None else self.tensor.to(self.device)


class _Again(enum.Enum):
    """What stands in the place of results that were not kept."""

    COMPUTE = 0
    USED = 1


Records = dict[str, list[Any]]
_MISMATCH: Final = (
    "not in the first run. Both runs have to call the same ops in the same order: the function may depend on "
    "something that has changed between forward and backward."
)


class _Choosing(DispatchMode):
    """The first run: keeps what the policy says."""

    def __init__(self, policy: Policy, records: Records) -> None:
        self._policy = policy
        self._records = records

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if func in SAC_IGNORED_OPS:
            return out
        context = SelectiveCheckpointContext(is_recompute=False, op_output=out)
        chosen = self._policy(context, func, *args, **kwargs)
        if isinstance(chosen, bool):
            chosen = CheckpointPolicy.MUST_SAVE if chosen else CheckpointPolicy.PREFER_RECOMPUTE
        kept: Any = _Again.COMPUTE
        if chosen in _KEPT or chosen in _OFFLOADED:
            kept = tree_map(lambda each: _kept(each, chosen in _OFFLOADED), out)
        self._records[func.name()].append(kept)
        return out


def _kept(value: Any, offload: bool) -> Any:
    if not isinstance(value, Tensor):
        return value
    found: Any = value.detach()
    if offload and found.device.type != "cpu":
        return _Kept(moved := found.cpu(), moved._version, found.device)
    return _Kept(found, found._version, None)


class _Recalling(DispatchMode):
    """The second run: hands out what was kept."""

    def __init__(self, records: Records, may_change: bool) -> None:
        self._records = records
        self._may_change = may_change
        self._at: defaultdict[str, int] = defaultdict(int)

    def __enter__(self) -> Self:
        self._at.clear()
        return super().__enter__()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func in SAC_IGNORED_OPS:
            return func(*args, **(kwargs or {}))
        name = func.name()
        at = self._at[name]
        self._at[name] += 1
        found = self._records.get(name, [])
        if at >= len(found):
            raise RuntimeError(f"{func} (call {at}) encountered during backward, but {_MISMATCH}")
        kept = found[at]
        if kept is _Again.USED:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any region "
                "computed under selective activation checkpoint."
            )
        if kept is _Again.COMPUTE:
            return func(*args, **(kwargs or {}))
        found[at] = _Again.USED
        return tree_map(
            lambda each: each.value(self._may_change) if isinstance(each, _Kept) else each,
            kept,
            is_leaf=lambda each: isinstance(each, _Kept),
        )


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Policy | list[OpOverload], allow_cache_entry_mutation: bool = False
) -> tuple[DispatchMode, DispatchMode]:
    """What `checkpoint` takes from its ``context_fn`` to keep the results of some ops.

    ``context_fn=partial(create_selective_checkpoint_contexts, policy)`` with ``use_reentrant=False``.

    Args:
        policy_fn_or_list: ``policy(context, op, *args, **kwargs)`` returns a `CheckpointPolicy`, or whether
            to keep the result; or a list of ops whose results are kept. ``torch.nn.functional.linear`` is
            one op here, ``torch.ops.aten.linear.default``.
        allow_cache_entry_mutation: do not look whether what was kept has been written since.

    Returns:
        Modes for the first and the second run.

    Raises:
        TypeError: for what is neither a function nor a list.
        ValueError: for a list of other things than overloads of ops.
    """
    policy: Policy
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            _check_overload(op)
        wanted = {op.name() for op in policy_fn_or_list}

        def policy(context: Any, op: Any, *args: Any, **kwargs: Any) -> bool:
            return op.name() in wanted
    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    records: Records = defaultdict(list)
    return _Choosing(policy, records), _Recalling(records, allow_cache_entry_mutation)


def _check_overload(op: Any) -> None:
    if isinstance(op, OpOverload):
        return
    hint = ""
    if isinstance(op, OpOverloadPacket):
        name = f"torch.ops.{op._qualified_op_name.replace('::', '.')}"
        hint = (
            " Please update the OpOverloadPacket to a specific OpOverload. For example, if you have "
            f"`{name}`, change it to `{name}.default`."
        )
    raise ValueError(
        f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}.{hint}"
    )
