"""Anomaly mode and the rules of walking a graph, against PyTorch."""

import subprocess
import sys
import threading
import warnings

import pytest

import mindtorch_core as torch
from both import both

pt = pytest.importorskip("torch")


def leaf(lib, *values):
    return lib.tensor([float(v) for v in values or (0, 1)], requires_grad=True)


def observed(lib, call, *, check_nan=True, mode="detect_anomaly"):
    """What a call raised in anomaly mode, and the warnings it gave before."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if mode == "detect_anomaly":
                with lib.autograd.detect_anomaly(check_nan=check_nan):
                    call(lib)
            else:
                with lib.autograd.set_detect_anomaly(True, check_nan=check_nan):
                    call(lib)
            raised = ""
        except Exception as error:  # noqa: BLE001  (any may be what PyTorch raises)
            raised = f"{type(error).__name__}: {error}".replace(" Good luck!", "")
    return raised, [(w.category, str(w.message)) for w in caught]


# ---- what is on ----------------------------------------------------------------------------------

QUERIES = """
import {name} as torch
def modes():
    print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
modes()
x = torch.zeros(2, requires_grad=True)
(x / x).sum().backward()
print(x.grad.isnan().all().item(), x.grad_fn is None)
torch.autograd.set_detect_anomaly(True, check_nan=False)
modes()
with torch.autograd.set_detect_anomaly(False):
    modes()
modes()
"""


def test_a_fresh_process_says_what_is_on():
    """Nothing has been set there that could be what is read."""
    said = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", QUERIES.format(name=lib.__name__)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for lib in (torch, pt)
    ]
    assert said[0] == said[1]
    assert said[0].startswith("False True")


# ---- backward that fails ------------------------------------------------------------------------


def divides(lib):
    x = leaf(lib)
    (x / x).sum().backward()


def divides_for_grad(lib):
    x = leaf(lib)
    lib.autograd.grad((x / x).sum(), x)


def changes_a_saved_value(lib):
    y = leaf(lib).exp()
    out = y.sin()
    y.add_(1)
    out.sum().backward()


def raises_in_a_function(lib):
    def backward(ctx, g):
        raise KeyError("inside")

    members = {"forward": staticmethod(lambda ctx, x: x * 2), "backward": staticmethod(backward)}
    type("Fails", (lib.autograd.Function,), members).apply(leaf(lib)).sum().backward()


def poisons_by_a_hook(lib):
    y = leaf(lib) * 2
    y.register_hook(lambda g: g * float("nan"))
    (y * 3).sum().backward()


def joins(lib):
    lib.cat([leaf(lib), leaf(lib) / leaf(lib)]).sum().backward()


def gives_infinity(lib):
    (1 / leaf(lib)).sum().backward()


def is_complex(lib):
    y = leaf(lib).to(lib.complex64)
    (y / y).abs().sum().backward()


FAILING = [divides, divides_for_grad, changes_a_saved_value, raises_in_a_function, poisons_by_a_hook,
           joins, gives_infinity, is_complex]  # fmt: skip


@pytest.mark.parametrize("check_nan", [True, False])
@pytest.mark.parametrize("call", FAILING)
def test_errors_and_their_origin(call, check_nan):
    """The same error, and a warning whose last line of traceback is the same line of this file."""
    (raised, warned), (expected, wanted) = (
        observed(lib, call, check_nan=check_nan) for lib in (torch, pt)
    )
    assert raised == expected
    assert [category for category, _ in warned] == [category for category, _ in wanted]
    for (_, text), (_, like) in zip(warned, wanted, strict=True):
        assert text.splitlines()[0] == like.splitlines()[0]
        assert own_lines(text) == own_lines(like)


def own_lines(text):
    """The lines of a traceback that lie in this file, without columns or what follows."""
    return [line.strip() for line in text.splitlines() if __file__ in line]


def test_the_traceback_ends_with_the_call_and_shows_its_source():
    _, warned = observed(torch, divides)
    text = warned[1][1]
    assert text.startswith("Error detected in DivBackward0. Traceback of forward call that caused")
    assert text.rstrip().endswith("(x / x).sum().backward()")
    assert text.rstrip().splitlines()[-2].endswith("in divides")


def test_the_message_names_the_output():
    raised, _ = observed(torch, divides)
    assert raised == "RuntimeError: Function 'DivBackward0' returned nan values in its 1th output."


def test_without_the_forward_pass_there_is_nothing_to_show():
    def call(lib):
        x = leaf(lib)
        out = (x / x).sum()
        raised, warned = observed(lib, lambda lib: out.backward())
        assert "No forward pass information available." in warned[1][1]
        raise RuntimeError(raised)

    both(call)
    assert_raises_alike(call)


def assert_raises_alike(call):
    found = []
    for lib in (torch, pt):
        with pytest.raises(RuntimeError) as error:
            call(lib)
        found.append(str(error.value))
    assert found[0] == found[1]


def test_the_backward_that_recorded_an_op_is_shown_too():
    def functions(lib):
        def inner(ctx, g):
            return g * float("nan")

        inside = type("Inner", (lib.autograd.Function,), {
            "forward": staticmethod(lambda ctx, x: x * 2), "backward": staticmethod(inner),
        })  # fmt: skip
        return type("Outer", (lib.autograd.Function,), {
            "forward": staticmethod(lambda ctx, x: x * 2),
            "backward": staticmethod(lambda ctx, g: inside.apply(g)),
        })  # fmt: skip

    def call(lib):
        x = leaf(lib, 1, 2)
        y = functions(lib).apply(x * 2)
        (g,) = lib.autograd.grad((y * y).sum(), x, create_graph=True)
        g.sum().backward()

    texts = []
    for lib in (torch, pt):
        raised, warned = observed(lib, call)
        assert (
            raised
            == "RuntimeError: Function 'InnerBackward' returned nan values in its 0th output."
        )
        assert len(warned) == 3
        assert "Error detected in InnerBackward. Traceback of forward call" in warned[1][1]
        assert "Previous calculation was induced by OuterBackward." in warned[2][1]
        texts.append(own_lines(warned[2][1]))
    assert texts[0] == texts[1]


def test_the_hint_names_the_changed_output():
    for call in (changes_a_saved_value, changes_an_output, changes_a_constant):
        assert_raises_alike(call)
    with pytest.raises(RuntimeError, match=r"which is output 0 of Exp, is at version 1; expected"):
        changes_an_output(torch)


def changes_an_output(lib):
    y = leaf(lib).exp()
    y.add_(1)
    y.sum().backward()


def changes_a_constant(lib):
    c = lib.ones(2)
    out = leaf(lib) * c
    c.add_(1)
    out.sum().backward()


# ---- the mode -----------------------------------------------------------------------------------


def flags(lib):
    return lib.is_anomaly_enabled(), lib.is_anomaly_check_nan_enabled()


def test_the_mode_is_off_by_default_and_ends():
    def call(lib):
        found = [flags(lib)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with lib.autograd.detect_anomaly():
                found.append(flags(lib))
                with lib.autograd.detect_anomaly(check_nan=False):
                    found.append(flags(lib))
                with lib.autograd.set_detect_anomaly(False):
                    found.append(flags(lib))
                found.append(flags(lib))
        with lib.autograd.set_detect_anomaly(True, False):
            found.append(flags(lib))
        lib.autograd.set_detect_anomaly(True, check_nan=False)
        found.append(flags(lib))
        lib.autograd.set_detect_anomaly(False)
        return [*found, flags(lib)]

    both(call)


def test_the_mode_ends_with_an_exception():
    def call(lib):
        with pytest.raises(ZeroDivisionError), lib.autograd.set_detect_anomaly(True):
            raise ZeroDivisionError
        return flags(lib)

    both(call)


def test_the_mode_is_that_of_every_thread():
    def call(lib):
        found = []
        with lib.autograd.set_detect_anomaly(True, check_nan=False):
            thread = threading.Thread(target=lambda: found.append(flags(lib)))
            thread.start()
            thread.join()
        return found

    both(call)


def test_detect_anomaly_warns_and_set_detect_anomaly_does_not():
    for mode, expected in (("detect_anomaly", 1), ("set_detect_anomaly", 0)):
        for lib in (torch, pt):
            raised, warned = observed(lib, gives_infinity, mode=mode)
            assert raised == ""
            assert len(warned) == expected


@pytest.mark.parametrize("value", [1, "on", None])
def test_a_mode_that_is_no_truth_value(value):
    both(lambda lib: lib.autograd.set_detect_anomaly(value))
    assert not torch.is_anomaly_enabled()


def test_nothing_is_remembered_while_it_is_off():
    def call(lib):
        x = leaf(lib)
        with lib.autograd.set_detect_anomaly(True):
            on = (x * 2).grad_fn
        return sorted(on.metadata) == ["traceback_"], len((x * 2).grad_fn.metadata)

    both(call)


def test_meta_tensors_and_pipelines():
    with torch.autograd.set_detect_anomaly(True):
        x = torch.ones(2, device="meta", requires_grad=True)
        (x / x).sum().backward()
        assert x.grad.shape == (2,)
        y = leaf(torch)
        with (
            pytest.warns(UserWarning, match="Error detected in DivBackward0"),
            pytest.raises(RuntimeError, match="returned nan values in its 1th output"),
            torch.pipeline(),
        ):
            (y / y).sum().backward()


# ---- walking a graph ----------------------------------------------------------------------------

WALKS = {
    "add": lambda lib, x, y, c: x + y,
    "sub": lambda lib, x, y, c: x - y,
    "neg": lambda lib, x, y, c: -x,
    "rsub": lambda lib, x, y, c: 1 - x,
    "sum": lambda lib, x, y, c: x.sum(),
    "mean": lambda lib, x, y, c: x.mean(0),
    "clone": lambda lib, x, y, c: x.clone(),
    "transpose": lambda lib, x, y, c: x.t(),
    "view": lambda lib, x, y, c: x.view(9),
    "row": lambda lib, x, y, c: x[0],
    "slice": lambda lib, x, y, c: x[:, 1:],
    "select": lambda lib, x, y, c: x.select(0, 1),
    "expand": lambda lib, x, y, c: x[:1].expand(3, 3),
    "cat": lambda lib, x, y, c: lib.cat((x, y)),
    "dtype": lambda lib, x, y, c: x.double(),
    "add_": lambda lib, x, y, c: (x + 1).add_(y),
    "bias alone": lambda lib, x, y, c: lib.nn.functional.linear(c, c, y[0]),
    "mul": lambda lib, x, y, c: x * y,
    "mul by a constant": lambda lib, x, y, c: x * c,
    "mul by a number": lambda lib, x, y, c: x * 3,
    "div": lambda lib, x, y, c: x / y,
    "div by a number": lambda lib, x, y, c: x / 2,
    "rdiv": lambda lib, x, y, c: 1 / x,
    "pow": lambda lib, x, y, c: x**2,
    "exp": lambda lib, x, y, c: x.exp(),
    "relu": lambda lib, x, y, c: x.relu(),
    "abs": lambda lib, x, y, c: x.abs(),
    "softmax": lambda lib, x, y, c: x.softmax(0),
    "index": lambda lib, x, y, c: x[[0, 1]],
    "where": lambda lib, x, y, c: lib.where(c > 0, x, y),
    "clamp": lambda lib, x, y, c: x.clamp(0, 1),
    "largest": lambda lib, x, y, c: x.max(0)[0],
    "matmul": lambda lib, x, y, c: x @ c,
    "linear": lambda lib, x, y, c: lib.nn.functional.linear(c, x, y[0]),
    "slice assignment": lambda lib, x, y, c: assigned(x, y),
}


def assigned(x, y):
    out = x + 1
    out[0] = y[0]
    return out


@pytest.mark.parametrize("name", WALKS)
def test_a_second_walk_fails_only_where_something_was_saved(name):
    def call(lib):
        c = lib.arange(1.0, 10.0).view(3, 3)
        x, y = (c / 10).requires_grad_(), (c / 7).requires_grad_()
        out = WALKS[name](lib, x, y, c)
        seed = lib.ones_like(out)
        out.backward(seed)
        out.backward(seed)
        return x.grad

    both(call)


SEEDS = {
    "complex": lambda lib: lib.ones(2, dtype=lib.complex64),
    "float64": lambda lib: lib.ones(2, dtype=lib.float64),
    "int64": lambda lib: lib.ones(2, dtype=lib.int64),
    "other shape": lambda lib: lib.ones(1),
    "meta": lambda lib: lib.ones(2, device="meta"),
    "number": lambda lib: 1.0,
}


@pytest.mark.parametrize("of_leaf", [False, True])
@pytest.mark.parametrize("name", SEEDS)
def test_gradients_to_start_from(name, of_leaf):
    def call(lib):
        x = leaf(lib)
        (x if of_leaf else x * 2).backward(SEEDS[name](lib))
        return x.grad

    both(call)


def test_complex_outputs_need_complex_gradients():
    def call(lib, seed):
        x = lib.ones(2, dtype=lib.complex64, requires_grad=True)
        return lib.autograd.grad(x * 2, x, seed)

    both(lambda lib: call(lib, lib.ones(2)))
    both(lambda lib: call(lib, lib.ones(2, dtype=lib.complex64)))
    both(lambda lib: call(lib, lib.ones(2, dtype=lib.complex128)))
    both(lambda lib: lib.ones((), dtype=lib.complex64, requires_grad=True).backward())
    with pytest.raises(RuntimeError, match="For complex Tensors, both grad_output and output"):
        call(torch, torch.ones(2))
