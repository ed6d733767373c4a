"""The example of dispatch modes: what it prints, and its counts beside PyTorch's."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mindtorch_core as torch

FILE = Path(__file__).parent.parent / "examples" / "dispatch_modes.py"
SPEC = importlib.util.spec_from_file_location("dispatch_modes", FILE)
example = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(example)


def run(*options):
    return subprocess.run(
        [sys.executable, str(FILE), *options],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def test_a_step_is_logged_and_counted():
    done = run("--batch", "4", "--widths", "6", "5", "3")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["forward", "  layer 0"]
    linear = "    aten.linear.default(float32[4, 6], float32[5, 6], float32[5]) -> float32[4, 5]"
    assert lines[2] == linear
    at = [lines.index(part) for part in ("forward", "backward", "update")]
    assert at == sorted(at)
    backward = lines[at[1] + 1 : at[2]]
    assert all(line.startswith("  aten.") for line in backward)
    assert any("mm" in line for line in backward)
    assert sum("aten.sub_.Tensor" in line for line in lines[at[2] :]) == 4
    assert re.search(r"^aten.linear +2 +360 FLOP +0 FLOP +360 FLOP$", done.stdout, re.M)


def test_the_meta_device_counts_without_computing():
    counted = [run("--no-log", "--device", device) for device in ("cpu", "meta")]
    tables = [done.stdout.partition("\n\n")[2] for done in counted]
    assert tables[0] == tables[1]
    assert "aten.linear" in tables[0]
    large = run("--no-log", "--device", "meta", "--widths", "200000", "400000", "10")
    assert "total" in large.stdout, large.stderr


@pytest.mark.parametrize(
    "options",
    [["--device", "no such device"], ["--widths", "4"], ["--batch", "0"], ["--widths", "4", "-1"]],
)
def test_what_cannot_be_run_is_refused_in_words(options):
    done = run(*options)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert "dispatch_modes.py: " in done.stderr


# ---- beside PyTorch ----------------------------------------------------------------------------


def mlp(t, scopes):
    generator = range(3)
    widths = (7, 6, 5, 4)
    layers = [
        (t.ones(widths[i + 1], widths[i], requires_grad=True), t.ones(widths[i + 1], requires_grad=True))
        for i in generator
    ]  # fmt: skip
    x = t.ones(3, 7)
    with scopes("forward"):
        for weight, bias in layers:
            x = t.nn.functional.linear(x, weight, bias).relu()
        loss = x.sum()
    with scopes("backward"):
        loss.backward()


def products(*shapes, function):
    def step(t, scopes):
        tensors = [t.ones(*shape, requires_grad=True) for shape in shapes]
        with scopes("forward"):
            loss = function(t, *tensors).sum()
        with scopes("backward"):
            loss.backward()

    return step


STEPS = {
    "mlp": mlp,
    "mm": products((2, 3), (3, 4), function=lambda t, a, b: t.mm(a, b)),
    "addmm": products((4,), (2, 3), (3, 4), function=lambda t, c, a, b: t.addmm(c, a, b)),
    "bmm": products((5, 2, 3), (5, 3, 4), function=lambda t, a, b: t.bmm(a, b)),
    "batch matmul": products((5, 2, 3), (5, 3, 4), function=lambda t, a, b: a @ b),
    "folded matmul": products((5, 2, 3), (3, 4), function=lambda t, a, b: a @ b),
    "broadcast matmul": products((2, 1, 2, 3), (5, 3, 4), function=lambda t, a, b: a @ b),
    "linear of 3 dimensions": products(
        (5, 2, 3), (4, 3), (4,), function=lambda t, x, w, b: t.nn.functional.linear(x, w, b)
    ),
    "attention": products(
        (2, 4, 3), (2, 4, 3), (2, 4, 3),
        function=lambda t, q, k, v: t.softmax(q @ k.transpose(1, 2), -1) @ v,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_the_counts_are_pytorchs(name):
    oracle = pytest.importorskip("torch")
    flop_counter = pytest.importorskip("torch.utils.flop_counter")
    scopes = example.Scopes()
    with example.FlopCounter(scopes) as counter:
        STEPS[name](torch, scopes)
    wanted = {}
    counting = flop_counter.FlopCounterMode(display=False)
    theirs = example.Scopes()
    theirs.entered = lambda depth, part: wanted.setdefault(part, counting.get_total_flops())
    with counting:
        STEPS[name](oracle, theirs)
    assert counter.total() == counting.get_total_flops() > 0
    assert counter.total("forward") == wanted["backward"]
    assert counter.total("backward") == counter.total() - wanted["backward"]


def test_products_with_vectors_count_as_rows_and_columns():
    assert example.product_flops((3,), (3,)) == 6
    assert example.product_flops((2, 3), (3,)) == 12
    assert example.product_flops((3,), (3, 4)) == 24
    assert example.product_flops((7, 1, 2, 3), (5, 3, 4)) == 7 * 5 * 48
    assert example.linear_flops((3,), (3,)) == 6


def test_counts_outside_any_part_are_kept():
    with example.FlopCounter() as counter:
        torch.ones(2, 3) @ torch.ones(3, 4)
    assert counter.total() == counter.total("all") == 48
    assert counter.table().splitlines()[-1].split() == ["total", "1", "48", "FLOP", "48", "FLOP"]
