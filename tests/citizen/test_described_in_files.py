"""What files describe by calls: tensors of all kinds, in either order of bytes, and descriptions that fit nothing."""

import io
import json
import pickle
import struct
import zipfile

import pytest

import mindtorch_core as torch
from mindtorch_core.serialization import safetensors

REFUSALS = (RuntimeError, pickle.UnpicklingError)
ELEMENTS = struct.pack("<2f", 1, 2)


def code(value):
    """The opcodes of a value, or those that are given as such."""
    return value if isinstance(value, bytes) else pickle.dumps(value, 2)[2:-1]


def name(path):
    return b"c" + path.replace(" ", "\n").encode() + b"\n"


def call(path, *args):
    return name(path) + b"(" + b"".join(map(code, args)) + b"tR"


def parts(*values):
    """A tuple of values and of opcodes."""
    return b"(" + b"".join(map(code, values)) + b"t"


def stored(kind="torch FloatStorage", count=2, *rest):
    return parts("storage", name(kind), "0", "cpu", count, *rest) + b"Q"


def archive(structure, raw=ELEMENTS, **entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("a/data.pkl", b"\x80\2" + structure + b".")
        made.writestr("a/version", "3\n")
        made.writestr("a/data/0", raw)
        for entry, text in entries.items():
            made.writestr(f"a/{entry}", text)
    file.seek(0)
    return file


HOOKS = call("collections OrderedDict")
V1 = call("torch._utils _rebuild_tensor", stored(), 0, (2,), (1,))
V2 = call("torch._utils _rebuild_tensor_v2", stored(), 0, (2,), (1,), False, HOOKS)


def v3(storage):
    return call(
        "torch._utils _rebuild_tensor_v3", storage, 0, (2,), (1,), False, HOOKS, name("torch float32")
    )  # fmt: skip


UNTYPED = stored("torch.storage UntypedStorage", 8)
SWAPPED = struct.pack(">2f", 1, 2)


@pytest.mark.parametrize("structure", [V1, V2, v3(stored()), v3(UNTYPED)])
def test_every_version_of_a_tensor(structure):
    found = torch.load(archive(structure))
    assert (found.tolist(), found.dtype) == ([1, 2], torch.float32)


@pytest.mark.parametrize("structure", [V1, V2, v3(stored())])
def test_elements_in_the_other_order_are_turned_round(structure):
    assert torch.load(archive(structure, SWAPPED, byteorder="big")).tolist() == [1, 2]


def test_elements_without_a_dtype_cannot_be_turned_round():
    with pytest.raises(
        RuntimeError, match="another order of bytes, and has a storage without dtype, w"
    ):
        torch.load(archive(v3(UNTYPED), SWAPPED, byteorder="big"))


def test_a_parameter_with_attributes():
    made = call("torch._utils _rebuild_parameter_with_state", V2, True, HOOKS, {"note": "kept"})
    found = torch.load(archive(made))
    assert (type(found), found.note) == (torch.nn.Parameter, "kept")
    assert (found.requires_grad, found.tolist()) == (True, [1, 2])


@pytest.mark.parametrize("weights_only", [True, False])
def test_a_tensor_without_memory(weights_only):
    made = call(
        "torch._utils _rebuild_meta_tensor_no_storage", name("torch float16"), (2, 3), (3, 1), True
    )  # fmt: skip
    found = torch.load(archive(made), weights_only=weights_only)
    assert (str(found.device), found.shape, found.stride()) == ("meta", (2, 3), (3, 1))
    assert (found.dtype, found.requires_grad) == (torch.float16, True)


@pytest.mark.parametrize("values", [[], [1, 2, 2], [(1, 2), None]])
def test_sets_that_do_not_change(values):
    found = torch.load(archive(call("__builtin__ frozenset", values)))
    assert (type(found), found) == (frozenset, frozenset(values))


def test_a_long_text():
    long = b"\x8d" + struct.pack("<Q", 6) + "häät".encode()
    assert torch.load(archive(parts(long, 1))) == ("häät", 1)


def sparse(layout, *held):
    return call(
        "torch._utils _rebuild_sparse_tensor",
        call("torch.serialization _get_layout", layout),
        parts(*held),
    )


WRAPPER = "torch._utils _rebuild_wrapper_subclass"
FROM_TYPE = "torch._tensor _rebuild_from_type_v2"
WRONG = {
    "a wrapper without a class": (
        call(WRAPPER, 3, name("torch float32"), (2,), (1,), 0, None, "cpu", False),
        "a wrapper of tensors without a class or dtype",
    ),
    "a wrapper without a dtype": (
        call(WRAPPER, name("torch Tensor"), 3, (2,), (1,), 0, None, "cpu", False),
        "a wrapper of tensors without a class or dtype",
    ),
    "attributes of a number": (
        call(FROM_TYPE, name("torch._utils _rebuild_tensor_v2"), 3, (), {}),
        "attributes of something that is no tensor",
    ),
    "attributes by a class": (
        call(FROM_TYPE, name("torch float32"), 3, (), {}), "attributes of something that is no tensor",
    ),
    "a layout of another library": (
        call("torch.serialization _get_layout", "torch.dense"), "there are no tensors of layout torch.d",
    ),
    "positions that are a number": (
        sparse("torch.sparse_coo", 3, V2, (2,)), "indices or values are no tensors",
    ),
    "values that are a list": (
        sparse("torch.sparse_coo", V2, [1], (2,)), "indices or values are no tensors",
    ),
    "rows that are a number": (
        sparse("torch.sparse_csr", V2, 3, V2, (2, 2)), "indices or values are no tensors",
    ),
    "a sparse one in two parts": (
        sparse("torch.sparse_coo", V2, (2,)), "not described by indices, values and a size",
    ),
    "a sparse one in five parts": (
        sparse("torch.sparse_coo", V2, V2, (2,), True, 1), "not described by indices, values and a",
    ),
    "rows in three parts": (
        sparse("torch.sparse_csr", V2, V2, (2, 2)), "not described by indices, values and a size",
    ),
    "a dense one as sparse": (
        sparse("torch.strided", V2, V2, (2,)), "not described by indices, values and a size",
    ),
    "the same data again and again": (
        b"".join((b"(", code("x" * 4000)[:-2] + b"q\x01", *[name("__builtin__ bytearray") + b"h\x01\x85R"] * 9, b"t")),
        "the file copies the same data again and again",
    ),
    "a key of very many parts": (
        b"}" + code(tuple([(tuple(range(200)),) * 8] * 8)) + b"K\1s", "damaged at byte",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("structure", "why"), WRONG.values(), ids=WRONG)
def test_descriptions_of_nothing(structure, why):
    with pytest.raises(REFUSALS, match=why):
        torch.load(archive(structure))


# ---- the format before version 1.6 --------------------------------------------------------------


TWO = struct.pack("<q", 2)


def legacy(structure, system=None, keys=("0",), raw=TWO + ELEMENTS):
    head = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True} if system is None else system]
    body = [pickle.dumps(each, 2) for each in head]
    body += [b"\x80\2" + structure + b".", pickle.dumps([*keys], 2), raw]
    return io.BytesIO(b"".join(body))


def old(view=None):
    return call(
        "torch._utils _rebuild_tensor_v2",
        stored("torch FloatStorage", 2, view),
        0,
        (2,),
        (1,),
        False,
        HOOKS,
    )


OLD = {
    "parts of storages": (legacy(old(("1", 0, 1))), "parts of storages, as PyTorch wrote before version"),
    "big-endian numbers": (legacy(old(), {"little_endian": False}), "on a machine with big-endian numbers"),
    "a system that is none": (legacy(old(), 3), "on a machine with big-endian numbers"),
    "no keys": (legacy(old(), raw=b""), "bytes are missing"),
    "half of a number": (legacy(old(), raw=TWO[:5]), "bytes are missing"),
    "half of the elements": (legacy(old(), raw=TWO + ELEMENTS[:6]), "bytes are missing"),
    "less than nothing": (legacy(old(), raw=struct.pack("<q", -2) + ELEMENTS), "the file is damaged"),
}  # fmt: skip


def test_a_file_before_version_1_6():
    assert torch.load(legacy(old())).tolist() == [1, 2]


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize(("file", "why"), OLD.values(), ids=OLD)
def test_older_files_that_are_refused(file, why, weights_only):
    file.seek(0)
    with pytest.raises(RuntimeError, match=why):
        torch.load(file, weights_only=weights_only)


@pytest.mark.parametrize("weights_only", [True, False])
def test_a_reference_to_nothing_known(weights_only):
    with pytest.raises(pickle.UnpicklingError, match="a reference to something unknown"):
        torch.load(archive(parts("room", 1) + b"Q"), weights_only=weights_only)


# ---- what is saved ------------------------------------------------------------------------------


class Reducing:
    def __init__(self, made=None):
        self.made = made

    def __reduce__(self):
        return self.made(self) if callable(self.made) else self.made


@pytest.mark.parametrize(
    "made", [3, None, (), (list,), (list, (), None, None, None, None, None), [list, ()]]
)
def test_an_object_that_cannot_say_how_it_is_made(made):
    with pytest.raises(
        pickle.PicklingError, match=r"__reduce__ of Reducing must return a string or t"
    ):
        torch.save({"a": Reducing(made)}, io.BytesIO())


def held_by(parts):
    made = Reducing()
    made.parts = parts
    return made


def test_an_object_among_the_arguments_that_make_it():
    one = Reducing(lambda self: (held_by, (self.parts,)))
    one.parts = [7, one]
    file = io.BytesIO()
    torch.save([one, one], file)
    file.seek(0)
    first, second = torch.load(file, weights_only=False)
    as_pickle = pickle.loads(pickle.dumps(one, 2))
    assert first is second
    assert (first.parts[0], type(first.parts[1])) == (7, Reducing)
    assert (first.parts[1] is first) == (as_pickle.parts[1] is as_pickle)


# ---- safetensors --------------------------------------------------------------------------------


def written(header, data=ELEMENTS):
    text = json.dumps(header).encode()
    return io.BytesIO(struct.pack("<Q", len(text)) + text + data)


A = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def test_names_that_the_file_has_not():
    assert [n for n, *_ in safetensors.read_tensors(written({"a": A}), names=["a"])] == ["a"]
    with pytest.raises(RuntimeError, match="it has no tensor 'b'"):
        list(safetensors.read_tensors(written({"a": A}), names=["b"]))


class CutOff(io.BytesIO):
    """A file that says that it is longer than it is."""

    def readinto(self, memory):
        return len(memory) - 1


def test_a_file_that_ends_as_a_tensor_is_read_into():
    target = torch.zeros(2)
    (found,) = safetensors.read_tensors(written({"a": A}), into=lambda _: target)
    assert found[1] is target
    assert target.tolist() == [1, 2]
    with pytest.raises(RuntimeError, match=r"^the file ends within tensor 'a'$"):
        list(safetensors.read_tensors(CutOff(written({"a": A}).getvalue()), into=lambda _: target))


@pytest.mark.parametrize(
    "other", [torch.zeros(2, dtype=torch.int32), torch.zeros(3), torch.zeros(1, 2)]
)
def test_a_tensor_of_another_kind_is_left_alone(other):
    before = other.clone()
    (found,) = safetensors.read_tensors(written({"a": A}), into=lambda _: other)
    assert found[1] is not other
    assert found[1].tolist() == [1, 2]
    assert torch.equal(other, before)


def test_texts_beside_the_tensors():
    assert safetensors.load_metadata(written({"__metadata__": {"by": "me"}, "a": A})) == {
        "by": "me"
    }
    assert safetensors.load_metadata(written({"a": A})) == {}
    for wrong in ({"by": 3}, ["me"], "me"):
        with pytest.raises(RuntimeError, match="its metadata are no texts"):
            safetensors.load_metadata(written({"__metadata__": wrong, "a": A}))
