"""Several passes, in an order that suits them, until nothing changes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import mindtorch_core as torch

from ...graph_module import GraphModule
from .pass_base import PassResult

__all__ = ["PassManager", "pass_result_wrapper", "this_before_that_pass_constraint"]

_Pass = Callable[..., Any]
_Constraint = Callable[[_Pass, _Pass], bool]


def pass_result_wrapper(fn: _Pass) -> _Pass:
    """A function that gives a module, or changes its argument and gives nothing, as a pass."""

    @functools.wraps(fn)
    def wrapped(gm: Any) -> Any:
        result = fn(gm)
        if result is None:
            return PassResult(gm, True)
        return PassResult(result, True) if isinstance(result, torch.nn.Module) else result

    wrapped.__name__ = _name(fn)
    return wrapped


def this_before_that_pass_constraint(this: _Pass, that: _Pass) -> _Constraint:
    """That one pass comes before another: a function of two passes in their order."""
    return lambda a, b: a is not that or b is not this


def _name(fn: _Pass) -> str:
    return str(fn.__name__) if inspect.isfunction(fn) else type(fn).__name__


def _validate_pass_schedule_constraint(constraint: _Constraint, passes: list[_Pass]) -> None:
    """Check an order.

    Raises:
        RuntimeError: if two passes stand the wrong way round.
    """
    for i, a in enumerate(passes):
        for j, b in enumerate(passes[i + 1 :]):
            if not constraint(a, b):
                raise RuntimeError(
                    f"pass schedule constraint violated. Expected {a} before {b} but found {a} at index "
                    f"{i} and {b} at index{j} in pass list."
                )


def _topological_sort_passes(passes: list[_Pass], constraints: list[_Constraint]) -> list[_Pass]:
    """Passes in an order that suits all constraints: those that wait for none first.

    Raises:
        RuntimeError: if there is none.
    """
    before = {
        a: {b for b in passes if b is not a and not all(c(a, b) for c in constraints)}
        for a in passes
    }
    order = [each for each, needed in before.items() if not needed]
    for done in order:  # which grows
        for each, needed in before.items():
            if done in needed:
                needed.remove(done)
                if not needed:
                    order.append(each)
    if len(order) < len(before):
        left = [each for each, needed in before.items() if needed]
        raise RuntimeError(f"Circular dependency detected within the following passes: {left}")
    return order


class PassManager:
    """Runs passes on a module.

    Args:
        passes: functions or objects that give a `PassResult`.
        constraints: functions of two passes, False where the first may not come before the second.
        steps: how often all are run, if they still change something.
        run_checks_after_each_pass: whether `check` is called after each.
        suppress_check_failures: no effect, as in PyTorch.
    """

    def __init__(
        self,
        passes: list[_Pass] | None = None,
        constraints: list[_Constraint] | None = None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:
        self.passes = passes or []
        self.constraints = constraints or []
        self.steps = steps or 1
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures
        self._validated = False

    def add_pass(self, _pass: _Pass) -> None:
        """Add a pass."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: _Constraint) -> None:
        """Add a constraint."""
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self) -> None:
        """Check the order of the passes.

        Raises:
            RuntimeError: if two stand the wrong way round.
        """
        if not self._validated:
            for constraint in self.constraints:
                _validate_pass_schedule_constraint(constraint, self.passes)
            self._validated = True

    def solve_constraints(self) -> None:
        """Put the passes in an order that suits all constraints.

        Raises:
            RuntimeError: if there is none.
        """
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check: Callable[[Any], None]) -> None:
        """Have a function check the module.

        Raises:
            TypeError: if it does not take one argument.
        """
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        self.check = check  # type: ignore[method-assign, assignment]

    def check(self, module: Any) -> None:
        """Check the module; `add_checks` says how."""

    def __call__(self, module: Any) -> PassResult:
        """Run the passes.

        Raises:
            Exception: if one fails; the text says which, and which ran before.
        """
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        changed = False
        for _ in range(self.steps):
            modified = False
            for at, fn in enumerate(self.passes):
                try:
                    module, by_this = self._run(fn, module)
                except Exception as error:
                    before = [_name(each) for each in self.passes[:at]]
                    raise Exception(
                        f"An error occurred when running the '{_name(fn)}' pass after the following passes: "
                        f"{before}"
                    ) from error
                modified |= by_this
            changed |= modified
            if not modified:
                break
        return PassResult(module, changed)

    def _run(self, fn: _Pass, module: Any) -> tuple[Any, bool]:
        result = fn(module)
        if not hasattr(result, "graph_module"):
            raise TypeError(
                f"The result of the pass {_name(fn)} should be type PassResult.Please wrap it with "
                f"pass_result_wrapper()"
            )
        if isinstance(result.graph_module, GraphModule):
            result.graph_module.recompile()
        if self.run_checks_after_each_pass:
            self.check(result.graph_module)
        return result.graph_module, bool(result.modified)
