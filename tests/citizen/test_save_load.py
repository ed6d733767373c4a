"""torch.save and torch.load: what comes back, from files of ours and of PyTorch's."""

import io
import math
import pickle
import threading
import zipfile
from collections import Counter, OrderedDict

import pytest

import mindtorch_core as torch
from mindtorch_core.values.dtypes import DTYPES

NAMES = list(DTYPES)


def again(obj, **options):
    file = io.BytesIO()
    torch.save(obj, file)
    file.seek(0)
    return torch.load(file, **options)


def facts(obj):
    """What must come back, as plain data that compares."""
    kind = type(obj).__name__
    if kind == "Tensor":
        seen = (tuple(obj.shape), str(obj.dtype), obj.stride(), obj.storage_offset())
        values = None if obj.device.type == "meta" else obj.detach().tolist()
        return (*seen, obj.requires_grad, str(obj.device), values, getattr(obj, "note", None))
    if isinstance(obj, dict):
        items = [(facts(k), facts(v)) for k, v in obj.items()]
        return kind, items, facts(getattr(obj, "_metadata", None))
    if isinstance(obj, list | tuple):
        return kind, [facts(element) for element in obj]
    if isinstance(obj, set | frozenset):
        return kind, sorted(map(repr, obj))
    return kind, repr(obj)


def state_dict(lib):
    made = OrderedDict(weight=lib.ones(2))
    made._metadata = OrderedDict([("", {"version": 1})])
    return made


def with_note(lib):
    t = lib.ones(2)
    t.note = "hello"
    return t


OBJECTS = {
    "dtypes": lambda lib: {n: lib.tensor([0, 1, 1]).to(getattr(lib, n)) for n in NAMES},
    "empty": lambda lib: [lib.ones((0, 3), dtype=getattr(lib, n)) for n in NAMES],
    "0-d": lambda lib: lib.tensor(3.5),
    "views": lambda lib: [
        lib.arange(24.0).reshape(2, 3, 4)[:, 1:, ::2].transpose(0, 1),
        lib.ones(1).expand(100, 100),
        lib.arange(4)[3],
    ],
    "grad": lambda lib: lib.ones(2, requires_grad=True),
    "result": lambda lib: lib.ones(2, requires_grad=True) * 2,
    "attributes": with_note,
    "meta": lambda lib: lib.empty(2, 3, device="meta").t(),
    "nan": lambda lib: [math.inf, -0.0, 1.5, 1e300],
    "numbers": lambda lib: [
        0, 1, 255, 256, -1, 2**31 - 1, -(2**31), 2**31, 2**63, -(2**100), True, None, 1 + 2j,
    ],
    "texts": lambda lib: ["", "ä€\U0001d11e", "a" * 300, b"", bytes(range(256)), bytearray(b"x")],
    "containers": lambda lib: {"a": [(), (1, (2,)), {}, []], "b": {1, "x"}, "c": Counter("aab")},
    "keys": lambda lib: {1: "a", None: "b", 2.5: "c", (1, "x"): "d", b"y": "e", False: "f"},
    "described": lambda lib: [lib.float32, lib.uint16, lib.device("cuda:1"), lib.Size([2, 3]), lib.strided],
    "state dict": state_dict,
}  # fmt: skip


@pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
def test_comes_back_as_it_was(make):
    obj = make(torch)
    expected = facts(obj)
    assert facts(again(obj)) == expected
    assert facts(obj) == expected


@pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
def test_pytorch_reads_our_files(make):
    pt = pytest.importorskip("torch")
    file = io.BytesIO()
    torch.save(make(torch), file)
    file.seek(0)
    theirs = facts(pt.load(file, weights_only=True))
    assert repr(theirs).replace("torch.", "") == repr(facts(make(torch))).replace("torch.", "")


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
def test_pytorchs_files_are_read(make, protocol):
    pt = pytest.importorskip("torch")
    file = io.BytesIO()
    pt.save(make(pt), file, pickle_protocol=protocol)
    file.seek(0)
    ours = facts(torch.load(file))
    assert repr(ours).replace("torch.", "") == repr(facts(make(torch))).replace("torch.", "")


def test_a_training_checkpoint_of_pytorch():
    pt = pytest.importorskip("torch")
    layers = pt.nn.Sequential(pt.nn.Linear(3, 4), pt.nn.BatchNorm1d(4))
    layers.register_parameter("tied", layers[0].weight)
    optimizer = pt.optim.Adam(layers.parameters())
    layers[1](layers[0](pt.randn(5, 3))).sum().backward()
    optimizer.step()
    saved = {"model": layers.state_dict(), "optimizer": optimizer.state_dict(), "step": 1}
    file = io.BytesIO()
    pt.save({**saved, "parameters": list(layers.parameters())}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert list(loaded["model"]) == list(saved["model"])
    for name, theirs in saved["model"].items():
        assert loaded["model"][name].tolist() == theirs.tolist()
    assert loaded["optimizer"]["param_groups"] == saved["optimizer"]["param_groups"]
    state = loaded["optimizer"]["state"][0]
    assert state["exp_avg"].tolist() == saved["optimizer"]["state"][0]["exp_avg"].tolist()
    assert all(p.requires_grad for p in loaded["parameters"])
    loaded["model"]["tied"].fill_(1)
    assert loaded["model"]["0.weight"].tolist() == [[1.0] * 3] * 4


def test_lazy_conjugates_and_negatives_of_pytorch():
    pt = pytest.importorskip("torch")
    conj = pt.tensor([1 + 2j]).conj()
    for theirs in (conj, conj.imag, conj.real):
        file = io.BytesIO()
        pt.save(theirs, file)
        file.seek(0)
        assert torch.load(file).tolist() == theirs.tolist()


def test_own_lazy_conjugates_and_negatives():
    pt = pytest.importorskip("torch")
    conj = torch.tensor([1 + 2j, 3 - 1j]).conj()
    for own in (conj, conj.imag, conj.real, conj.resolve_conj()):
        file = io.BytesIO()
        torch.save(own, file)
        for lib in (pt, torch):
            file.seek(0)
            loaded = lib.load(file)
            assert loaded.tolist() == own.tolist()
            assert (loaded.is_conj(), loaded.is_neg()) == (own.is_conj(), own.is_neg())


def test_shared_memory_and_identity():
    base = torch.arange(12.0).reshape(3, 4)
    shown = [base, base[1:], base.t(), base.view(torch.int32), base.data, base]
    first, part, turned, bits, data, same = again(shown)
    assert first is same
    first.fill_(7)
    assert part.tolist() == [[7.0] * 4] * 2
    assert turned[3, 2].item() == data[0, 0].item() == 7
    assert bits.tolist() == torch.full((3, 4), 7.0).view(torch.int32).tolist()
    file = io.BytesIO()
    torch.save(shown, file)
    names = zipfile.ZipFile(file).namelist()
    assert [n for n in names if "/data/" in n] == ["archive/data/0"]


def test_containers_that_hold_themselves():
    ring = [1]
    ring.append(ring)
    pair = ([],)
    pair[0].append(pair)
    table = {}
    table["me"] = table
    loaded = again([ring, pair, table])
    assert loaded[0][1] is loaded[0]
    assert loaded[1][0][0] is loaded[1]
    assert loaded[2]["me"] is loaded[2]


def test_storages():
    file = io.BytesIO()
    t = torch.tensor([1, 2], dtype=torch.uint8)
    torch.save({"t": t, "s": t.untyped_storage(), "u": t.view(torch.int16)}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded["s"].tolist() == [1, 2]
    assert loaded["s"] is loaded["t"].untyped_storage() is loaded["u"].untyped_storage()


def test_bytes_in_the_file_are_aligned(tmp_path):
    path = tmp_path / "model.pt"
    torch.save([torch.ones(3), torch.ones(5)], path)
    raw = path.read_bytes()
    assert raw.find(b"\0\0\x80?" * 3) % 64 == 0
    assert raw.find(b"\0\0\x80?" * 5) % 64 == 0
    assert zipfile.ZipFile(path).namelist()[0] == "model/data.pkl"
    assert torch.load(path)[1].tolist() == [1] * 5
    assert torch.load(str(path))[0].tolist() == [1] * 3
    pt = pytest.importorskip("torch")
    assert pt.load(path, mmap=True)[1].tolist() == [1] * 5


def test_files_without_seek():
    class Pipe:
        def __init__(self, raw):
            self.raw = raw

        def read(self, size=-1):
            return self.raw

    file = io.BytesIO()
    torch.save(torch.ones(2), file)
    assert torch.load(Pipe(file.getvalue())).tolist() == [1, 1]


def test_recorded_work_is_launched_first():
    with torch.pipeline():
        t = torch.ones(3) * 2
        assert again([t, t[1:]])[1].tolist() == [2, 2]


def test_loading_in_inference_mode():
    with torch.inference_mode():
        assert again(torch.ones(2)).is_inference()
    assert not again(torch.ones(2)).is_inference()


@pytest.mark.parametrize(
    ("obj", "kind", "text"),
    [
        ({"model": [threading.Lock()]}, TypeError, r"cannot save obj\['model'\]\[0\]: .*lock"),
        ([lambda: 1], pickle.PicklingError, r"cannot save obj\[0\]: .*lambda.*does not lead to"),
        ([lambda: 1], AttributeError, "imported by its name"),
        ({"x": (1, torch.Generator())}, TypeError, r"obj\['x'\]\[1\].*generator.get_state"),
        ({"x": (n for n in ())}, TypeError, r"obj\['x'\].*generator"),
    ],
)
def test_what_cannot_be_saved(obj, kind, text, tmp_path):
    path = tmp_path / "kept.pt"
    path.write_bytes(b"before")
    with pytest.raises(kind, match=text):
        torch.save(obj, path)
    assert path.read_bytes() == b"before"


def test_containers_nested_too_deeply():
    obj = []
    for _ in range(100_000):
        obj = [obj]
    with pytest.raises(TypeError, match="nested too deeply"):
        again(obj)


def test_wrong_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "none.pt")
    with pytest.raises(RuntimeError, match=r"Parent directory .*nowhere does not exist"):
        torch.save(1, tmp_path / "nowhere" / "t.pt")
    with pytest.raises(AttributeError, match=r"an object with read\(\), got a int"):
        torch.load(3)
    with pytest.raises(AttributeError, match=r"an object with write\(\), got a NoneType"):
        torch.save(1, None)


# ---- places -------------------------------------------------------------------------------------


def from_cuda():
    """A file whose tensor lay on a device that is not there."""
    file, made = io.BytesIO(), io.BytesIO()
    torch.save([torch.ones(2), torch.ones(2)], file)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            raw = old.read(name)
            new.writestr(name, raw.replace(b"X\3\0\0\0cpu", b"X\6\0\0\0cuda:0"))
    made.seek(0)
    return made


def test_the_device_of_the_file_is_missing():
    with pytest.raises(RuntimeError, match=r"'cuda:0'.*map_location='cpu'"):
        torch.load(from_cuda())
    with pytest.raises(RuntimeError, match="'cuda:0'"):
        torch.load(from_cuda(), {"cuda:1": "cpu"})
    with pytest.raises(RuntimeError, match="'cuda:0'"):
        torch.load(from_cuda(), lambda storage, location: None)


@pytest.mark.parametrize(
    ("where", "device"),
    [
        ("cpu", "cpu"),
        (torch.device("meta"), "meta"),
        ({"cuda:0": "cpu"}, "cpu"),
        ({"cuda:0": torch.device("meta")}, "meta"),
        (lambda storage, location: storage if location == "cuda:0" else None, "cpu"),
    ],
)
def test_map_location(where, device):
    for t in torch.load(from_cuda(), map_location=where):
        assert t.device.type == device
        assert t.shape == (2,)


def test_map_location_that_is_wrong():
    with pytest.raises(TypeError, match="must be a device, a dict or a function"):
        torch.load(from_cuda(), 3)
    with pytest.raises(TypeError, match="must return a storage or None, not a int"):
        torch.load(from_cuda(), lambda storage, location: 3)
    with pytest.raises(ZeroDivisionError):
        torch.load(from_cuda(), lambda storage, location: 1 // 0)


def test_options_of_pytorchs_calls(tmp_path):
    path = tmp_path / "t.pt"
    t = torch.ones(2)
    torch.save(t, path, None, 4)
    for options in ({"mmap": True}, {"encoding": "latin1", "weights_only": False}):
        assert torch.load(path, "cpu", None, **options).tolist() == [1, 1]
    with pytest.raises(TypeError, match=r"argument 'weight_only'\. Did you mean weights_only"):
        torch.load(path, weight_only=False)
    with pytest.warns(UserWarning, match="pickle_load_args only works"):
        assert torch.load(path, encoding="latin1").tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="explicit pickle_module"):
        torch.load(path, pickle_module=pickle, weights_only=True)
    assert torch.load(path, pickle_module=pickle).tolist() == [1, 1]
