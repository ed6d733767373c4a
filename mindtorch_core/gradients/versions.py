"""Version counters: what an in-place op checks of the memory that it writes, and that it counts the write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dispatch.calls.generated import Template, compile_function, function_name, own, own_scope
from ..dispatch.calls.parts import DEFAULT_NUMBERS, kernel_call, own_name, parameters
from ..dispatch.entry import Kernel, OpEntry
from ..dispatch.keys import AUTOGRAD, UNRESOLVED, is_recording
from ..dispatch.opdef import OpDef
from ..dispatch.schema import OperatorSchema
from ..dispatch.written import Place, written, written_places
from ..tensors.storage import Storage
from ..tensors.tensor import Tensor
from ..values.overlap import refuse_partners, refuse_repeats
from .inplace import Seen

__all__ = ["IN_INFERENCE", "refuse_overlap", "traits", "version_kernel"]

# Name of the attribute of views that inference mode made of tensors that require grad.
IN_INFERENCE: Final = "_made_in_inference_mode"
# An op that writes its first argument; with parameters of its own, as they cost least.
_WRITING: Final = Template("""\
def $name($parameters):
    @s = $first._storage
    if @s is not None and @s.views is not None:
        if $first._base is not None:
            $same
            @REFUSE_VIEWS(@ENTRY, $first)
        else:  # it may show a view's elements, as what `detach` gives does
            @REFUSE_OVERLAP(@ENTRY, $first)
        $partners
    @before = 0 if @s is None else @s.version
    try:
        $call
        @s = $first._storage
        if @s is None:
            @s = $first._own_storage()
    except @Exception:
        raise
    except @BaseException:  # an interrupt, which may have come when all was written
        $first._own_storage().version += 1
        raise
    $count
    return @result
""")
_SAME: Final = Template("""\
if @IS_SAME($first, $args[0]):  # nothing to do, but counted
    @s.version += 1
    return $first
""")
# The ops that an op of the core is made of may have counted. What third parties' ops do inside is counted
# as well as the ops themselves, as in PyTorch.
_COUNT_OURS: Final = own("""\
if @s.version == @before:
    @s.version += 1
""")
_COUNT: Final = own("@s.version += 1\n")


def version_kernel(
    entry: OpEntry, below_mask: int, resolve: Callable[[int], Kernel]
) -> Kernel | None:
    """What ADInplaceOrView runs: bump the version of what an op writes. None for other ops."""
    schema = entry.schema
    if schema is None or not schema.is_mutable:
        return None
    below = resolve(below_mask)
    places = written_places(schema)
    first = schema.arguments[0]
    if places != ((0, first.name),) or first.is_list or first.optional:
        return _writing_several(below, places, ours=entry.definition is not None)
    d = traits(entry)
    name = function_name(schema.name)
    scope = {
        **DEFAULT_NUMBERS, "BELOW": below, "ENTRY": entry, "IS_SAME": _is_same, "UNRESOLVED": UNRESOLVED,
        "REFUSE_OVERLAP": refuse_overlap, "REFUSE_PARTNERS": refuse_partners, "REFUSE_VIEWS": _refuse_views,
    }  # fmt: skip
    return compile_function(name, _source_of(name, schema, d), own_scope(scope))


def _source_of(name: str, schema: OperatorSchema, d: OpDef | None) -> str:
    """The function of an op that writes its first argument."""
    first, *others = [own_name(a) for a in schema.positional]
    args = f"({''.join(f'{other}, ' for other in others)})"
    # Ops with formulas of their own; what others are made of checks its own arguments.
    elementwise = d is not None and d.grad is not None and not d.traits.fills
    partners = own(f"@REFUSE_PARTNERS({first}, {args}, @UNRESOLVED)\n")
    return _WRITING.fill(
        name=name,
        parameters=parameters(schema, naming=own_name),
        first=first,
        call=kernel_call(schema, own("@BELOW"), own("@result = {}"), own_name),
        same=_SAME.fill(first=first, args=args) if d is not None and d.traits.copies else "",
        partners=partners if elementwise else "",
        count=_COUNT if d is None else _COUNT_OURS,
    )


def _writing_several(below: Kernel, places: tuple[Place, ...], *, ours: bool) -> Kernel:
    """`version_kernel` of ops that write other arguments than the first, or several, or lists."""

    def writing(*args: Any, **kwargs: Any) -> Any:
        storages = [t._own_storage() for t in written(places, args, kwargs)]
        before = [s.version for s in storages]
        try:
            result = below(*args, **kwargs)
        except Exception:
            raise
        except BaseException:  # as for one
            count(storages, before)
            raise
        count(storages, before)
        return result

    def count(storages: list[Storage], before: list[int]) -> None:
        """Count one write; what third parties' ops do inside is counted as well."""
        for s, version in zip(storages, before, strict=True):
            s.version = (version if ours else s.version) + 1

    return writing


def _is_same(t: Tensor, other: Any) -> bool:
    """Whether two tensors show the same memory in the same way."""
    return t is other or (
        isinstance(other, Tensor)
        and t._storage is other._storage
        and t._dtype is other._dtype
        and Seen.by(t) == Seen.by(other)
    )


def _refuse_views(entry: OpEntry, t: Tensor) -> None:
    """Refuse to write views whose elements share memory, or whose base's history would miss it.

    Raises:
        RuntimeError: if ``t`` is such a view.
    """
    base = t._base
    differs = base is not None and (base._keys & ~t._keys) & AUTOGRAD and t._dtype.category > 1
    if differs and is_recording():
        inference = IN_INFERENCE in vars(t)
        raise RuntimeError(
            f"A view was created in {'inference' if inference else 'no_grad'} mode and is being modified "
            f"inplace {'in normal mode' if inference else 'with grad mode enabled'}. Make the view "
            f"where gradients are enabled, or change it under torch.no_grad()."
        )
    refuse_overlap(entry, t)


def traits(entry: OpEntry) -> OpDef | None:
    """The definition that says what an op does: an in-place variant's is its op's."""
    d = entry.definition
    return d if d is None or d.functional is None else d.functional


def refuse_overlap(entry: OpEntry, t: Tensor) -> None:
    """Refuse to write tensors that show some element several times.

    Raises:
        RuntimeError: if ``t`` is one, and it matters to the op.
    """
    d = traits(entry)
    if d is None or not (d.traits.fills or d.traits.puts):
        refuse_repeats(t)
