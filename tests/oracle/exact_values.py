"""Values of functions to 50 digits by mpmath, and how far results are from them in units of the last place."""

import math
import zlib

import pytest

np = pytest.importorskip("numpy")
mp = pytest.importorskip("mpmath")
oracle = pytest.importorskip("torch")

import mindtorch_core as torch  # noqa: E402

ENOUGH = 10  # units in the last place that a function of float64 may be off

# ---- where functions are looked at --------------------------------------------------------------


class Places:
    """Draws arguments, always the same ones for a function."""

    def __init__(self, name, count):
        self.random = np.random.default_rng(zlib.crc32(name.encode()))
        self.count = count

    def spread(self, low, high):
        """Positive numbers, as many of each order of magnitude."""
        return list(10 ** self.random.uniform(math.log10(low), math.log10(high), self.count))

    def even(self, low, high):
        return list(self.random.uniform(low, high, self.count))

    def around(self, *points):
        """Numbers that come ever closer to points."""
        steps = [1.37 * 10 ** (-1.3 * k) for k in range(1, 11)]
        return [p + sign * abs(p or 1) * step for p in points for sign in (1, -1) for step in steps]

    def signed(self, numbers):
        return numbers + [-x for x in numbers]


def real(p, largest=1e3):
    """Ranges of any real number."""
    return {
        "subnormal": p.signed([5e-324, 1e-310]),
        "tiny": p.signed(p.spread(1e-300, 1e-3)),
        "small": p.signed(p.spread(1e-3, 1)),
        "middle": p.even(-10, 10),
        "large": p.signed(p.spread(10, largest)) if largest > 10 else [],
    }


def huge(p):
    return {"huge": p.signed(p.spread(1e3, 1e300))}


def positive(p):
    return {
        "subnormal": [5e-324, 1e-310],
        "tiny": p.spread(1e-300, 1e-3),
        "middle": p.spread(1e-3, 1e3),
        "huge": p.spread(1e3, 1e300),
        "near 1": p.around(1),
    }


def inside(p):
    """Ranges of numbers between -1 and 1."""
    return {
        "tiny": p.signed(p.spread(1e-300, 1e-3)),
        "middle": p.even(-1, 1),
        "ends": p.signed([1 - x for x in p.spread(1e-16, 0.1)]),
    }


def within(ranges, low, high=math.inf):
    return {name: [x for x in xs if low < x < high] for name, xs in ranges.items()}


def angles(p):
    zeros = [k * math.pi / 2 for k in (1, 2, 3, 10, 355)]
    return real(p) | {"far": p.signed(p.spread(1e3, 1e22)), "near zeros": p.around(*zeros)}


def oscillating(p, zeros):
    return {
        "tiny": p.spread(1e-300, 1e-3),
        "middle": p.spread(1e-3, 1e3),
        "far": p.spread(1e3, 1e6),
        "near zeros": p.around(*zeros),
    }


LGAMMA_ROOTS = (
    -2.4570247382208006, -2.7476826467274127, -3.14358088834998, -3.955294284858598,
    -4.039361839740537, -4.991544640560048, -5.0082181683225935,
)  # fmt: skip
DIGAMMA_ROOTS = (1.4616321449683623, -0.5040830082644554, -1.5734984731623904, -2.610720868444144)


def lgamma_ranges(p):
    return real(p) | huge(p) | {
        "near 1 and 2": p.around(1, 2),
        "near roots": p.around(*LGAMMA_ROOTS),
        "near poles": p.around(-1, -2, -3, -10),
    }  # fmt: skip


def digamma_ranges(p):
    return real(p) | {"huge": p.spread(1e3, 1e300), "near roots": p.around(*DIGAMMA_ROOTS)}


# ---- functions ----------------------------------------------------------------------------------


def lgamma(x):
    if x > 0:
        return mp.loggamma(x)
    if x == mp.floor(x):
        return mp.inf
    return mp.log(mp.pi) - mp.log(abs(x * mp.sin(mp.pi * x))) - mp.loggamma(-x)


def normal(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


# By name: the exact function, and what gives its ranges.
FUNCTIONS = {
    "sin": (mp.sin, angles),
    "cos": (mp.cos, angles),
    "tan": (mp.tan, angles),
    "asin": (mp.asin, inside),
    "acos": (mp.acos, inside),
    "atan": (mp.atan, lambda p: real(p) | huge(p)),
    "exp": (mp.exp, lambda p: within(real(p, 745), -745, 709)),
    "expm1": (mp.expm1, lambda p: within(real(p, 745), -745, 709)),
    "exp2": (lambda x: mp.mpf(2) ** x, lambda p: real(p, 1020)),
    "log": (mp.log, positive),
    "log2": (lambda x: mp.log(x) / mp.log(2), positive),
    "log10": (lambda x: mp.log(x) / mp.log(10), positive),
    "log1p": (mp.log1p, lambda p: within(real(p) | huge(p), -1)),
    "sqrt": (mp.sqrt, positive),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), positive),
    "sinh": (mp.sinh, lambda p: real(p, 700)),
    "cosh": (mp.cosh, lambda p: real(p, 700)),
    "tanh": (mp.tanh, real),
    "asinh": (mp.asinh, lambda p: real(p) | huge(p)),
    "acosh": (mp.acosh, lambda p: within(positive(p), 1)),
    "atanh": (mp.atanh, inside),
    "sigmoid": (lambda x: 1 / (1 + mp.exp(-x)), lambda p: within(real(p, 745), -708)),
    "logit": (lambda x: mp.log(x / (1 - x)), lambda p: within(inside(p), 0)),
    "sinc": (lambda x: mp.sin(mp.pi * x) / (mp.pi * x), real),
    "erf": (mp.erf, lambda p: real(p, 10)),
    "erfc": (mp.erfc, lambda p: real(p, 10) | {"tail": p.even(5, 27)}),
    "erfinv": (mp.erfinv, lambda p: within(inside(p), -1, 1)),
    "lgamma": (lgamma, lgamma_ranges),
    "digamma": (mp.digamma, digamma_ranges),
    "special.i0": (lambda x: mp.besseli(0, x), lambda p: real(p, 700)),
    "special.i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), lambda p: real(p, 1e4)),
    "special.i1": (lambda x: mp.besseli(1, x), lambda p: real(p, 700)),
    "special.i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), lambda p: real(p, 1e4)),
    "special.modified_bessel_i0": (lambda x: mp.besseli(0, x), lambda p: real(p, 700)),
    "special.modified_bessel_i1": (lambda x: mp.besseli(1, x), lambda p: real(p, 700)),
    "special.modified_bessel_k0": (lambda x: mp.besselk(0, x), lambda p: within(positive(p), 1e-307, 700)),
    "special.modified_bessel_k1": (lambda x: mp.besselk(1, x), lambda p: within(positive(p), 1e-307, 700)),
    "special.scaled_modified_bessel_k0": (lambda x: mp.besselk(0, x) * mp.exp(x), lambda p: within(positive(p), 1e-307, 1e9)),
    "special.scaled_modified_bessel_k1": (lambda x: mp.besselk(1, x) * mp.exp(x), lambda p: within(positive(p), 1e-307, 1e9)),
    "special.bessel_j0": (lambda x: mp.besselj(0, x), lambda p: oscillating(p, (2.404825557695773, 5.520078110286311))),
    "special.bessel_j1": (lambda x: mp.besselj(1, x), lambda p: oscillating(p, (3.8317059702075125, 7.015586669815619))),
    "special.bessel_y0": (lambda x: mp.bessely(0, x), lambda p: oscillating(p, (0.8935769662791675, 3.957678419314858))),
    "special.bessel_y1": (lambda x: mp.bessely(1, x), lambda p: oscillating(p, (2.197141326031017, 5.429681040794135))),
    "special.spherical_bessel_j0": (lambda x: mp.sin(x) / x, angles),
    "special.airy_ai": (mp.airyai, lambda p: real(p, 100) | {"near zeros": p.around(-2.338107410459767, -4.08794944413097)}),
    "special.entr": (lambda x: -x * mp.log(x), lambda p: within(positive(p), 0, 1e290)),
    "special.erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), lambda p: within(real(p), -26)),
    "special.ndtr": (normal, lambda p: within(real(p, 37) | {"tail": p.even(-37, -5)}, -37)),
    "special.log_ndtr": (lambda x: mp.log(normal(x)) if x < 0 else mp.log1p(-normal(-x)), lambda p: within(real(p, 1e3) | {"tail": p.even(5, 37)}, -1e4, 37)),
    "special.ndtri": (lambda x: mp.sqrt(2) * mp.erfinv(2 * x - 1), lambda p: within(inside(p), 1e-40)),
    "nn.functional.gelu": (lambda x: x * normal(x), lambda p: within(real(p), -37)),
    "nn.functional.silu": (lambda x: x / (1 + mp.exp(-x)), lambda p: within(real(p), -700)),
    "nn.functional.softplus": (lambda x: mp.log1p(mp.exp(x)), lambda p: within(real(p), -700, 20)),
    "nn.functional.mish": (lambda x: x * mp.tanh(mp.log1p(mp.exp(x))), lambda p: within(real(p), -700)),
    "nn.functional.logsigmoid": (lambda x: -mp.log1p(mp.exp(-x)), lambda p: within(real(p), -700, 700)),
    "nn.functional.elu": (lambda x: x if x > 0 else mp.expm1(x), real),
}  # fmt: skip


def found(lib, name, numbers):
    """What a library makes of float64 numbers."""
    call = lib
    for part in name.split("."):
        call = getattr(call, part)
    return call(lib.tensor(numbers, dtype=lib.float64)).tolist()


def distance(value, exact):
    """How many units in the last place a value is off: of the float64 next to the exact one."""
    nearest = float(exact)
    if math.isinf(nearest):
        return 0.0 if value == nearest else math.inf
    if not math.isfinite(value):
        return math.inf
    return float(abs(mp.mpf(value) - exact) / math.ulp(nearest))


def exact(reference, x):
    """A function's value to 50 digits: more are computed with where the argument is large."""
    with mp.workdps(100 + max(int(math.log10(abs(x))), 0)):
        return +mp.re(mp.mpf(reference(mp.mpf(x))))


def errors(name, count):
    """The largest errors of a function in each of its ranges: ours and PyTorch's, with the places."""
    reference, ranges = FUNCTIONS[name]
    out = {}
    for where, drawn in ranges(Places(name, count)).items():
        numbers = [float(x) for x in drawn if x]
        if not numbers:
            continue
        wanted = [exact(reference, x) for x in numbers]
        pair = []
        for lib in (torch, oracle):
            off = [distance(v, w) for v, w in zip(found(lib, name, numbers), wanted, strict=True)]
            worst = max(range(len(off)), key=off.__getitem__)
            pair.append((off[worst], numbers[worst]))
        out[where] = pair
    return out
