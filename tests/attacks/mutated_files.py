"""Files that were right once, and programs for the machine that reads pickles.

Run as a script it loads mutants and looks at what comes of each. Arguments: a first seed, seconds, and
a file with originals in the layout of `write_originals`.
"""

import contextlib
import io
import math
import os
import pickle
import pickletools
import random
import resource
import struct
import sys
import time
import tracemalloc
import zipfile
from functools import partial
from pathlib import Path

import mindtorch_core as torch
from mindtorch_core.serialization import safetensors

REFUSALS = (RuntimeError, pickle.UnpicklingError, EOFError)
NUMBERS = [0, 1, 2, 7, 127, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**61, 2**62,
           2**63 - 1, 2**63, 2**64 - 1]  # fmt: skip
TEXTS = [b"torch", b"os", b"system", b"builtins", b"eval", b"getattr", b"FloatStorage", b"storage",
         b"cpu", b"_rebuild_tensor_v2", b"torch._utils", b"collections", b"OrderedDict", b"__class__",
         b"npu:99", b"data/0", b"0", b"1", b"F64", b"BOOL", b"__metadata__", b"data_offsets",
         b'"shape":[', b"[[[[", b"999999999999", b"-1", b"1e999", b"null", b"\xff\xfe"]  # fmt: skip
HARMFUL = ("os.", "subprocess.", "exec", "compile", "import", "pickle.find_class", "shutil.", "socket.",
           "ctypes.", "marshal.", "code.__new__", "open")  # fmt: skip


# ---- originals ----------------------------------------------------------------------------------


def contents():
    base = torch.arange(12.0).reshape(3, 4)
    return {
        "w": base,
        "view": base.t()[1:],
        "leaf": torch.ones(2, requires_grad=True),
        "many": [torch.ones(1, dtype=d) for d in (torch.int8, torch.bool, torch.bfloat16)],
        "untyped": torch.arange(4, dtype=torch.uint16)[1:],
        "meta": torch.empty(2, 3, device="meta"),
        "nothing": torch.empty(0, 3),
        "conj": torch.ones(2, dtype=torch.complex64).conj(),
        "text": ("words", 3, 2.5, None, True, {1, 2}, torch.float32, torch.device("cpu")),
    }


def originals(*others):
    """Right files of every format.

    Args:
        others: files that were written elsewhere.
    """
    file = io.BytesIO()
    torch.save(contents(), file)
    tensors = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.ones(3, dtype=torch.int64)}
    return [file.getvalue(), safetensors.save(tensors, {"made": "here"}), *others]


# ---- mutants ------------------------------------------------------------------------------------


def mutated(data, chance):
    """A file with a few changes."""
    if data[:2] == b"PK" and chance.random() < 0.7:
        return mutated_archive(data, chance)
    for _ in range(chance.choice([1, 1, 2, 5])):
        data = changed(data, chance)
    return data


def mutated_archive(data, chance):
    """An archive whose checks are right again, around changed entries."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as new:
        entries = [(e.filename, old.read(e)) for e in old.infolist()]
        at = chance.randrange(len(entries)) if chance.random() < 0.4 else 0
        name, content = entries[at]
        kind = chance.random()
        if kind < 0.3 and name.endswith("data.pkl"):
            content = program(chance)
        elif kind < 0.6 and name.endswith("data.pkl"):
            content = with_other_parts(content, chance)
        else:
            for _ in range(chance.choice([1, 1, 3])):
                content = changed(content, chance)
        entries[at] = name, content
        if chance.random() < 0.1:
            del entries[chance.randrange(len(entries))]
        for name, content in entries:
            new.writestr(name, content)
    return made.getvalue()


def with_other_parts(structure, chance):
    """A pickle in which a few numbers are others, twice there or gone, or a type of storage another."""
    for _ in range(chance.choice([1, 1, 2, 3])):
        opcodes = [(code.name, arg, at) for code, arg, at in pickletools.genops(structure)]
        ends = [at for *_, at in opcodes[1:]]
        parts = [
            (arg, at, end)
            for (name, arg, at), end in zip(opcodes, ends, strict=False)
            if name in ("BININT", "BININT1", "BININT2", "LONG1")
            or (name == "GLOBAL" and arg.endswith("Storage"))
        ]
        if not parts:
            break
        part, at, end = chance.choice(parts)
        if isinstance(part, str):
            made = b"ctorch\n" + chance.choice(STORAGES) + b"Storage\n"
        elif chance.random() < 0.3:
            made = structure[at:end] * chance.choice([0, 2])
        else:
            near = [part - 1, part + 1, 2 * part, -part]
            made = number(chance.choice([*near, *near, *NUMBERS]))
        structure = structure[:at] + made + structure[end:]
    return structure


def number(value):
    """The opcode that pushes a whole number."""
    return b"\x8a\x09" + value.to_bytes(9, "little", signed=True)


STORAGES = [
    b"Double",
    b"Float",
    b"Long",
    b"Int",
    b"Bool",
    b"BFloat16",
    b"ComplexFloat",
    b"ComplexDouble",
]


def changed(data, chance):
    """One change of bytes."""
    at = chance.randrange(len(data) + 1)
    if at == len(data):
        return data + chance.randbytes(chance.randrange(1, 9))
    kind = chance.randrange(8)
    if kind == 0:
        return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
    if kind == 1:
        return data[:at]
    if kind == 2:
        end = at + chance.randrange(1, 60)
        return data[:at] + data[end:]
    if kind == 3:
        other = chance.randrange(len(data))
        return data[:at] + data[other : other + chance.randrange(1, 80)] + data[at:]
    if kind == 4:
        number = chance.choice(NUMBERS)
        raw = struct.pack("<Q", number)[: chance.choice([1, 2, 4, 8])]
        return data[:at] + raw + data[at + len(raw) :]
    if kind == 5:
        text = chance.choice(TEXTS)
        return data[:at] + text + data[at + chance.choice([0, len(text)]) :]
    if kind == 6:
        return data[:at] + data[at : at + 2] * chance.choice([2, 100, 5000]) + data[at + 2 :]
    code = chance.choice(CODES)
    return data[:at] + code + data[at + 1 :]


CODES = [bytes([b]) for b in b"(.0122FGIJKLMNPQRSTUVX]abcdeghijlopqrstu}\x80\x81\x82\x83\x84\x85\x86"
         b"\x87\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x90\x91\x92\x93\x94\x95\x96\x97\x98"]  # fmt: skip
NAMES = [(b"torch._utils", b"_rebuild_tensor_v2"), (b"torch", b"FloatStorage"), (b"torch", b"Size"),
         (b"collections", b"OrderedDict"), (b"torch", b"device"), (b"os", b"system"), (b"torch", b"load"),
         (b"_codecs", b"encode"), (b"builtins", b"set"), (b"__builtin__", b"bytearray"),
         (b"builtins", b"exec"), (b"torch._utils", b"_rebuild_parameter"), (b"torch", b"Tensor"),
         (b"torch.serialization", b"_get_layout"), (b"torch", b"float32")]  # fmt: skip


def program(chance):
    """Opcodes in a row, with arguments; some are nested deeply."""
    out = [b"\x80\x02"]
    for _ in range(chance.randrange(1, 40)):
        kind = chance.randrange(12)
        if kind == 0:
            out.append(b"c%s\n%s\n" % chance.choice(NAMES))
        elif kind == 1:
            text = chance.choice(TEXTS)
            out.append(b"X" + struct.pack("<I", len(text)) + text)
        elif kind == 2:
            out.append(number(chance.choice(NUMBERS)))
        elif kind == 3:
            out.append(b"K" + bytes([chance.randrange(5)]))
        elif kind == 4:
            out.append(chance.choice([b"(", b"]", b"}", b")", b"q\1", b"h\1", b"N", b"\x88"]))
        elif kind == 5:
            out.append(chance.choice([b"t", b"\x85", b"\x86", b"\x87", b"e", b"u", b"s", b"a"]))
        elif kind == 6:
            out.append(b"R")
        elif kind == 7:
            out.append(b"Q")
        elif kind == 8:
            out.append(chance.choice([b"b", b"0", b"2", b"1"]))
        elif kind == 9:
            out.append(
                b"("
                + b"X\x07\0\0\0storage"
                + b"ctorch\nFloatStorage\n"
                + b"X\x01\0\0\0"
                + b"0"
                + b"X\x03\0\0\0cpu"
                + b"K"
                + bytes([chance.randrange(15)])
                + b"tQ"
            )
        elif kind == 10:
            out.append(chance.choice([b"(", b"]", b"}"]) * chance.choice([2, 3000]))
        else:
            out.append(chance.choice([b"\x85", b"aa", b"K\1\x86"]) * chance.choice([2, 3000]))
    return b"".join([*out, b"."])


# ---- loading them -------------------------------------------------------------------------------

watching = []
seen = []


def watch(event, arguments):
    if watching and event.startswith(HARMFUL):
        seen.append(f"{event} {arguments!r:.200}")


def lies_within(t):
    """Whether a tensor's elements are bytes of its storage."""
    if not t.numel():
        return True
    steps = [(n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True)]
    first = t.storage_offset() + sum(s for s in steps if s < 0)
    last = t.storage_offset() + sum(s for s in steps if s > 0)
    return first >= 0 and (last + 1) * t.dtype.itemsize <= t.untyped_storage().nbytes()


def is_right(t):
    """Whether a tensor's numbers fit together, and into what bytes are counted in."""
    elements = math.prod(n or 1 for n in t.shape)
    layout = (*t.shape, *t.stride(), t.storage_offset(), elements)
    counted = all(0 <= n * t.dtype.itemsize < 2**63 for n in layout)
    return counted and t.dim() == len(t.stride()) and (t.is_complex() or not t.is_conj())


def look(value, depth=0):
    """Look at all tensors of what was loaded."""
    if isinstance(value, torch.Tensor):
        told = value.dtype, value.shape, value.stride(), value.storage_offset()
        assert is_right(value), told
        assert lies_within(value), told
        if value.numel() < 1000 and not value.is_meta:
            value.detach().tolist()
    elif depth < 50 and isinstance(value, dict):
        for v in value.values():
            look(v, depth + 1)
    elif depth < 50 and isinstance(value, list | tuple | set | frozenset):
        for v in value:
            look(v, depth + 1)


def measured(read):
    """What comes of reading a file, its value or None, and how much memory was taken meanwhile."""
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    value, kind = None, "loaded"
    watching.append(True)
    try:
        value = read()
    except (*REFUSALS, TypeError) as error:
        if isinstance(error, RecursionError | torch.OutOfMemoryError | TypeError) and (
            "which have no dtype here" not in str(error)
        ):
            raise
        kind = type(error).__name__
    finally:
        watching.clear()
    return kind, value, tracemalloc.get_traced_memory()[1] - before


def load(data):
    """What comes of a file; anything but tensors and the documented errors is raised.

    Meta storages hold nothing that a view beyond them would be refused for, as NumPy's are: there a
    check that misses something shows.
    """
    read = [lambda: torch.load(io.BytesIO(data))]
    read += [lambda d=d: torch.load(io.BytesIO(data), map_location=d) for d in ("cpu", "meta")]
    if data[:2] != b"PK":
        read += [partial(safetensors.load, data, device=d) for d in ("cpu", "meta")]
    kinds, allowed = [], 200 * len(data) + (1 << 20)
    for each in read:
        kind, value, taken = measured(each)
        if (
            taken > allowed
        ):  # once in a while a table of the interpreter's own grows, as that of names
            kind, value, taken = measured(each)
        assert taken <= allowed, f"{taken} bytes were taken, twice"
        assert not seen, f"it did {seen}"
        look(value)
        kinds.append(kind)
    for on_cpu, on_meta in zip(kinds[1::2], kinds[2::2], strict=True):
        assert on_cpu == on_meta, f"{on_cpu} on the CPU, {on_meta} on meta"
    return kinds


def main(first, seconds, folder):
    others = [p.read_bytes() for p in sorted(Path(folder).glob("*.pt"))]
    files = originals(*others)
    for data in files:
        assert "loaded" in load(data)
    for place in ("npu", "words"):  # what looking for devices brings along is there already
        with contextlib.suppress(RuntimeError):
            torch.device(place)
    sys.addaudithook(watch)
    tracemalloc.start()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (512 << 20),) * 2)
    at = Path(folder) / "seed"
    counts, seed, end = {}, first, time.monotonic() + seconds
    while time.monotonic() < end and (seed == first or "ATTACK_SEED" not in os.environ):
        at.write_text(str(seed))
        chance = random.Random(seed)
        data = mutated(chance.choice(files), chance)
        begun = time.monotonic()
        for kind in load(data):
            counts[kind] = counts.get(kind, 0) + 1
        assert time.monotonic() - begun < 20, "it took too long"
        seed += 1
    assert len(counts) > 2 or seed == first + 1, counts
    print(seed - first, "files:", counts)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3])
