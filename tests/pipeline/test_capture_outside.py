"""`torch.pipeline.capture`: what a function asks of the machine, and what it moves on, is no part of a recording."""

import datetime
import gc
import io
import json
import logging
import os
import random
import sys
import sysconfig
import time
import types
import uuid

import numpy as np
import pytest

import mindtorch_core as torch

capture = torch.pipeline.capture


def _clock(x):
    return x * time.perf_counter()


def _clock_that_decides(x):
    return x * 2 if time.time() > 0 else x


def _date(x):
    return x * datetime.datetime.now().year


def _system(x):
    return x * os.urandom(1)[0]


def _caller(x):
    return x * sys._getframe(1).f_lineno


def _identifier(x):
    return x * (uuid.uuid4().int % 7)


def _in_a_package(x):
    return x * len(_PACKAGE.caller())


_PACKAGE = types.ModuleType("a_package_of_others")
_PLACE = f"{sysconfig.get_path('purelib')}/a_package_of_others.py"
_TEXT = "import sys\ndef caller():\n    return sys._getframe(1).f_code.co_name[:1]\n"
exec(compile(_TEXT, _PLACE, "exec"), vars(_PACKAGE))
_DRAWER = random.SystemRandom()


def _that_holds_a_drawer(x, drawer=_DRAWER):
    return x * isinstance(drawer, random.Random)


ASKING = {
    "clock": (_clock, r"a clock by perf_counter\(\) at .*test_capture_outside.py:\d+"),
    "clock that decides": (_clock_that_decides, r"a clock by time\(\) at"),
    "date": (_date, r"a clock by now\(\) at"),
    "system": (_system, r"random numbers of the system by urandom\(\) at"),
    "caller": (_caller, r"who called it by _getframe\(\) at .*test_capture_outside.py:\d+"),
    "identifier": (_identifier, r"random numbers of the system"),
}


@pytest.mark.parametrize("fn", [_in_a_package, _that_holds_a_drawer])
def test_frames_that_packages_look_at_and_who_draws_nothing_are_no_hindrance(fn):
    captured = capture(fn)
    for _ in range(3):
        assert captured(torch.ones(2)).tolist() == [1, 1]


@pytest.mark.parametrize("what", ASKING)
def test_what_has_another_answer_in_each_call_is_refused(what):
    fn, text = ASKING[what]
    with pytest.raises(torch.CaptureError, match=text) as raised:
        capture(fn)(torch.ones(2))
    assert raised.value.result.shape == (2,)


def _opened(path):
    with path.open() as file:
        return json.load(file)


READING = {
    "open": lambda path: json.loads(open(path).read()),  # noqa: SIM115
    "path": lambda path: json.loads(path.read_text()),
    "file that is closed": _opened,
    "whether it is there": lambda path: 2.0 if os.path.exists(path) else 1.0,
    "array": lambda path: float(np.load(path.with_suffix(".npy"))),
    "saved tensors": lambda path: torch.load(path.with_suffix(".pt")),
}


@pytest.mark.parametrize("what", READING)
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_files_that_are_read_are_refused(what, tmp_path):
    path = tmp_path / "rate.json"
    path.write_text("2.0")
    torch.save(torch.tensor(2.0), path.with_suffix(".pt"))
    np.save(path.with_suffix(".npy"), 2.0)
    step, x = capture(lambda x: x * READING[what](path)), torch.ones(2)
    with pytest.raises(torch.CaptureError, match=r"a file by \w+\(\) at .*test_capture_") as raised:
        step(x)
    assert raised.value.result.tolist() == [2, 2]


def test_what_libraries_ask_for_themselves_is_none_of_it():
    logger, held = logging.getLogger("captured"), io.StringIO()
    logger.addHandler(logging.StreamHandler(held))
    logger.setLevel("INFO")

    def fn(x):
        logger.info("called")
        time.sleep(0)
        return x * 2

    step = capture(fn)
    assert [step(torch.full((), n)).item() for n in (1.0, 2.0)] == [2.0, 4.0]
    assert held.getvalue() == "called\n"


def test_what_the_garbage_collector_calls_is_none_of_it():
    def told(phase, info):
        time.perf_counter()

    def fn(x):
        gc.collect()
        return x * 2

    gc.callbacks.append(told)
    try:
        assert capture(fn)(torch.ones(2)).tolist() == [2, 2]
    finally:
        gc.callbacks.remove(told)


def _environ(x):
    return x * float(os.environ.get("CAPTURED_RATE", "1"))


def _getenv(x):
    return x * float(os.getenv("CAPTURED_RATE", "1"))


@pytest.mark.parametrize("fn", [_environ, _getenv])
@pytest.mark.parametrize("before", ["3", None])
def test_the_environment_is_guarded(fn, before, monkeypatch):
    monkeypatch.delenv("CAPTURED_RATE", raising=False)
    if before is not None:
        monkeypatch.setenv("CAPTURED_RATE", before)
    step, x = capture(fn), torch.ones(2)
    assert step(x).tolist() == step(x).tolist() == fn(x).tolist()
    monkeypatch.setenv("CAPTURED_RATE", "2")
    with pytest.raises(torch.CaptureError, match=r"os\.environ.* when it was captured"):
        step(x)


MOVING = {
    "Random": (lambda: random.Random(0), lambda held: held.random()),
    "choice": (lambda: random.Random(0), lambda held: held.choice([1.0, 2.0, 3.0])),
    "Generator": (lambda: np.random.default_rng(0), lambda held: float(held.random())),
    "RandomState": (lambda: np.random.RandomState(0), lambda held: float(held.rand())),
    "text": (lambda: io.StringIO("1\n2\n3\n"), lambda held: float(held.readline())),
}


@pytest.mark.parametrize("what", MOVING)
def test_what_each_call_moves_on_is_refused(what):
    make, use = MOVING[what]
    held, same, x = make(), make(), torch.ones(2)
    step = capture(lambda x: x * use(held))
    assert step(x).tolist() == (x * use(same)).tolist()
    with pytest.raises(torch.CaptureError, match="something else in each call") as raised:
        step(x)
    assert raised.value.result.tolist() == (x * use(same)).tolist()


def test_a_generator_that_is_made_anew_draws_the_same():
    step = capture(lambda x: x * random.Random(0).random())
    assert step(torch.ones(2)).tolist() == step(torch.ones(2)).tolist()


def test_a_profiler_that_is_at_work_stays_and_nothing_is_recorded_unseen():
    def profile(frame, event, arg):
        pass

    ran = []

    @capture
    def step(x):
        ran.append(1)
        return x + 1

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        assert [step(torch.ones(2)).tolist() for _ in range(2)] == [[2, 2]] * 2
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(before)
    assert len(ran) == 2
    assert [step(torch.ones(2)).tolist() for _ in range(2)] == [[2, 2]] * 2
    assert len(ran) == 3
