"""``opcheck``: whether an op does what its registrations say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ..deferred import pipeline_context
from ..dispatch.entry import OpEntry
from ..dispatch.functions import fn
from ..dispatch.keys import AUTOGRAD, AUTOGRAD_RUNTIME, DispatchKey
from ..dispatch.registry import registry
from ..dispatch.schema import Argument
from ..opdefs.torch_ops import OpOverload, overload_of
from ..tensors.tensor import Tensor
from ..values.devices import device
from .by_name import existing_name

__all__ = ["OpCheckError", "opcheck"]


class OpCheckError(Exception):
    """An op does not do what its registrations say."""


def opcheck(
    op: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = (
        "test_schema",
        "test_autograd_registration",
        "test_faketensor",
        "test_pipeline",
    ),
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Run an op on sample inputs and compare what happens with what was declared.

    ``test_schema``: what it writes and what its results alias is what the schema says.
    ``test_autograd_registration``: if an input requires grad, autograd has something to run.
    ``test_faketensor``: the fake implementation gives the shapes, strides and dtypes of real runs.
    ``test_pipeline``: inside ``torch.pipeline()`` the results are the same.

    It does not check gradients; use `torch.autograd.gradcheck` for that.

    Args:
        op: overload, custom op, or name.
        args: positional arguments.
        kwargs: keyword arguments.
        test_utils: which tests to run.
        raise_exception: raise the first failure instead of returning it.
        atol: absolute tolerance of ``test_pipeline``; by default results are equal.
        rtol: relative tolerance.

    Returns:
        For each test ``'SUCCESS'`` or the exception.

    Example:
        >>> @torch.library.custom_op("docs::double", mutates_args=())
        ... def double(x: torch.Tensor) -> torch.Tensor:
        ...     return x.mul_(2).clone()
        >>> torch.library.opcheck(double, (torch.ones(2),), test_utils="test_schema")
        Traceback (most recent call last):
            ...
        mindtorch_core.library.checks.OpCheckError: opcheck(docs.double.default, ...): test_schema ...

    Raises:
        OpCheckError: naming the op, the test and what differs.
        ValueError: for an unknown test.
    """
    overload = op if isinstance(op, OpOverload) else overload_of(registry.entry(existing_name(op)))
    names = [test_utils] if isinstance(test_utils, str) else list(test_utils)
    unknown = [n for n in names if n not in _TESTS]
    if unknown:
        raise ValueError(f"opcheck: unknown tests {unknown}; there are {', '.join(_TESTS)}")
    call = _Call(overload, tuple(args), dict(kwargs or {}), atol or 0.0, rtol or 0.0)
    results: dict[str, Any] = {}
    for name in names:
        try:
            _TESTS[name](call)
            results[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(
                    f"opcheck({overload}, ...): {name} failed with {error}"
                ) from error
            results[name] = error
    return results


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _tensors(each)


def _mapped(value: Any, change: Callable[[Tensor], Any]) -> Any:
    """The same arguments with every tensor changed."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(_mapped(v, change) for v in value)
    if isinstance(value, dict):
        return {k: _mapped(v, change) for k, v in value.items()}
    return value


def _copy(t: Tensor) -> Tensor:
    strides, _ = t._geometry()
    made = fn.empty_strided(t._shape, strides, dtype=t._dtype, device=t._device)
    made.copy_(t.detach())
    return made.requires_grad_(t.requires_grad)


@dataclass(frozen=True, slots=True)
class _Call:
    """The call that is checked, and the tolerances."""

    op: OpOverload
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    atol: float
    rtol: float

    def changed(self, change: Callable[[Tensor], Any]) -> _Call:
        """The same call with every tensor changed."""
        return replace(self, args=_mapped(self.args, change), kwargs=_mapped(self.kwargs, change))

    def run(self) -> Any:
        """What the op gives."""
        return self.op(*self.args, **self.kwargs)

    def given(self) -> dict[str, list[Tensor]]:
        """The tensors of each argument, by the schema's names."""
        names = [a.name for a in self.op._schema.positional]
        named = {**dict(zip(names, self.args, strict=False)), **self.kwargs}
        return {name: list(_tensors(value)) for name, value in named.items()}


def _state(tensors: list[Tensor]) -> list[str]:
    """What would be different if a tensor had been written, resized or laid out anew."""
    return [f"{t.tolist()} {t.shape} {t.stride()}" for t in tensors]


def _test_schema(sample: _Call) -> None:
    """Compare what is written and what is aliased with what the schema says."""
    call = sample.changed(lambda t: _copy(t.detach()))
    given = call.given()
    before = {name: _state(tensors) for name, tensors in given.items()}
    result = call.run()
    returns = call.op._schema.returns
    if getattr(call.op._schema, "is_varret", False) or not returns:
        outputs = []  # the schema says nothing of them
    else:
        outputs = [result] if len(returns) == 1 else list(result or ())
    seen: dict[int, int] = {}
    for a in call.op._schema.arguments:
        tensors = given.get(a.name, [])
        if before.get(a.name, []) != _state(tensors) and not a.is_write:
            raise RuntimeError(f"Argument {a.name} is not defined as mutable but was mutated")
        memory = {id(t._own_storage()) for t in tensors}
        for i, (output, declared) in enumerate(zip(outputs, returns, strict=True)):
            shared = any(id(t._own_storage()) in memory for t in _tensors(output))
            if shared and not _may_alias(a, declared):
                raise RuntimeError(
                    f"Argument {a.name} is not defined to alias output {i} but was aliasing"
                )
    for i, (output, declared) in enumerate(zip(outputs, returns, strict=True)):
        for key in {id(t._own_storage()) for t in _tensors(output)}:
            j = seen.setdefault(key, i)
            if j != i and not _may_alias(returns[j], declared):
                raise RuntimeError(f"Outputs {j} and {i} alias unexpectedly")


def _may_alias(one: Argument, other: Argument) -> bool:
    """Whether the schema says that two values may share memory."""
    if one.alias is None or other.alias is None:
        return False
    return bool(set(one.alias.sets) & set(other.alias.sets))


def _test_autograd_registration(call: _Call) -> None:
    """Look for something that autograd runs."""
    if not any(t._keys & AUTOGRAD for t in _tensors([*call.args, *call.kwargs.values()])):
        return
    overload = call.op
    entry: OpEntry = overload._entry
    d = entry.definition
    implicit = DispatchKey.CompositeImplicitAutograd in entry.records
    at_autograd = any(
        k & AUTOGRAD_RUNTIME or k is DispatchKey.Autograd for k in tuple(entry.records)
    )
    if not (implicit or at_autograd or d is not None):
        raise RuntimeError(
            f"inputs require grad, but {overload.name()} has no registration at an Autograd key: use "
            f"torch.library.register_autograd"
        )


def _meta(t: Tensor) -> Tensor:
    strides, _ = t._geometry()
    made = fn.empty_strided(t._shape, strides, dtype=t._dtype, device=device("meta"))
    return made.requires_grad_(t.requires_grad)


def _steps(t: Tensor) -> tuple[int, ...]:
    """The strides that say where elements lie: none of an empty tensor, none of sizes 1."""
    strides: tuple[int, ...] = t.stride()
    return tuple(s for s, n in zip(strides, t.shape, strict=True) if n > 1 and t.numel())


def _test_faketensor(call: _Call) -> None:
    """Compare a run without data with a real one."""
    real, fake = call.changed(_copy).run(), call.changed(_meta).run()
    reals, fakes = list(_tensors(real)), list(_tensors(fake))
    if len(reals) != len(fakes):
        raise RuntimeError(f"the fake run gave {len(fakes)} tensors, the real one {len(reals)}")
    for i, (r, f) in enumerate(zip(reals, fakes, strict=True)):
        for what, ours, theirs in (
            ("Shapes", f.shape, r.shape),
            ("Dtypes", f.dtype, r.dtype),
            ("Strides", _steps(f), _steps(r)),
        ):
            if ours != theirs:
                raise RuntimeError(
                    f"output {i}: found mismatched tensor metadata between the fake and the real "
                    f"run: {what} {ours} and {theirs} are not equal!"
                )


def _test_pipeline(call: _Call) -> None:
    """Compare a deferred run with a plain one."""
    eager, copies = call.changed(_copy).run(), call.changed(_copy)
    with pipeline_context():
        deferred = copies.run()
    for i, (e, p) in enumerate(zip(_tensors(eager), _tensors(deferred), strict=True)):
        same = e.shape == p.shape and e.dtype == p.dtype
        if not same or not fn.allclose(p, e, call.rtol, call.atol, equal_nan=True):
            raise RuntimeError(f"output {i} is {p} inside a pipeline and {e} outside")


_TESTS: Final[dict[str, Callable[[_Call], None]]] = {
    "test_schema": _test_schema,
    "test_autograd_registration": _test_autograd_registration,
    "test_faketensor": _test_faketensor,
    "test_pipeline": _test_pipeline,
}
