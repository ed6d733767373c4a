"""Files as PyTorch wrote them before version 1.6."""

import io
import pickle
import random
from collections import OrderedDict

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


class Plain:
    def __init__(self, value):
        self.value = value


def saved(obj):
    file = io.BytesIO()
    pt.save(obj, file, _use_new_zipfile_serialization=False)
    file.seek(0)
    return file


def sample():
    base = pt.arange(6.0).reshape(2, 3)
    state = OrderedDict(a=base, part=base[1], turned=base.t(), i=pt.ones(3, dtype=pt.int64))
    state["p"] = pt.nn.Parameter(pt.ones(2, dtype=pt.bfloat16))
    return {"model": state, "step": 3, "e": pt.empty(0), "b": pt.tensor(True), "n": [1.5, "x", {1}]}


@pytest.mark.parametrize("weights_only", [True, False])
def test_what_pytorch_wrote(weights_only):
    loaded = torch.load(saved(sample()), weights_only=weights_only)
    for name, t in sample()["model"].items():
        own = loaded["model"][name]
        assert (own.tolist(), own.stride(), str(own.dtype)) == (
            t.tolist(),
            t.stride(),
            str(t.dtype),
        )
    assert loaded["model"]["p"].requires_grad
    assert (loaded["step"], loaded["n"], loaded["e"].shape) == (3, [1.5, "x", {1}], (0,))
    assert loaded["b"].item() is True
    loaded["model"]["a"][1, 0] = 50
    assert loaded["model"]["part"][0].item() == 50


def test_whole_objects():
    pytest.importorskip("mindtorch_nn")
    module = pt.nn.Linear(2, 1)
    file = saved([module, Plain(pt.ones(2))])
    with pytest.raises(pickle.UnpicklingError):
        torch.load(file)
    file.seek(0)
    loaded, plain = torch.load(file, weights_only=False)
    assert type(loaded) is torch.nn.Linear
    assert loaded.weight.tolist() == module.weight.tolist()
    assert plain.value.tolist() == [1, 1]


def test_places(tmp_path):
    file = saved({"a": pt.arange(3.0)})
    for where in ("cpu", {"cpu": "cpu"}, lambda storage, location: storage):
        file.seek(0)
        assert torch.load(file, where)["a"].tolist() == [0, 1, 2]
    file.seek(0)
    assert torch.load(file, "meta")["a"].device.type == "meta"
    path = tmp_path / "old.pt"
    path.write_bytes(file.getvalue())
    assert torch.load(path)["a"].tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="mmap can only be used"):
        torch.load(path, mmap=True)


def test_truncated_files():
    raw = saved(sample()).getvalue()
    for end in range(20, len(raw) - 1, 11):
        with pytest.raises((RuntimeError, pickle.UnpicklingError)):
            torch.load(io.BytesIO(raw[:end]))


@pytest.mark.parametrize("seed", range(2))
def test_damaged_files_load_or_are_refused(seed):
    rng = random.Random(seed)
    raw = saved(sample()).getvalue()
    refused = 0
    for _ in range(400):
        damaged = bytearray(raw)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        try:
            repr(torch.load(io.BytesIO(bytes(damaged))))
        except (RuntimeError, pickle.UnpicklingError):
            refused += 1
    assert refused > 40


def test_another_version():
    magic, rest = pickle.dumps(0x1950A86A20F9469CFC6C, 2), pickle.dumps(7, 2)
    with pytest.raises(RuntimeError, match="another version"):
        torch.load(io.BytesIO(magic + rest + rest))


@pytest.mark.parametrize("weights_only", [True, False])
def test_pytorch_reads_what_is_written_so(weights_only):
    base = torch.arange(6.0).reshape(2, 3)
    state = OrderedDict(a=base, part=base[1], i=torch.ones(3, dtype=torch.int64), e=torch.empty(0))
    state["v"] = base[0].view(torch.int32)
    state["b"] = torch.nn.Parameter(torch.ones(2, dtype=torch.bfloat16))
    file = io.BytesIO()
    torch.save({"model": state, "step": 3}, file, _use_new_zipfile_serialization=False)
    for library in (pt, torch):
        file.seek(0)
        found = library.load(file, weights_only=weights_only)
        assert (found["step"], list(found["model"])) == (3, list(state))
        for key, expected in state.items():
            assert found["model"][key].dtype == getattr(library, expected.dtype.name)
            assert found["model"][key].tolist() == expected.tolist()
        found["model"]["part"][0] = 9
        assert found["model"]["a"][1, 0] == 9


def test_what_the_format_cannot_say_is_refused():
    for obj in (torch.ones(2).untyped_storage(), torch.ones(2, dtype=torch.uint16)):
        with pytest.raises(RuntimeError, match="without a type"):
            torch.save(obj, io.BytesIO(), _use_new_zipfile_serialization=False)
