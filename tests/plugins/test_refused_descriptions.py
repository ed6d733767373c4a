"""What backends, pipelines and modes are told and cannot be: a row for each error, with its words."""

import re

import pytest

import mindtorch_core as torch
from mindtorch_core.amp.cast import set_policy
from mindtorch_core.inspection import explain
from mindtorch_core.plugins import Backend, Numerics
from mindtorch_core.values.devices import row_of


def described(**given):
    return Backend(**{"device": "acme", "runtime": row_of("cpu").runtime, "api": 1} | given)


def pipeline(**given):
    with torch.pipeline(**given):
        pass


def scaler(new_scale):
    made = torch.amp.GradScaler("cpu")
    made.scale(torch.ones(()))
    made.update(new_scale)


ROWS = [
    (TypeError, "Backend(key=...) takes a key's name or None, got 3", lambda: described(key=3)),
    (TypeError, "Backend(device=...) takes a str, got 3", lambda: described(device=3)),
    (TypeError, "Backend(api=...) takes an int, got '1'", lambda: described(api="1")),
    (TypeError, "Backend(known_failures=...) takes a str, got 3", lambda: described(known_failures=3)),
    (TypeError, "Backend(numerics=...) takes a mindtorch_core.plugins.Numerics, got 3", lambda: described(numerics=3)),
    (TypeError, "derived from mindtorch_core.runtime.Runtime, got 3", lambda: described(runtime=3)),
    (TypeError, "Numerics(flushes_subnormals=...) takes another type than 1 is of", lambda: Numerics(flushes_subnormals=1)),
    (TypeError, "Numerics(without=...) takes another type than 'float64' is of", lambda: Numerics(without="float64")),
    (TypeError, "Numerics(precision=...) takes another type than 3 is of", lambda: Numerics(precision=3)),
    (ValueError, "Numerics(without=...) names no dtype: float63, int7", lambda: Numerics(without=("float63", "int8", "int7"))),
    *(
        (ValueError, f"Numerics(precision=...) takes positive numbers below 1, got exp: {error!r}",
         lambda error=error: Numerics(precision={"exp": error}))
        for error in (0, -1.0, 1.0, "1", True, float("nan"), float("inf"))
    ),
    (ValueError, "expected a cpu device, got meta", lambda: torch.cpu.set_device("meta") or torch.cpu.memory_allocated("meta")),
    (TypeError, "explain() was given keys: leave device and requires_grad out", lambda: explain("add", keys="CPU", device="cpu")),
    (TypeError, "explain() was given keys: leave device and requires_grad out", lambda: explain("add", keys="CPU", requires_grad=True)),
    (TypeError, "leave device and requires_grad out", lambda: explain("add", torch.ones(2), torch.ones(2), device="cpu")),
    (TypeError, "leave device and requires_grad out", lambda: explain("add", torch.ones(2), torch.ones(2), requires_grad=True)),
    (TypeError, "max_ops must be an int, got str", lambda: pipeline(max_ops="3")),
    (TypeError, "max_ops must be an int, got bool", lambda: pipeline(max_ops=True)),
    (ValueError, "max_ops must be at least 1, got 0", lambda: pipeline(max_ops=0)),
    (TypeError, "anomaly mode: mode must be bool, not int", lambda: torch.autograd.set_detect_anomaly(3)),
    (TypeError, "anomaly mode: check_nan must be bool, not int", lambda: torch.autograd.set_detect_anomaly(False, check_nan=3)),
    (ValueError, "no autocast policy is called 'sometimes': choose ", lambda: set_policy("add", "cpu", "sometimes")),
    (TypeError, "an autocast policy is a Policy, its name, a dtype or None, not int", lambda: set_policy("add", "cpu", 3)),
    (TypeError, ", got <class 'str'>", lambda: scaler("2")),
    (TypeError, "set_autocast_enabled(): argument 'enabled' must be a bool (got int)", lambda: torch.set_autocast_enabled("cpu", 3)),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: re.sub(r"\W+", "-", row[1])[:50])
def test_is_refused(row):
    kind, text, call = row
    with pytest.raises(kind, match=re.escape(text)):
        call()


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (lambda self, on=None: None, None),
        (lambda self, on=None, *more: None, None),
        (lambda self, *given: None, None),
        (lambda self, device=None, *, softly=False: None, None),
        (lambda self: None, "(on): too many positional arguments"),
        (lambda self, on: None, "(): missing a required argument: 'on'"),
        (lambda self, on, more: None, "(on): missing a required argument: 'more'"),
        (lambda self, on=None, *, hard: None, "(on): missing a required argument: 'hard'"),
        (lambda self, *, on=None: None, "(on): too many positional arguments"),
    ],
)
def test_a_runtimes_method_takes_what_the_core_gives(method, said):
    kind = type("Made", (type(row_of("cpu").runtime),), {"synchronize": method})
    if said is None:
        described(runtime=kind.__new__(kind))
        return
    words = f"cannot be called as the core does, with {said}"
    with pytest.raises(TypeError, match=re.escape(words)):
        described(runtime=kind.__new__(kind))


def test_a_backend_that_is_described_right_is_none_of_these():
    described(numerics=Numerics(without=["float64"], precision={"exp": 1e-5}), key="PrivateUse2")
