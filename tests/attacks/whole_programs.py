"""Whole programs as lines of Python: what their names mean, how they run, and how they get shorter.

A line that raises is noted, and the next one follows; so every part of a program is a program.
"""

import contextlib
import functools
import inspect
import re
import warnings

import numpy as np

# ---- what programs call besides the library -----------------------------------------------------


class Helpers:
    """The functions that a program finds beside ``torch``.

    Args:
        lib: the library.
        deferred: whether pipelines are opened; PyTorch has none.
        devices: what ``D1`` and ``D2`` are.
    """

    def __init__(self, lib, *, deferred, devices):
        self.lib = lib
        self.deferred = deferred
        self.devices = devices
        self.blocks = []
        self.notes = []
        self.leaves = []

    def names(self):
        own = {n: getattr(self, n) for n in HELPERS}
        places = dict(zip(("D1", "D2"), self.devices, strict=True))
        return {"torch": self.lib, "F": self.lib.nn.functional, **own, **places}

    def given(self, seed, shape, dtype):
        """Small whole numbers."""
        values = np.random.default_rng(seed).integers(-3, 4, shape)
        return self.lib.tensor(values.tolist(), dtype=dtype)

    def leaf(self, seed, shape, dtype):
        """Every other one is a parameter: a tensor of another class, of which ops make plain ones."""
        made = self.given(seed, shape, dtype).requires_grad_()
        if seed % 2:
            made = self.lib.nn.Parameter(made)
        self.leaves.append(made)
        return made

    def note(self, value):
        self.notes.append(plain(value))

    def enter(self, block):
        block.__enter__()
        self.blocks.append(block)

    def leave(self, error=None):
        if self.blocks:
            kind = (type(error), error, None) if error else (None, None, None)
            self.blocks.pop().__exit__(*kind)

    def pipeline(self, **options):
        return self.lib.pipeline(**options) if self.deferred else contextlib.nullcontext()

    def flush(self):
        pipe = self.lib.dispatch.current_pipeline() if self.deferred else None
        if pipe is not None:
            pipe.flush()

    def backward(self, t, **options):
        """One of no gradients at all where it fails: how far it came is nobody's business."""
        try:
            t.backward(**options)
        except Exception:
            for leaf in self.leaves:
                leaf.grad = None
            raise

    def update(self):
        with self.lib.no_grad():
            for leaf in self.leaves:
                if leaf.grad is not None:
                    leaf.sub_(leaf.grad.clamp(-1, 1))
                    leaf.grad = None

    def saving(self):
        hooks = self.lib.autograd.graph.saved_tensors_hooks
        return hooks(lambda t: (t * 1).to(t.dtype).detach(), lambda t: t.clone())

    def checkpoint(self, fn, *args):
        from_lib = self.lib.utils.checkpoint
        return from_lib.checkpoint(fn, *args, use_reentrant=False)

    def squared(self, t):
        """By an `autograd.Function`."""

        class Squared(self.lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, g):
                return g * ctx.saved_tensors[0] * 2

        return Squared.apply(t)


HELPERS = [n for n, _ in inspect.getmembers(Helpers, inspect.isfunction) if n not in
           ("__init__", "names")]  # fmt: skip


LATE = "later, in a pipeline, a "
REFUSED = "refused"
# What PyTorch refuses because of how it keeps histories, even where a tensor is only looked at.
NEEDLESS = ("returns multiple views", "another view of its base has been modified inplace")

# ---- what a run leaves --------------------------------------------------------------------------


def plain(value):
    """A value without a library: tensors by their dtype, shape, state and numbers."""
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if not hasattr(value, "detach"):
        return value
    t = value.detach()
    meta = t.device.type == "meta"
    about = (str(t.dtype).rpartition(".")[2], tuple(t.shape), "" if meta else "data",
             value.requires_grad, value.is_leaf)  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return about, None if meta else np.asarray(t.tolist())


class Outcome:
    """What a run left: an error's type or None per line, what all names and notes hold, or do not."""

    def __init__(self, errors, values, lost=frozenset()):
        self.errors = errors
        self.values = values
        self.lost = lost


def run(
    lines, lib, *, deferred=False, devices=("cpu", "cpu"), around=contextlib.nullcontext, lost=False
):
    """Run a program.

    Args:
        lines: of it.
        lib: the library.
        deferred: whether its pipelines are ones.
        devices: for ``D1`` and ``D2``.
        around: makes a context for all lines.
        lost: whether what a line that failed has named is left out, and what was made of it
            afterwards if it was to be written: PyTorch may have done so.
    """
    helpers = Helpers(lib, deferred=deferred, devices=devices)
    names = helpers.names()
    known, errors, written = set(names), [], set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with around():
                for line in lines:
                    noted = len(helpers.notes)
                    errors.append(step(line, names))
                    if lib.__name__ == "torch":
                        asked_for_history(names)
                    used = set(re.findall(r"\bv\d+", line))
                    failed = lost and errors[-1] is not None
                    if used & written or (failed and WRITES.search(line)):
                        written |= sharing(used, names)
                        written |= {f"note {i}" for i in range(noted, len(helpers.notes))}
                    if failed:
                        known.update(used)
                while helpers.blocks:
                    errors.append(step("leave()", names))
        except Exception as error:  # noqa: BLE001 (of a pipeline)
            errors.append(kind_of(error))
        values = {n: v for n, v in names.items() if n not in known and not n.startswith("_")}
        left = {n: told(v) for n, v in values.items()}
        left |= {f"{n}.grad": told(v, gradient_of) for n, v in values.items()}
        left |= {f"note {i}": v for i, v in enumerate(helpers.notes)}
    settled(lib, devices)
    return Outcome(errors, left, written | {f"{n}.grad" for n in written})


def settled(lib, devices):
    """Wait for devices: a kernel that failed on an NPU is told of by whatever waits next."""
    if "npu" in devices:
        with contextlib.suppress(RuntimeError):
            lib.npu.synchronize()


WRITES = re.compile(r"\w_\(|out=|\] = |\+= |\.data = |\.set_")


def asked_for_history(names):
    """Ask each tensor for its history.

    Views get theirs anew when they are asked, after their base was written; if they are written before
    that, PyTorch takes them for leaves that require grad, and refuses.
    """
    for value in names.values():
        with contextlib.suppress(RuntimeError):  # of views that must not be written, and were
            getattr(value, "grad_fn", None)


def sharing(used, names):
    """The names whose tensors lie in the same memory as those of some names."""
    places = {n: v.untyped_storage().data_ptr() for n, v in names.items()
              if hasattr(v, "untyped_storage") and not v.is_meta}  # fmt: skip
    written = {places.get(n) for n in used} - {0, None}
    return used | {n for n, place in places.items() if place in written}


def gradient_of(value):
    return value.grad if hasattr(value, "detach") and value.is_leaf else None


def told(value, look=lambda value: value):
    """What a value holds, or the error that says why it holds nothing."""
    try:
        return plain(look(value))
    except Exception as error:  # noqa: BLE001 (the outcome is the exception)
        return kind_of(error)


@functools.lru_cache(4096)
def _code(line):
    """The same code each time: pipelines know a place again."""
    return compile(line, "<program>", "exec")


def step(line, names):
    """The kind of the error that a line raises, or None."""
    try:
        exec(_code(line), names)
    except Exception as error:  # noqa: BLE001 (the outcome is the exception)
        return kind_of(error)
    return None


def kind_of(error):
    """A type that both libraries have; of a pipeline's error the cause's."""
    if type(error).__name__ == "PipelineError":
        return f"{LATE}{kind_of(error.__cause__)}"
    if any(words in str(error) for words in NEEDLESS):
        return REFUSED
    kinds = (k.__name__ for k in type(error).__mro__ if k.__module__ == "builtins")
    return next(k for k in kinds if k != "NotImplementedError")


# ---- comparing ----------------------------------------------------------------------------------


def difference(lines, found, wanted, exact):
    """In what two runs of a program differ, or None.

    Errors that depend on values come later in pipelines: where the other run has the same, there is
    nothing to compare.
    """
    if REFUSED in wanted.errors or REFUSED in wanted.values.values():
        return None
    late = {e for e in (*found.errors, *found.values.values()) if str(e).startswith(LATE)}
    if late and all(e.removeprefix(LATE) in wanted.errors for e in late):
        return None
    closing = ["leave()"] * len(found.errors)
    for line, mine, other in zip([*lines, *closing], found.errors, wanted.errors, strict=False):
        if mine != other:
            return f"{line}\n    raises {mine}, not {other}"
    for name in wanted.values.keys() - found.lost - wanted.lost:
        mine, other = found.values.get(name, "nothing"), wanted.values[name]
        if not alike(mine, other, exact):
            return f"{name} is\n{mine}\nand not\n{other}"
    return None


def alike(mine, other, exact):
    if isinstance(mine, list) and isinstance(other, list):
        return len(mine) == len(other) and all(map(alike, mine, other, [exact] * len(mine)))
    if isinstance(mine, tuple) and isinstance(other, tuple):
        return mine[0] == other[0] and close(mine[1], other[1], exact)
    if isinstance(mine, float | np.generic) and isinstance(
        other, float | np.generic
    ):  # also bfloat16
        return close(np.asarray(mine), np.asarray(other), exact)
    return type(mine) is type(other) and mine == other


def close(mine, other, exact):
    if mine is None or other is None or exact:
        return mine is other or np.array_equal(mine, other, equal_nan=mine.dtype.kind in "fcV")
    return np.allclose(mine, other, rtol=1e-4, atol=1e-5, equal_nan=True)


# ---- shorter ------------------------------------------------------------------------------------


def shrunk(lines, fails):
    """A part of a program that fails as well, and none of whose lines can go."""
    size = len(lines) // 2
    while size:
        at = 0
        while at < len(lines):
            fewer = lines[:at] + lines[at + size :]
            if fails(fewer):
                lines = fewer
            else:
                at += size
        size = min(size // 2, len(lines) // 2) if size > 1 else 0
    return lines


def source(lines):
    """A program as text that can be run, in which the helpers are those of this module."""
    head = [
        "import mindtorch_core as torch",
        "from whole_programs import Helpers",
        'globals().update(Helpers(torch, deferred=True, devices=("cpu", "cpu")).names())',
    ]
    return "\n".join(["", *head, *lines, ""])
