"""Threads and loading: plugins that use threads while they are loaded, and threads that load at once."""

import textwrap
import threading
from types import SimpleNamespace

import pytest

from mindtorch_core.plugins.turns import Turns

# A plugin's module, which waits for a thread of its own that uses other devices.
WAITS = """
import threading
import mindtorch_core as torch

def use():
    found.append((torch.ones(2) * 3).tolist())
    found.append(tuple(torch.empty(2, device="other").shape))
    torch.sort(torch.ones(2))

found = []
thread = threading.Thread(target=use, daemon=True)
thread.start()
thread.join(60)
assert found == [[3.0, 3.0], (2,)], found
"""


def test_a_plugin_may_wait_for_a_thread_that_uses_other_devices(site):
    site.toy("other")
    site.backend("waiting", WAITS + "raise ValueError('the end of the module')")
    site.run(
        """
record_warnings()
with refused("ValueError: the end of the module"):
    torch.device("waiting")
assert states()["other"] == states()["cpu"] == "loaded"
"""
    )


def test_a_hook_may_wait_for_such_a_thread(site):
    site.toy("other")
    site.toy("waiting")
    plugin = site.folder / "mindtorch_waiting" / "plugin.py"
    hook = "def mindtorch_backend():\n"
    assert hook in plugin.read_text()
    plugin.write_text(plugin.read_text().replace(hook, hook + textwrap.indent(WAITS, "    ")))
    site.run(
        """
assert torch.ones(2, device="waiting").tolist() == [1.0, 1.0]
assert states()["other"] == states()["cpu"] == "loaded"
"""
    )


MEETING = """
import sys
import threading
import mindtorch_core as torch

sys.modules["__main__"].meet.wait(60)  # both modules are being imported
try:
    torch.ones(2, device="{other}")
    OUTCOME = "there"
except torch.BackendUnavailableError as error:
    OUTCOME = str(error)
sys.modules["__main__"].outcomes.append(OUTCOME)
raise ValueError("the end of {own}")
"""


def test_two_that_want_each_other_at_once_do_not_wait_for_ever(site):
    site.backend("one", MEETING.format(own="one", other="two"))
    site.backend("two", MEETING.format(own="two", other="one"))
    site.run(
        """
import threading
import warnings
warnings.simplefilter("ignore")
meet, outcomes = threading.Barrier(2), []

def ask(name):
    with refused(f"the end of {name}"):
        torch.device(name)

threads = [threading.Thread(target=ask, args=(name,), daemon=True) for name in ("one", "two")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(60)
assert not any(thread.is_alive() for thread in threads)
assert len(outcomes) == 2
assert sum("is still being loaded" in text for text in outcomes) == 1, outcomes
assert states()["one"] == states()["two"] == "failed"
"""
    )


def test_threads_that_want_one_device_load_it_once(site):
    site.toy("acme")
    site.run(
        """
import threading

start, made = threading.Barrier(8), []

def ask():
    start.wait(60)
    made.append((torch.ones(2, device="acme") + 1).tolist())

threads = [threading.Thread(target=ask, daemon=True) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(60)
assert made == [[2.0, 2.0]] * 8
(status,) = [s for s in plugins.backends() if s.name == "acme"]
assert status.state == "loaded"
"""
    )


INTERRUPTED = """
import sys
import time

main = sys.modules["__main__"]
main.tries.append(1)
first = len(main.tries) == 1
(main.second if first else main.third).start()
while not main.turns._waiting and time.monotonic() < main.end:
    time.sleep(0.01)  # until that thread waits for this one
if first:
    raise KeyboardInterrupt
raise ValueError("the end of the module")
"""


def test_whoever_waited_for_an_interrupted_load_takes_its_turn(site):
    site.backend("acme", INTERRUPTED)
    site.run(
        """
import threading
import time
import warnings
from mindtorch_core.plugins import loader

warnings.simplefilter("ignore")
tries, told, turns, end = [], [], loader._loader.turns, time.monotonic() + 30

def ask():
    with refused("the end of the module"):
        torch.device("acme")
    told.append(1)

second, third = (threading.Thread(target=ask, daemon=True) for _ in range(2))
try:
    torch.device("acme")
except KeyboardInterrupt:
    told.append(0)
for thread in (second, third):
    thread.join(60)
assert time.monotonic() < end
assert (tries, sorted(told)) == ([1, 1], [0, 1, 1]), (tries, told)
"""
    )


@pytest.mark.parametrize(
    ("state", "mine"),
    [("available", True), ("loaded", False), ("failed", False), ("disabled", False)],
)
def test_a_backend_is_loaded_by_who_asks_first_if_it_is_there_to_be_loaded(state, mine):
    turns, status = Turns(), SimpleNamespace(state=state)
    with turns.at("acme", status) as first:
        assert first is mine
        assert status.state == ("loading" if mine else state)
        with turns.at("acme", status) as again:  # its module asks for its device
            assert again is False
        with turns.at("other", SimpleNamespace(state="available")) as other:
            assert other is True
    assert (
        status.state == state
    )  # who loads it says what became of it; an interrupt leaves it as it was
    assert (turns._loading, turns._waiting) == ({}, {})


def test_a_thread_waits_for_another_but_not_for_one_that_waits_for_it():
    turns = Turns()
    a, b = SimpleNamespace(state="available"), SimpleNamespace(state="available")
    told, holds_b = [], threading.Event()

    def other():
        with turns.at("b", b) as mine:
            told.append(mine)
            holds_b.set()
            with turns.at("a", a) as after:  # waits until it is loaded
                told.append(after)
            b.state = "loaded"

    with turns.at("a", a) as mine:
        told.append(mine)
        thread = threading.Thread(target=other, daemon=True)
        thread.start()
        assert holds_b.wait(60)
        while thread.ident not in turns._waiting:
            pass
        with turns.at("b", b) as second:  # who loads it waits for this thread
            told.append(second)
        a.state = "loaded"
    thread.join(60)
    assert told == [True, True, False, False]
    assert (a.state, b.state) == ("loaded", "loaded")
    assert (turns._loading, turns._waiting) == ({}, {})
