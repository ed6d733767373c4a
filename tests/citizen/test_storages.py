"""Storages by themselves: bytes, elements, files; as PyTorch has them."""

import copy
import io
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import mindtorch_core as torch

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")


def outcome(call, lib):
    """What a call gives, or raises, as data that compares."""
    try:
        found = call(lib)
    except Exception as error:  # noqa: BLE001 (compared by its type)
        return type(error).__name__
    return described(found)


def described(found):
    kind = type(found).__name__
    if kind in ("Storage", "UntypedStorage", "TypedStorage"):
        values = "meta" if found.device.type == "meta" else found.tolist()
        return repr(found), values, len(found), found.nbytes()
    if isinstance(found, list | tuple):
        return [described(each) for each in found]
    if isinstance(found, type):
        return found.__name__
    return repr(found.tolist()) if kind == "Tensor" else repr(found)


def untyped(lib, values=(1, 2, 3, 250, 5, 6, 7, 8)):
    return lib.UntypedStorage(list(values))


def after(change):
    """The storage, and what the change returns."""

    def call(lib):
        s = untyped(lib)
        return [change(lib, s), s]

    return call


CALLS = {
    "made of bytes": lambda lib: lib.UntypedStorage([1, 300, -1]),
    "made of a tuple": lambda lib: lib.UntypedStorage((1, 2)),
    "made of bytes objects": lambda lib: lib.UntypedStorage(b"abc"),
    "empty": lambda lib: lib.UntypedStorage(),
    "of a size": lambda lib: lib.UntypedStorage(4).size(),
    "on meta": lambda lib: lib.UntypedStorage(4, device="meta"),
    "of a tensor": lambda lib: lib.ones(2).untyped_storage(),
    "of floats": lambda lib: lib.UntypedStorage([1.5]),
    "of a text": lambda lib: lib.UntypedStorage("ab"),
    "of two numbers": lambda lib: lib.UntypedStorage(2, 3),
    "of a dtype": lambda lib: lib.UntypedStorage(2, dtype=lib.float32),
    "negative size": lambda lib: lib.UntypedStorage(-1),
    "index": lambda lib: untyped(lib)[3],
    "negative index": lambda lib: untyped(lib)[-1],
    "index beyond": lambda lib: untyped(lib)[8],
    "index of text": lambda lib: untyped(lib)["a"],
    "slice": lambda lib: untyped(lib)[2:5],
    "open slices": lambda lib: [untyped(lib)[:3], untyped(lib)[-2:], untyped(lib)[5:2]],
    "slice with a step": lambda lib: untyped(lib)[::2],
    "set": after(lambda lib, s: s.__setitem__(1, 300)),
    "set a slice": after(lambda lib, s: s.__setitem__(slice(1, 3), 9)),
    "set beyond": after(lambda lib, s: s.__setitem__(8, 1)),
    "set a float": after(lambda lib, s: s.__setitem__(0, 1.5)),
    "list": lambda lib: [list(untyped(lib)), untyped(lib).tolist()],
    "fill": after(lambda lib, s: s.fill_(300)),
    "fill with a float": after(lambda lib, s: s.fill_(1.5)),
    "copy": after(lambda lib, s: s.copy_(untyped(lib, range(8)))),
    "copy of another size": after(lambda lib, s: s.copy_(untyped(lib, range(7)))),
    "clone": lambda lib: untyped(lib).clone(),
    "byteswap": after(lambda lib, s: s.byteswap(lib.int16)),
    "byteswap of complex": after(lambda lib, s: s.byteswap(lib.complex64)),
    "byteswap of odd bytes": lambda lib: untyped(lib, [1, 2, 3]).byteswap(lib.int16),
    "resize": lambda lib: untyped(lib).resize_(3),
    "facts": lambda lib: [
        getattr(untyped(lib), name)()
        for name in ("size", "nbytes", "element_size", "resizable", "is_shared", "is_pinned", "type")
    ],
    "properties": lambda lib: [
        getattr(untyped(lib), name) for name in ("filename", "is_cuda", "is_sparse", "device")
    ],
    "float": lambda lib: untyped(lib).float(),
    "bool": lambda lib: untyped(lib, [0, 1, 2]).bool(),
    "moves": lambda lib: untyped(lib).to(device="cpu"),
    "from a buffer": lambda lib: lib.UntypedStorage.from_buffer(b"abcd", "native", dtype=lib.int16),
    "from part of a buffer": lambda lib: lib.UntypedStorage.from_buffer(
        b"abcdef", "native", 2, 1, dtype=lib.int16
    ),
    "from all parts of buffers": lambda lib: [
        lib.UntypedStorage.from_buffer(bytes(range(16)), "native", count, offset, dtype=getattr(lib, name)).tolist()
        for name, size in (("uint8", 1), ("int16", 2), ("float32", 4), ("complex64", 8))
        for offset in (0, 1, 8)
        for count in (1, (16 - offset) // size)
    ],
    **{
        f"from {count} elements behind {offset} of 8 bytes": lambda lib, count=count, offset=offset: (
            lib.UntypedStorage.from_buffer(b"abcdefgh", "native", count, offset, dtype=lib.int16)
        )
        for count in (-1, 0, 3, 4, 5) for offset in (-1, 1, 2, 8, 9)
    },
    "from a buffer turned": lambda lib: lib.FloatStorage.from_buffer(b"abcdefgh", "big"),
    "from a buffer too short": lambda lib: lib.FloatStorage.from_buffer(b"abcde", "big"),
    "from a buffer in no order": lambda lib: lib.FloatStorage.from_buffer(b"abcd", "middle"),
    # ---- counted in elements
    "typed": lambda lib: lib.FloatStorage([1, 2, 3]),
    "typed of a size": lambda lib: lib.IntStorage(3).size(),
    "typed and empty": lambda lib: lib.HalfStorage(),
    "typed of a text": lambda lib: lib.FloatStorage("a"),
    "typed with a device": lambda lib: lib.FloatStorage(2, device="cpu"),
    "typed by dtype": lambda lib: lib.TypedStorage([1, 2], dtype=lib.int32),
    "typed by default": lambda lib: lib.TypedStorage([1, 2]),
    "typed by a number of NumPy": lambda lib: lib.FloatStorage(np.int32(2)).size(),
    "typed of two": lambda lib: lib.TypedStorage(1, 2),
    "typed on meta": lambda lib: lib.TypedStorage(4, dtype=lib.int8, device="meta"),
    "wrapped": lambda lib: lib.TypedStorage(wrap_storage=untyped(lib), dtype=lib.int32),
    "wrapped by class": lambda lib: lib.ShortStorage(wrap_storage=untyped(lib)),
    "wrapped without dtype": lambda lib: lib.TypedStorage(wrap_storage=untyped(lib)),
    "wrapped twice": lambda lib: lib.TypedStorage(2, wrap_storage=untyped(lib), dtype=lib.int8),
    "wrapped nothing": lambda lib: lib.TypedStorage(wrap_storage=3, dtype=lib.int8),
    "dtypes": lambda lib: [
        str(getattr(lib, f"{k}Storage").dtype)
        for k in ["Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double", "Bool", "BFloat16", "ComplexFloat"]
    ],
    "element": lambda lib: lib.FloatStorage([1, 2, 3])[-1],
    "element beyond": lambda lib: lib.FloatStorage([1, 2, 3])[3],
    "slice of elements": lambda lib: lib.FloatStorage([1, 2, 3])[0:2],
    "belongs": lambda lib: [
        isinstance(lib.ones(1).storage(), k)
        for k in (lib.FloatStorage, lib.IntStorage, lib.TypedStorage, lib.UntypedStorage)
    ],
    "type": lambda lib: [lib.ones(1).storage().type(), lib.ones(1).storage_type()],
    "converted": lambda lib: [lib.FloatStorage([1.5, 2]).int(), lib.IntStorage([1]).double()],
    "names": lambda lib: lib.LongStorage([1]).pickle_storage_type(),
    "equal": lambda lib: [
        (lambda s: s == s)(lib.FloatStorage([1])), lib.FloatStorage([1]) == lib.FloatStorage([1]),
    ],
    "tensor of it": lambda lib: lib.tensor(lib.FloatStorage([1, 2]).tolist()),
    "asarray": lambda lib: [
        lib.asarray(untyped(lib)), lib.asarray(untyped(lib), dtype=lib.uint8),
        lib.asarray(lib.FloatStorage([1, 2])), lib.tensor(lib.FloatStorage([1, 2])),
        lib.as_tensor(lib.FloatStorage([1, 2])), lib.FloatTensor(lib.FloatStorage([1, 2])),
    ],
    "set_": lambda lib: [
        lib.empty(0, dtype=lib.int16).set_(untyped(lib)),
        lib.empty(0).set_(lib.FloatStorage([1, 2, 3])),
        lib.empty(0).set_(lib.FloatStorage([1, 2, 3]), 1, (2,)),
        lib.empty(0).set_(lib.FloatStorage([1, 2, 3]), 1, (1, 2), (1, 1)),
    ],
    "set_ of another dtype": lambda lib: lib.empty(0).set_(lib.IntStorage([1])),
    "set_ to a number": lambda lib: lib.empty(0).set_(3),
    "filled": lambda lib: lib.FloatStorage([1, 2]).fill_(2.5),
    "copied": lambda lib: lib.FloatStorage([1, 2]).copy_(lib.FloatStorage([3, 4])),
    "copied nothing": lambda lib: lib.FloatStorage([1, 2]).copy_(3),
    "is one": lambda lib: [lib.is_storage(lib.FloatStorage([1])), lib.is_storage(3)],
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_as_pytorch_does(call):
    pt = pytest.importorskip("torch")
    assert outcome(call, torch) == outcome(call, pt)


def test_storages_share_the_memory_of_tensors():
    t = torch.zeros(2)
    s = t.untyped_storage()
    s.fill_(1)
    before = t._version
    s[4:].fill_(0)
    s[0] = 0
    assert t._version > before
    assert t.tolist() == [
        torch.tensor([0, 1, 1, 1], dtype=torch.uint8).view(torch.float32).item(),
        0,
    ]
    typed = t.storage()
    typed[1] = 7.5
    assert t[1].item() == 7.5
    assert typed.data_ptr() == s.data_ptr() == t.data_ptr()
    assert isinstance(s, torch.UntypedStorage)
    assert typed.untyped() is s


def test_typed_storages_warn_once(monkeypatch):
    from mindtorch_core.frontend import typed_storage

    monkeypatch.setattr(typed_storage, "_warned", False)
    with pytest.warns(UserWarning, match="TypedStorage is deprecated") as caught:
        assert torch.ones(1).storage() != torch.ones(1).storage()
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_resizing_moves_what_is_over_it():
    t = torch.arange(4.0)
    view = t[1:]
    s = t.untyped_storage()
    s.resize_(32)
    assert len(s) == 32
    t[2] = 9
    assert view.tolist() == [1, 9, 3]
    assert torch.frombuffer(bytes(s)[:16], dtype=torch.float32).tolist() == [0, 1, 9, 3]
    s.resize_(0)
    assert (len(s), t.shape, view.shape) == (0, (4,), (3,))
    s.resize_(16).copy_(torch.ones(4).untyped_storage())
    assert view.tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError):
        s.resize_(-1)


def test_copies_and_pickles():
    typed = torch.FloatStorage([1, 2])
    for made in (
        copy.copy(typed), copy.deepcopy(typed), typed.clone(), pickle.loads(pickle.dumps(typed)),
    ):  # fmt: skip
        assert made.tolist() == [1, 2]
        assert made.dtype is torch.float32
        assert made.data_ptr() != typed.data_ptr()


def test_typed_storages_in_files():
    file = io.BytesIO()
    t = torch.arange(3.0)
    torch.save([t, t.storage(), torch.IntStorage([4]), t.untyped_storage()], file)
    file.seek(0)
    loaded, typed, other, raw = torch.load(file)
    typed[1] = 7
    assert loaded.tolist() == [0, 7, 2]
    assert (type(typed).__name__, typed.dtype) == ("TypedStorage", torch.float32)
    assert (other.tolist(), other.dtype) == ([4], torch.int32)
    assert raw is typed._untyped_storage
    pt = pytest.importorskip("torch")
    file.seek(0)
    assert pt.load(file)[1].tolist() == [0, 1, 2]
    theirs = io.BytesIO()
    pt.save([pt.FloatStorage([1, 2]), pt.UntypedStorage([1])], theirs)
    theirs.seek(0)
    assert [s.tolist() for s in torch.load(theirs)] == [[1, 2], [1]]
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        torch.save([t, torch.IntStorage(wrap_storage=t.untyped_storage())], file)


# ---- files --------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "data.bin"
    made.write_bytes(bytes(range(16)))
    return str(made)


FILES = {
    "private": lambda lib, p: lib.UntypedStorage.from_file(p, False, 4),
    "shared": lambda lib, p: lib.UntypedStorage.from_file(p, True, 4),
    "longer": lambda lib, p: [lib.UntypedStorage.from_file(p, True, 20), os.path.getsize(p)],
    "new": lambda lib, p: [
        lib.UntypedStorage.from_file(p + "x", True, 4),
        os.path.getsize(p + "x"),
    ],
    "none": lambda lib, p: lib.UntypedStorage.from_file(p + "y", False, 4),
    "too short": lambda lib, p: lib.UntypedStorage.from_file(p, False, 40),
    "nothing": lambda lib, p: lib.UntypedStorage.from_file(p),
    "facts": lambda lib, p: [
        (s.is_shared() or not shared, s.resizable(), s.filename == p)
        for shared in (False, True)
        for s in [lib.UntypedStorage.from_file(p, shared, 4)]
    ],  # PyTorch calls private memory shared too
    "typed": lambda lib, p: lib.IntStorage.from_file(p, False, 3),
    "tensor": lambda lib, p: lib.from_file(p, False, 3),
    "tensor of integers": lambda lib, p: lib.from_file(p, size=2, dtype=lib.int64),
    "empty tensor": lambda lib, p: lib.from_file(p),
    "pinned": lambda lib, p: lib.from_file(p, size=2, pin_memory=True),
    "missing": lambda lib, p: lib.from_file(p + "y", size=2),
}


@pytest.mark.parametrize("call", FILES.values(), ids=FILES)
def test_files_as_in_pytorch(call, path):
    pt = pytest.importorskip("torch")
    ours = outcome(lambda lib: call(lib, path), torch)
    with open(path, "wb") as file:
        file.write(bytes(range(16)))
    if os.path.exists(path + "x"):
        os.unlink(path + "x")
    assert ours == outcome(lambda lib: call(lib, path), pt)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def test_writes_to_files(path):
    private = torch.from_file(path, False, 16, dtype=torch.uint8)
    private.fill_(1)
    assert content(path) == bytes(range(16))
    shared = torch.from_file(path, True, 8, dtype=torch.uint8)
    shared[2] = 77
    assert content(path)[:4] == bytes([0, 1, 77, 3])
    with pytest.raises(RuntimeError, match="not resizable"):
        shared.untyped_storage().resize_(4)
    again = torch.UntypedStorage.from_file(path, True, 8)
    shared[3] = 78
    assert again[3] == 78


def test_safetensors_reads_through_a_mapping(tmp_path):
    """What its loader of tensors does: one storage of the file, parts of it as tensors."""
    numpy_api = pytest.importorskip("safetensors.numpy")
    np = pytest.importorskip("numpy")
    path = tmp_path / "model.safetensors"
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(3, np.int16)}
    numpy_api.save_file(arrays, path)
    storage = torch.UntypedStorage.from_file(str(path), False, os.path.getsize(path))
    length = int.from_bytes(bytes(storage[:8]), "little")
    import json

    header = json.loads(bytes(storage[8 : 8 + length]))
    for name, array in arrays.items():
        start, stop = header[name]["data_offsets"]
        part = storage[8 + length + start : 8 + length + stop]
        d = {"F32": torch.float32, "I16": torch.int16}[header[name]["dtype"]]
        t = torch.asarray(part, dtype=torch.uint8).view(dtype=d).reshape(header[name]["shape"])
        assert t.tolist() == array.tolist()
        assert t.data_ptr() == storage.data_ptr() + 8 + length + start


def test_the_loader_of_safetensors_takes_us_for_pytorch(tmp_path):
    """Its module for PyTorch, in a process where that name is ours."""
    pytest.importorskip("safetensors.numpy")
    pytest.importorskip("mindtorch_nn")
    program = f"""
import sys

import mindtorch_core as torch

sys.modules["torch"] = torch
import safetensors.torch as st

path = {str(tmp_path / "m.safetensors")!r}
model = torch.nn.Linear(2, 3)
st.save_file(model.state_dict(), path)
loaded = st.load_file(path)
assert all(loaded[name].tolist() == t.tolist() for name, t in model.state_dict().items())
assert st.load(st.save(loaded))["bias"].tolist() == model.bias.tolist()
other = torch.nn.Linear(2, 3)
assert st.load_model(other, path) == (set(), [])
assert other.weight.tolist() == model.weight.tolist()
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize("how", ["deepcopy", "clone", "pickle", "cpu"])
def test_a_storage_from_before_a_pipeline_has_what_was_recorded_since(how):
    look = {
        "deepcopy": copy.deepcopy, "clone": lambda s: s.clone(), "cpu": lambda s: s.cpu(),
        "pickle": lambda s: pickle.loads(pickle.dumps(s)),
    }[how]  # fmt: skip
    x = torch.ones(3)
    storage = x.untyped_storage()
    with torch.pipeline():
        x.add_(1)
        seen = look(storage)
    assert list(bytes(seen)) == list(bytes(torch.full((3,), 2.0).untyped_storage()))


def test_storages_of_the_default_dtype():
    pt = pytest.importorskip("torch")
    for lib in (torch, pt):
        assert lib.Storage is lib.FloatStorage
        lib.set_default_dtype(lib.float64)
        try:
            assert lib.Storage is lib.DoubleStorage
        finally:
            lib.set_default_dtype(lib.float32)


@pytest.mark.parametrize("at", [slice(0, 1), "a", 2, -3, None, 1, -2, 1.0], ids=repr)
def test_an_element_of_a_typed_storage(at):
    pt = pytest.importorskip("torch")
    mine, theirs = (
        outcome(lambda lib: lib.tensor([1.0, 2.0]).storage()[at], lib) for lib in (torch, pt)
    )
    assert str(mine).replace("mindtorch_core", "torch")[:40] == str(theirs)[:40]
