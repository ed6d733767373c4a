"""Functions that are called again with other arguments: as blocks, compiled, captured, they are what they are.

Shapes, dtypes, strides, who shares memory, who requires grad, modes and numbers change from call to call, so
that what is known of earlier calls must not be used for others. ATTACK_SECONDS says how long each goes on.
"""

import random
import warnings

import numpy as np
import pytest
from attack import seeds, told
from computing import WAYS as HOW
from computing import computing, kernel_folder, skip_unless_there  # noqa: F401 (a fixture)
from drawn_functions import Arguments, drawn_function, made, outcome
from whole_programs import shrunk

import mindtorch_core as torch
from mindtorch_core.deferred.replay.sites import Site
from mindtorch_core.dispatch import current_pipeline
from mindtorch_core.dispatch.keys import MASKS
from mindtorch_core.ecosystem import compiled_calls
from mindtorch_cpu.native.kernels import KERNELS

pytestmark = pytest.mark.slow

PRECISION = {"bfloat16": 0.1, "float16": 0.02, "float64": 1e-6}


def alike(mine, other, least):
    """Whether two outcomes' values are the same, but for rounding in the least precise dtype."""
    if isinstance(mine, tuple | list) and isinstance(other, tuple | list):
        return len(mine) == len(other) and all(map(alike, mine, other, [least] * len(mine)))
    if isinstance(mine, np.ndarray | float):
        mine, other = np.asarray(mine), np.asarray(other)
        if mine.dtype.kind not in "fc":
            return np.array_equal(mine, other)
        return np.allclose(mine, other, rtol=least, atol=least, equal_nan=True)
    return mine == other


def difference(found, wanted, arguments):
    """In what two outcomes differ, or None."""
    if found[0] != wanted[0]:
        return f"raises {found[0]}, not {wanted[0]}"
    dtypes = {"bfloat16" if arguments.mode == "autocast" else "float32", *arguments.dtypes}
    least = max(PRECISION.get(d, 1e-4) for d in dtypes)
    for name, value in wanted[1].items():
        if not alike(found[1][name], value, least):
            return f"{name} is\n{found[1][name]}\nand not\n{value}"
    return None


def as_block(f, through=False):
    """The function as a block of one place."""
    site = Site(f)

    def call(*args):
        pipe = torch.pipeline(through_backward=through)
        pipe.place = site
        with pipe:
            return f(*args)

    return call


def as_captured(f):
    """Captured; what it refuses it has refused before anything was done, or done as it is."""
    captured = torch.pipeline.capture(f)

    def call(*args):
        try:
            return captured(*args)
        except torch.CaptureError as error:
            return f(*args) if error.result is None else error.result

    return without_history(call)


def without_history(f):
    """The function whose results have no history, but for its arguments: what is captured returns none."""

    def call(*args):
        own = [id(a) for a in args]
        return {
            n: v.detach() if isinstance(v, torch.Tensor) and id(v) not in own else v
            for n, v in f(*args).items()
        }

    return call


WAYS = {
    "block": as_block,
    "block through backward": lambda f: as_block(f, through=True),
    "compile": torch.compile,
    "capture": as_captured,
}


def attack(seed, way, how):
    chance = random.Random(seed)
    large = chance.random() < 0.3
    trains = way != "capture" or chance.random() < 0.5
    lines = drawn_function(chance, looks=chance.random() < 0.15, trains=trains)
    variants = [Arguments(chance, large=large, trains=trains) for _ in range(chance.randint(1, 3))]
    calls = [variants[0]] * 5 + [chance.choice(variants) for _ in range(5)]

    def differ(part):
        f = made(part, torch)
        call, known = WAYS[way](f), {}
        wanted = without_history(f) if way == "capture" else f
        with computing(how):
            for at, arguments in enumerate(calls):
                found = outcome(call, arguments, torch)
                if id(arguments) not in known:
                    known[id(arguments)] = outcome(wanted, arguments, torch)
                assert (MASKS.include, MASKS.keep, torch.is_grad_enabled()) == (0, -1, True), part
                assert current_pipeline() is None, part
                if unlike := difference(found, known[id(arguments)], arguments):
                    return f"call {at} of {arguments}:\n{unlike}"
        return None

    if differ(lines):
        fewer = shrunk(lines, differ)
        pytest.fail(told(seed, "\n".join(fewer) + f"\n{differ(fewer)}"))


@pytest.mark.parametrize("how", [how for how in HOW if how != "some planned"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("kernel_folder")
def test_other_arguments(way, how, monkeypatch):
    skip_unless_there(how)
    monkeypatch.setattr(compiled_calls._Variant, "next_is_plain", lambda self: False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seeds(12):
            attack(seed, way, how)
            assert KERNELS.broken is None
