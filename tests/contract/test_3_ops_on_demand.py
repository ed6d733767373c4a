"""Ops that are defined when they are first asked for, and backends that wait for them."""

import subprocess
import sys
import textwrap
import threading

import pytest

from mindtorch_core.dispatch.registry import OperatorRegistry


@pytest.fixture
def registry():
    """A registry with one op, and another one that is defined on demand."""
    made = OperatorRegistry()
    made.register_schema("here", "here(Tensor self) -> Tensor")
    made.rest.defined_by(lambda: made.register_schema("late", "late(Tensor self) -> Tensor"))
    return made


def kernel(self):
    return self


def test_a_known_name_defines_nothing_else(registry):
    assert registry.find("here") is not None
    assert registry.overloads("aten::here")
    assert registry.rest.pending
    assert [e.name for e in registry.defined()] == ["aten::here"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda r: r.find("late"),
        lambda r: r.entry("aten::late"),
        lambda r: "late" in r,
        lambda r: r.overloads("aten::late"),
        lambda r: list(r),
        lambda r: r.find("nowhere"),
    ],
)
def test_an_unknown_name_defines_the_rest_once(registry, ask):
    ask(registry)
    assert not registry.rest.pending
    assert [e.name for e in registry.defined()] == ["aten::here", "aten::late"]
    ask(registry)
    assert len(registry.defined()) == 2


def test_names_of_other_libraries_define_nothing(registry):
    assert registry.find("acme::op") is None
    assert registry.rest.pending


def test_a_kernel_for_a_late_op_is_registered_on_it(registry):
    registry.register_kernel("late", "CPU", kernel)
    assert registry.entry("late").has_schema


def test_the_rest_belongs_to_no_transaction(registry):
    def fails():
        with registry.transaction("acme"):
            registry.find("late")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert registry.entry("late").has_schema
    with registry.scope():
        pass
    assert registry.entry("late").schemas[-1].distribution == ""


def test_backends_register_their_kernels_then(registry):
    with registry.transaction("acme"):
        registry.rest.when_defined(lambda: registry.register_kernel("late", "CPU", kernel))
    assert registry.rest.pending
    (record,) = registry.entry("late").records.values()
    assert (record[-1].fn, record[-1].distribution) == (kernel, "acme")


def test_at_once_if_the_rest_is_defined(registry):
    registry.rest.define()
    registry.rest.when_defined(lambda: registry.register_kernel("late", "CPU", kernel))
    assert registry.entry("late").records


@pytest.mark.parametrize("before", [True, False])
def test_a_backend_that_is_taken_back_leaves_nothing(registry, before):
    with registry.transaction("acme") as journal:
        registry.rest.when_defined(lambda: registry.register_kernel("late", "CPU", kernel))
    if not before:
        registry.rest.define()
        assert registry.entry("late").records
    for undo in reversed(journal):
        undo()
    registry.rest.define()
    assert not registry.entry("late").records


def test_a_backend_that_fails_then_is_named_and_leaves_nothing(registry):
    def register():
        registry.register_kernel("late", "CPU", kernel)
        raise ValueError("no such library")

    with registry.transaction("mindtorch-acme 1.0"):
        registry.rest.when_defined(register)
        registry.rest.when_defined(lambda: registry.register_kernel("here", "CPU", kernel))
    with pytest.warns(
        UserWarning, match=r"mindtorch-acme 1\.0 failed.*ValueError: no such library"
    ):
        registry.rest.define()
    assert not registry.entry("late").records
    assert registry.entry("here").records  # others are not affected


def test_a_definition_that_fails_is_tried_again(registry):
    outcomes = iter([ZeroDivisionError, None])

    def define():
        outcome = next(outcomes)
        if outcome is not None:
            raise outcome

    registry.rest.defined_by(define)
    with pytest.raises(ZeroDivisionError):
        registry.find("late")
    assert registry.rest.pending
    registry.rest.define()
    assert not registry.rest.pending


def test_many_threads_define_it_once():
    registry, times = OperatorRegistry(), []
    registry.rest.defined_by(
        lambda: times.append(registry.register_schema("late", "late(Tensor self) -> Tensor"))
    )
    start = threading.Barrier(8, timeout=60)
    found = []

    def ask():
        start.wait()
        found.append(registry.find("late"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(times) == 1
    assert len({*found}) == 1
    assert found[0] is not None


def run(script):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
    )


def test_a_training_step_needs_none_of_them():
    done = run(
        """
        import mindtorch_core as torch
        from mindtorch_core.dispatch.registry import registry

        w = torch.randn(4, 3).requires_grad_()
        x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
        with torch.pipeline():
            loss = torch.nn.functional.cross_entropy((x @ w).relu(), y)
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        print(loss.item() > 0, registry.rest.pending)
        """
    )
    assert done.stdout == "True True\n", done.stderr


def test_no_name_has_overloads_of_both_kinds():
    done = run(
        """
        from mindtorch_core.operators.define import FUNCTIONS
        from mindtorch_core.dispatch.registry import registry

        before = {(s, n): len(p.entries) for s, ps in FUNCTIONS.items() for n, p in ps.items()}
        registry.rest.define()
        after = {(s, n): len(p.entries) for s, ps in FUNCTIONS.items() for n, p in ps.items()}
        print([name for name, count in before.items() if after[name] != count])
        """
    )
    assert done.stdout == "[]\n", done.stderr
