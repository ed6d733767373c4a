"""Numbers drawn from the Mersenne Twister (Matsumoto and Nishimura, 1998), a state of words at a time.

NumPy draws one word after another, through a pointer to a function. Here the words of a state are made
together, in its memory, so that what draws next goes on where this ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..fused import fused_single
from .code_of_walks import TYPES, Code

__all__ = ["WORDS", "drawn_bits", "drawn_singles", "kept", "singles"]

WORDS = 624
_AHEAD = 397


def _twisted(w: Code, k: str, following: str, ahead: str) -> None:
    """Write a word of the next state."""
    high = w.set(f"and i32 {w.load('i32', '%STATE', k)}, -2147483648")
    low = w.set(f"and i32 {w.load('i32', '%STATE', following)}, 2147483647")
    y = w.set(f"or i32 {high}, {low}")
    odd = w.set(f"sub i32 0, {w.set(f'and i32 {y}, 1')}")
    mixed = w.set(f"xor i32 {w.set(f'lshr i32 {y}, 1')}, {w.set(f'and i32 {odd}, -1727483681')}")
    w.store("i32", w.set(f"xor i32 {w.load('i32', '%STATE', ahead)}, {mixed}"), "%STATE", k)


def _next_state(w: Code) -> None:
    early = WORDS - _AHEAD
    w.loop(str(early), lambda k: _twisted(w, k, w.sum(k, "1"), w.sum(k, str(_AHEAD))))

    def late(i: str) -> None:
        k = w.sum(i, str(early))
        _twisted(w, k, w.sum(k, "1"), i)

    w.loop(str(_AHEAD - 1), late)
    _twisted(w, str(WORDS - 1), "0", str(_AHEAD - 1))


def _tempered(w: Code, x: str) -> str:
    for step in (
        ("lshr", 11, -1),
        ("shl", 7, -1658038656),
        ("shl", 15, -272236544),
        ("lshr", 18, -1),
    ):
        shift, bits, mask = step
        moved = w.set(f"{shift} i32 {x}, {bits}")
        x = w.set(f"xor i32 {x}, {w.set(f'and i32 {moved}, {mask}')}")
    return x


def kept(code: str) -> str:
    """1 where 53 bits, of two words the lower ones, are below a limit, else 0."""
    w, kind = Code(("OUT", "STATE", "count", "limit")), TYPES[code]
    room = w.room("i32", WORDS + 2)
    at = w.variable("i64", _position(w))
    done, left = w.variable("i64", "0"), w.variable("i64", "0")  # elements, and words before a pair
    words = w.times("%count", "2")
    last = w.sum(w.set(f"load i64, ptr {at}"), words, str(WORDS - 1))

    def some(_: str) -> None:
        now, first = (w.set(f"load i64, ptr {v}") for v in (done, left))
        there = w.sum(w.times(now, "2"), first)
        start, count = _words_left(w, at, w.set(f"sub i64 {words}, {there}"))

        def temper(j: str) -> None:
            x = _tempered(w, w.load("i32", "%STATE", w.sum(start, j)))
            w.store("i32", x, room, w.sum(first, j))

        w.loop(count, temper)
        full = w.sum(first, count)
        pairs = w.set(f"lshr i64 {full}, 1")

        def pair(j: str) -> None:
            i = w.times(j, "2")
            high = w.set(f"and i32 {w.load('i32', room, i)}, {(1 << 21) - 1}")
            high = w.set(f"shl i64 {w.set(f'zext i32 {high} to i64')}, 32")
            low = w.set(f"zext i32 {w.load('i32', room, w.sum(i, '1'))} to i64")
            below = w.set(f"icmp slt i64 {w.set(f'or i64 {high}, {low}')}, %limit")
            w.store(
                kind, w.set(f"select i1 {below}, {kind} 1.0, {kind} 0.0"), "%OUT", w.sum(now, j)
            )

        w.loop(pairs, pair)
        odd = w.set(f"and i64 {full}, 1")
        w.store("i32", w.load("i32", room, w.times(pairs, "2")), room, "0")
        w.put(f"store i64 {odd}, ptr {left}")
        w.put(f"store i64 {w.sum(start, count)}, ptr {at}")
        w.put(f"store i64 {w.sum(now, pairs)}, ptr {done}")

    w.loop(w.set(f"udiv i64 {last}, {WORDS}"), some)
    _put_position(w, at)
    return w.text()


def singles(code: str) -> str:
    """Uniform numbers, multiples of 2**-24 from [0, 1), times a number and plus another: rounded once.

    Both are given as the bits of float64.
    """
    w = Code(("OUT", "STATE", "count", "span", "low"))
    at, done = w.variable("i64", _position(w)), w.variable("i64", "0")
    span, low = (w.set(f"bitcast i64 %{name} to double") for name in ("span", "low"))
    last = w.sum(w.set(f"load i64, ptr {at}"), "%count", str(WORDS - 1))

    def some(_: str) -> None:
        now = w.set(f"load i64, ptr {done}")
        start, count = _words_left(w, at, w.set(f"sub i64 %count, {now}"))

        def one(j: str) -> None:
            x = _tempered(w, w.load("i32", "%STATE", w.sum(start, j)))
            bits = w.set(f"and i32 {x}, {(1 << 24) - 1}")
            u = w.set(f"fmul double {w.set(f'sitofp i32 {bits} to double')}, 0x3E70000000000000")
            made = _rounded_sum(w, w.set(f"fmul double {u}, {span}"), low)
            w.store("float", made, "%OUT", w.sum(now, j))

        w.loop(count, one)
        w.put(f"store i64 {w.sum(start, count)}, ptr {at}")
        w.put(f"store i64 {w.sum(now, count)}, ptr {done}")

    w.loop(w.set(f"udiv i64 {last}, {WORDS}"), some)
    _put_position(w, at)
    return w.text()


def _rounded_sum(w: Code, p: str, z: str) -> str:
    """The sum of float64 numbers as float32, rounded once, see `fused.rounded_sum`."""
    s = w.set(f"fadd double {p}, {z}")
    back = w.set(f"fsub double {s}, {p}")
    error = w.set(f"fsub double {p}, {w.set(f'fsub double {s}, {back}')}")
    error = w.set(f"fadd double {error}, {w.set(f'fsub double {z}, {back}')}")
    bits, other = (w.set(f"bitcast double {x} to i64") for x in (s, error))
    middle = w.set(f"icmp eq i64 {w.set(f'and i64 {bits}, {0x1FFFFFFF}')}, {0x10000000}")
    moved = w.set(f"and i1 {middle}, {w.set(f'fcmp une double {error}, 0.0')}")
    away = w.set(f"icmp sge i64 {w.set(f'xor i64 {bits}, {other}')}, 0")
    step = w.set(f"select i1 {away}, i64 1, i64 -1")
    step = w.set(f"select i1 {moved}, i64 {step}, i64 0")
    s = w.set(f"bitcast i64 {w.sum(bits, step)} to double")
    return w.set(f"fptrunc double {s} to float")


def _position(w: Code) -> str:
    """How many words of the state are used."""
    place = w.set(f"getelementptr i32, ptr %STATE, i64 {WORDS}")
    return w.set(f"zext i32 {w.set(f'load i32, ptr {place}, align 1')} to i64")


def _put_position(w: Code, at: str) -> None:
    end = w.set(f"trunc i64 {w.set(f'load i64, ptr {at}')} to i32")
    place = w.set(f"getelementptr i32, ptr %STATE, i64 {WORDS}")
    w.put(f"store i32 {end}, ptr {place}, align 1")


def _words_left(w: Code, at: str, wanted: str) -> tuple[str, str]:
    """Where the words go on and how many are there, of those wanted; of a new state if none is left."""
    any_left = w.set(f"icmp sgt i64 {wanted}, 0")
    ended = w.set(f"icmp eq i64 {w.set(f'load i64, ptr {at}')}, {WORDS}")

    def renew() -> None:
        _next_state(w)
        w.put(f"store i64 0, ptr {at}")

    w.when(w.set(f"and i1 {any_left}, {ended}"), renew)
    start = w.set(f"load i64, ptr {at}")
    rest = w.set(f"sub i64 {WORDS}, {start}")
    fewer = w.set(f"icmp slt i64 {rest}, {wanted}")
    return start, w.set(f"select i1 {fewer}, i64 {rest}, i64 {wanted}")


def drawn_bits(d: Any, random: Any) -> Any:
    """Arguments of `kept` and what it should make: from the middle of a state, across some of them."""
    bits, state = _begun(random)
    out, limit = np.empty(2001, d), 3 << 51
    halves = bits.random_raw(2 * out.size)
    wanted = ((halves[::2] << 32 | halves[1::2]) & (1 << 53) - 1 < limit).astype(d)
    return (out, state, out.size, limit), out, wanted


def drawn_singles(d: Any, random: Any) -> Any:
    """The same of `singles`."""
    bits, state = _begun(random)
    out, span, low = np.empty(2001, d), np.float64(d.type(0.7)), np.float64(d.type(-0.3))
    uniform = ((bits.random_raw(out.size) & 0xFFFFFF) * 2.0**-24).astype(d)
    wanted = fused_single(uniform, d.type(span), d.type(low))
    numbers = [int(x.view(np.int64)) for x in (span, low)]
    return (out, state, out.size, *numbers), out, wanted


def _begun(random: Any) -> tuple[Any, Any]:
    """A generator in the middle of a state, and its state as it lies in memory."""
    bits = np.random.MT19937(int(random.integers(1 << 30)))
    bits.random_raw(1 + 2 * int(random.integers(300)), output=False)
    inner: Any = bits.state["state"]
    return bits, np.append(inner["key"].astype(np.uint32), np.uint32(inner["pos"]))
