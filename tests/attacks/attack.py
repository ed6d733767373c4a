"""How long attacks go on, the seed that repeats one, and processes of their own."""

import itertools
import os
import random
import subprocess
import sys
import textwrap
import time
from pathlib import Path

SECONDS = os.environ.get("ATTACK_SECONDS")
SEED = os.environ.get("ATTACK_SEED")

HEAD = """
import faulthandler, sys
faulthandler.enable()
sys.path.insert(0, {folder!r})
"""


def first_seed():
    """The one that is asked for; the first where nobody asks, another one each time for long attacks."""
    if SEED is not None:
        return int(SEED)
    return 0 if SECONDS is None else random.SystemRandom().randrange(10**6) * 1000


def seeds(usual):
    """The first seeds as a rule; others, as long as ATTACK_SECONDS says, where it is set.

    With ATTACK_SEED it is that one only.

    Args:
        usual: how many, if nobody asks for more.
    """
    first, most = first_seed(), 1 if SEED is not None else usual
    end, begun = time.monotonic() + float(SECONDS or 0), 0
    for begun in itertools.count():
        if time.monotonic() > end if SECONDS is not None else begun >= most:
            break
        yield first + begun
    if SECONDS is not None:
        print(f"\n{begun} attacks from seed {first} on")


def told(seed, what):
    """A failure with the seed that repeats it."""
    return f"{what}\n(ATTACK_SEED={seed} repeats it)"


def alone(script, *arguments, limit=600.0):
    """Run a script in an interpreter of its own; it is told to say nothing.

    Args:
        script: what to run; modules of this folder can be imported.
        arguments: of its command line.
        limit: seconds after which it says where its threads hang, and ends; more where attacks last. Many, as
            what has to be done before the first attack takes minutes where the machine is at work.

    Raises:
        AssertionError: with what it said, if it failed, died or hung.
    """
    limit += 2 * float(SECONDS or 0)
    folder = str(Path(__file__).parent)
    code = HEAD.format(folder=folder) + f"faulthandler.dump_traceback_later({limit}, exit=True)\n"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code + textwrap.dedent(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=limit + 60,
        check=False,
    )
    said = (done.stdout + done.stderr)[-6000:]
    assert done.returncode == 0, f"it ended with {done.returncode}\n{said}"
    if SECONDS is not None:
        print(done.stdout)
    return done.stdout
