"""Files that are damaged, or made to do harm: a clear error, no code run, no memory taken."""

import io
import os
import pickle
import random
import struct
import tracemalloc
import zipfile
from collections import Counter, OrderedDict

import pytest

import mindtorch_core as torch

REFUSALS = (RuntimeError, pickle.UnpicklingError, EOFError)


def archive(structure, storages=(), **options):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **options) as made:
        made.writestr("a/data.pkl", structure)
        made.writestr("a/version", "3\n")
        for number, raw in enumerate(storages):
            made.writestr(f"a/data/{number}", raw)
    file.seek(0)
    return file


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


ORDERED = b"ccollections\nOrderedDict\n)R"


def tensor(layout, kind="Float", count=b"K\2", grad=b"\x89"):
    stored = b"(" + text("storage") + f"ctorch\n{kind}Storage\n".encode()
    stored += text("0") + text("cpu") + count + b"tQ"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + stored + layout + grad + ORDERED + b"tR."


EIGHT = [struct.pack("<2f", 1, 2)]
GOOD = b"K\0K\2\x85K\1\x85"  # offset 0, shape (2,), strides (1,)


def test_the_tools_of_these_tests():
    assert torch.load(archive(tensor(GOOD), EIGHT)).tolist() == [1, 2]


# ---- code ---------------------------------------------------------------------------------------


class Harm:
    """Unpickling it would make a folder."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("weights_only", [True, None])
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_that_run_code(tmp_path, protocol, weights_only):
    harm = tmp_path / "harm"
    structure = pickle.dumps({"weights": Harm(harm)}, protocol)
    pickle.loads(structure)
    harm.rmdir()  # so it works where it is let
    with pytest.raises(pickle.UnpicklingError, match="refused to load"):
        torch.load(archive(structure), weights_only=weights_only)
    with pytest.raises(RuntimeError):
        torch.load(io.BytesIO(structure), weights_only=weights_only)
    assert not harm.exists()


STRUCTURES = {
    "getattr": (b"cbuiltins\ngetattr\n(K\1K\2tR.", "asks for builtins.getattr"),
    "stack global": (b"\x80\4\x8c\2os\x8c\6system\x93.", "asks for os.system"),
    "inst": (b"(ios\nsystem\n.", "the opcode b'i'"),
    "newobj": (b"ctorch\nTensor\n)\x81.", "makes an object of .*Tensor"),
    "extension": (b"\x82\1.", "the opcode"),
    "calls a class": (b"ctorch\nTensor\n)R.", "which is no function"),
    "calls a dtype": (b"ctorch\nfloat32\n)R.", "calls a dtype"),
    "state of a dtype": (b"ctorch\nfloat32\n}" + text("x") + b"K\1sb.", "attributes of a dtype"),
    "class of a dict": (ORDERED + b"}" + text("__class__") + b"K\1sb.", "'__class__' cannot be"),
    "method of a dict": (ORDERED + b"}" + text("items") + b"K\1sb.", "'items' cannot be"),
    "reference": (b"K\1Q.", "a reference to something unknown"),
    "no end": (b"]K\1", "damaged at byte"),
    "no mark": (b"K\1K\2t.", "a mark is missing"),
    "no value": (b".", "damaged at byte"),
    "unset memo": (b"h\7.", "damaged at byte"),
    "length": (b"\x8e" + b"\xff" * 7 + b"\x7fabc.", "the data ends early"),
    "allocation": (b"c__builtin__\nbytearray\nJ\xff\xff\xff\x7f\x85R.", "damaged at byte"),
    "beyond": (tensor(b"K\1K\2\x85K\1\x85"), "reaches to byte 12 of a storage of 8"),
    "negative offset": (tensor(b"J\xff\xff\xff\xffK\2\x85K\1\x85"), "no layout of a tensor"),
    "negative stride": (tensor(b"K\1K\2\x85J\xff\xff\xff\xff\x85"), "no layout of a tensor"),
    "huge": (tensor(b"K\0(" + b"\x8a\5\0\0\0\0\1" * 2 + b"t(K\0K\0t"), "is too large"),
    "dimensions": (tensor(b"K\0K\2\x85K\1K\1\x86"), "no layout of a tensor"),
    "dimensions of 0": (tensor(b"K\0K\0\x85)"), "no layout of a tensor"),
    "conjugate": (
        tensor(GOOD)[:-3] + b"}" + text("conj") + b"\x88stR.",
        "a conjugate view of torch.float32, which is not complex",
    ),
    "part of a storage": (tensor(GOOD, count=b"K\2N"), "archives have no views of storages"),
    "undifferentiable": (tensor(GOOD, "Int", grad=b"\x88"), "can require gradients"),
    "count": (
        tensor(GOOD, count=b"\x8a\5\0\0\0\0\x10"),
        "should have 274877906944 bytes, and has 8",
    ),
}


@pytest.mark.parametrize(("structure", "why"), STRUCTURES.values(), ids=STRUCTURES)
def test_structures_that_are_refused(structure, why):
    with pytest.raises((pickle.UnpicklingError, RuntimeError), match=why):
        torch.load(archive(structure, EIGHT))


def layout(shape, strides):
    numbers = [b"".join(pickle.dumps(n, 2)[2:-1] for n in part) for part in (shape, strides)]
    return b"K\0(%st(%st" % tuple(numbers)


@pytest.mark.parametrize("kind", ["Float", "Double", "Bool"])
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_layouts_are_counted_in_bytes(kind, device):
    """What has just too many is refused on all devices, and what has just not loads."""
    most = 2**63 // {"Float": 4, "Double": 8, "Bool": 1}[kind]

    def load(shape, strides):
        count = {"Float": b"K\2", "Double": b"K\1", "Bool": b"K\x08"}[kind]
        file = archive(tensor(layout(shape, strides), kind, count), EIGHT)
        return torch.load(file, map_location=device)

    assert load([most - 1], [0]).shape == (most - 1,)
    assert load([2**20, most // 2**20 - 1], [0, 0]).numel() == most - 2**20
    assert load([0, most - 1], [1, 1]).numel() == 0
    assert load([0], [most - 1]).stride() == (most - 1,)
    refused = [
        ([most], [0]),
        ([2**20, most // 2**20], [0, 0]),
        ([2, most // 2, 0], [0, 0, 0]),
        ([0], [most]),
    ]
    for shape, strides in refused:
        with pytest.raises(pickle.UnpicklingError, match=r"no layout of a tensor|is too large"):
            load(shape, strides)


def squares(depth):
    """A pair of the same pair of ..., whose hash takes 2**depth steps."""
    steps = [
        b"h" + bytes([i]) + b"h" + bytes([i]) + b"\x86q" + bytes([i + 1]) for i in range(depth)
    ]
    return b"K\1q\0" + b"".join(steps)


BOMBS = {
    "hash of a key": squares(60) + b"}h\x3ch\x3cs.",
    "hash of an element": squares(60) + b"c__builtin__\nset\n]h\x3ca\x85R.",
    "bytes": text("a" * 50_000) + b"q\0" + b"c_codecs\nencode\nh\0\x85R" * 50_000 + b".",
    "sets": b"]q\0(" + b"K\1" * 9000 + b"e" + b"c__builtin__\nset\nh\0\x85R" * 50_000 + b".",
}


@pytest.mark.slow
@pytest.mark.parametrize("structure", BOMBS.values(), ids=BOMBS)
def test_small_files_do_not_become_large(structure):
    file = archive(structure)
    tracemalloc.start()
    with pytest.raises(pickle.UnpicklingError, match="refused to load"):
        torch.load(file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * len(structure) + 1_000_000


# ---- containers ---------------------------------------------------------------------------------


def test_compressed_archives():
    bomb = archive(b"N.", [bytes(10_000_000)], compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(RuntimeError, match="claim to be larger than the file"):
        torch.load(bomb)
    with pytest.raises(RuntimeError, match="is compressed"):
        torch.load(archive(b"N.", compression=zipfile.ZIP_DEFLATED))


def other_zip(**entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, raw in entries.items():
            made.writestr(name.replace("__", "/").replace("_pkl", ".pkl"), raw)
    file.seek(0)
    return file


FILES = {
    "empty": (io.BytesIO(), EOFError, "the file is empty"),
    "text": (io.BytesIO(b"hello, this is text"), RuntimeError, "none that torch.save"),
    "legacy": (io.BytesIO(pickle.dumps(1, 2)), RuntimeError, "is a bare pickle"),
    "other": (other_zip(a="x"), RuntimeError, r"no \*/data.pkl"),
    "two": (other_zip(a__data_pkl="N.", b__data_pkl="N."), RuntimeError, r"no \*/data.pkl"),
    "script": (other_zip(a__data_pkl="N.", a__constants_pkl="N."), RuntimeError, "TorchScript"),
    "endian": (other_zip(a__data_pkl="N.", a__byteorder="odd"), RuntimeError, "endianness"),
    "missing": (archive(tensor(GOOD)), RuntimeError, "'data/0' is missing"),
    "short": (archive(tensor(GOOD), [b"1234"]), RuntimeError, "should have 8 bytes, and has 4"),
}


@pytest.mark.parametrize(("file", "kind", "why"), FILES.values(), ids=FILES)
def test_other_files(file, kind, why):
    file.seek(0)
    with pytest.raises(kind, match=why):
        torch.load(file)


def sample():
    noted = torch.ones(2)
    noted.note = 1
    base = torch.arange(24.0).reshape(2, 3, 4)
    file = io.BytesIO()
    obj = {
        "t": [base, base[:, 1:], base.view(torch.int32), torch.empty(2, device="meta"), noted],
        "l": [1, 2.5, "x", b"ab", {1, 2}, 1 + 2j, 2**70, Counter("ab"), OrderedDict(a=1)],
        "d": (torch.float32, torch.Size([1, 2]), torch.device("cpu")),
    }
    torch.save(obj, file)
    return file.getvalue()


def test_truncated_files():
    raw = sample()
    for end in range(0, len(raw) - 1, 7):
        with pytest.raises(REFUSALS):
            torch.load(io.BytesIO(raw[:end]))


def outcome(raw):
    try:
        repr(torch.load(io.BytesIO(raw)))
    except REFUSALS as error:
        return type(error).__name__
    return "loaded"


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_load_or_are_refused(seed):
    rng = random.Random(seed)
    raw = sample()
    found = Counter()
    for _ in range(1000):
        damaged = bytearray(raw)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        found[outcome(bytes(damaged))] += 1
    assert found["RuntimeError"] > 100


@pytest.mark.parametrize("seed", range(4))
def test_damaged_structures_load_or_are_refused(seed):
    rng = random.Random(seed)
    with zipfile.ZipFile(io.BytesIO(sample())) as made:
        parts = {name: made.read(name) for name in made.namelist()}
    structure = parts["archive/data.pkl"]
    found = Counter()
    for _ in range(1500):
        damaged = bytearray(structure)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(damaged))
            how = rng.random()
            if how < 0.5:
                damaged[at] = rng.choice(
                    b"(.01NtuRbcQhjqr}])\x85\x86\x87\x88\x89\x8a\x8bGKMJX\x93\x8f"
                )
            elif how < 0.75:
                del damaged[at : at + rng.randint(1, 9)]
            else:
                start = rng.randrange(len(damaged))
                damaged[at:at] = damaged[start : start + rng.randint(1, 30)]
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as made:
            for name, raw in {**parts, "archive/data.pkl": bytes(damaged)}.items():
                made.writestr(name, raw)
        found[outcome(file.getvalue())] += 1
    assert found["UnpicklingError"] > 500
    assert found["loaded"] > 10


@pytest.mark.parametrize(("bit", "kind"), [("conj", "ComplexFloat"), ("neg", "Float")])
def test_what_pytorch_notes_in_a_tensor_costs_no_more_than_its_storage(bit, kind):
    """Both become marks of a view: a tensor may show its few elements any number of times."""
    number = pickle.dumps(1 << 37, 2)[2:-1]
    layout = b"K\0(" + number + b"t(K\0t"
    noted = b"}" + text(bit) + b"\x88s"
    stored = tensor(layout, kind, count=b"K\1" if bit == "conj" else b"K\2")
    file = archive(stored[:-3] + noted + b"tR.", EIGHT)
    tracemalloc.start()
    try:
        loaded = torch.load(file)
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()
    assert loaded.shape == (1 << 37,)
    assert loaded[5].item() == (1 - 2j if bit == "conj" else -1.0)


def test_conjugates_that_shared_memory_still_do():
    pt = pytest.importorskip("torch")
    base = pt.tensor([1 + 2j, 3 - 4j])
    file = io.BytesIO()
    pt.save([base.conj(), base.conj()[1:], base], file)
    file.seek(0)
    whole, part, plain = torch.load(file)
    whole[1] = 0
    assert part.tolist() == [0]
    assert plain.tolist() == [1 + 2j, 0]
