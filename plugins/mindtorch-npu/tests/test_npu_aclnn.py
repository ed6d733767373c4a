"""Calls of operators against the simulator: results, life of the parameter objects, errors."""

import ctypes
import gc
import operator

import pytest
from npu_threads import in_threads

import mindtorch_core as torch
from mindtorch_npu import aclnn
from mindtorch_npu.acl import ACLError, acl, check
from mindtorch_npu.acl.enums import Format
from mindtorch_npu.aclnn import Scalar, descriptors
from mindtorch_npu.aclnn.descriptors import tensor
from mindtorch_npu.aclnn.launching import host
from mindtorch_npu.runtime import RUNTIME


def objects(simulator):
    """Live parameter objects and executors; nothing but those."""
    kinds = (
        "tensor",
        "scalar",
        "executor",
        "int array",
        "float array",
        "bool array",
        "tensor list",
        "scalar list",
    )
    return {k: n for k, n in simulator.live().items() if k.replace("-", " ") in kinds}


@pytest.fixture(autouse=True)
def _no_objects_are_left(npu, simulator):
    yield
    simulator.clear_faults()
    gc.collect()
    assert objects(simulator) == {}


def to_npu(values, dtype=None):
    return torch.tensor(values, dtype=dtype).to("npu")


@pytest.fixture
def a():
    return to_npu([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.fixture
def out():
    return torch.empty(2, 3, device="npu")


# ---- results ---------------------------------------------------------------------------------------


def test_call(a, out):
    aclnn.call("Add", a, a, 1, out)
    assert out.tolist() == [[2, 4, 6], [8, 10, 12]]
    aclnn.call("Add", a, other=out, alpha=0.5, out=out)
    assert out.tolist() == [[2, 4, 6], [8, 10, 12]]


def test_strides_and_offsets(a):
    wide = to_npu([[0.0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]])
    target = torch.empty(4, 6, device="npu")
    aclnn.call("InplaceFillScalar", target, 0)
    aclnn.call("Add", wide[1:, 1::2].t(), wide[0:1, 3], 10, target[1:3, 3:5])
    assert target.cpu()[1:3, 3:5].tolist() == [[35, 39], [37, 41]]
    assert target.cpu().sum().item() == 152


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1, 1, 1, 1, 1, 1, 2)])
def test_unusual_shapes(shape):
    x = torch.full(shape, 3.0).to("npu")
    y = torch.empty(shape, device="npu")
    aclnn.call("Muls", x, 2.0, y)
    assert y.cpu().tolist() == torch.full(shape, 6.0).tolist()


def test_data_types_and_arrays(a):
    integers = torch.empty(2, 3, dtype=torch.int64, device="npu")
    aclnn.call("Cast", a, torch.int64, integers)
    assert integers.tolist() == [[1, 2, 3], [4, 5, 6]]
    turned = torch.empty(3, 2, device="npu")
    aclnn.call("Permute", a, (1, 0), turned)
    aclnn.call("Permute", a, [1, 0], turned)
    assert turned.tolist() == [[1, 4], [2, 5], [3, 6]]


def test_tensor_lists(a):
    joined = torch.empty(4, 3, device="npu")
    aclnn.call("Cat", [a, a], 0, joined)
    assert joined.tolist() == 2 * a.tolist()


@pytest.mark.parametrize(
    ("number", "dtype"),
    [
        (2**53 + 1, torch.int64),
        (-(2**63), torch.int64),
        (0.1, torch.float64),
        (True, torch.bool),
        (1.5 - 2j, torch.complex128),
        (Scalar(3, torch.float16), torch.float16),
        (Scalar(2**64 - 1, torch.uint64), torch.uint64),
        (Scalar(0.1, torch.bfloat16), torch.bfloat16),
        (Scalar(-7, torch.int8), torch.int8),
    ],
)
def test_numbers_arrive_whole(number, dtype):
    cell = torch.empty(2, dtype=dtype, device="npu")
    aclnn.call("InplaceFillScalar", cell, number)
    value = number.value if isinstance(number, Scalar) else number
    assert cell.tolist() == torch.tensor([value, value], dtype=dtype).tolist()


class Whole(int):
    """An int of another type, as libraries make them."""


def test_numbers_of_other_types():
    numpy = pytest.importorskip("numpy")
    cell = torch.empty(1, dtype=torch.float64, device="npu")
    for number in (Whole(3), numpy.int64(3), numpy.float64(3.0), numpy.float32(3)):
        if isinstance(number, numpy.float32):
            with pytest.raises(TypeError, match="must be a number or a Scalar, got float32"):
                aclnn.call("InplaceFillScalar", cell, number)
        else:
            aclnn.call("InplaceFillScalar", cell, number)
            assert cell.tolist() == [3.0]


def test_results_of_a_size_that_depends_on_the_data(a):
    places = torch.empty(6, 2, dtype=torch.int64, device="npu")
    aclnn.call("InplaceFillScalar", a[0], 0)
    (shape,) = aclnn.call_sized("Nonzero", a, places)
    assert shape == (3, 2)
    assert places.cpu()[:3].tolist() == [[1, 0], [1, 1], [1, 2]]


def test_tensors_of_another_device_than_the_current_one(npu):
    x = torch.tensor([1.0, 2.0]).to("npu:1")
    y = torch.empty(2, device="npu:1")
    npu.set_device(0)
    aclnn.call("Exp", x, y)
    assert y.cpu().tolist() == pytest.approx([2.7182817, 7.389056])
    assert npu.current_device() == 0


def test_calls_from_several_threads(npu):
    def work(k):
        x = torch.full((4, 4), float(k)).to("npu")
        y = torch.empty(4, 4, device="npu")
        for _ in range(50):
            aclnn.call("Muls", x, 2, y)
            aclnn.call("Add", y, x, 1, y)
        assert y.cpu().tolist() == [[3.0 * k] * 4] * 4

    in_threads(work)


# ---- what a tensor is described as -------------------------------------------------------------------


def described(t):
    """What the library knows of a tensor's descriptor."""
    handle = operator.call(*tensor(t))
    try:
        found = {}
        for name in ("ViewShape", "ViewStrides", "StorageShape"):
            dims, rank = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_uint64()
            check(
                getattr(acl, f"aclGet{name}")(handle, ctypes.byref(dims), ctypes.byref(rank)), name
            )
            found[name] = tuple(dims[: rank.value])
            free = ctypes.CDLL(None).free
            free.argtypes = (ctypes.c_void_p,)
            free(dims)
        offset, form, kind, address = (
            ctypes.c_int64(),
            ctypes.c_int32(),
            ctypes.c_int32(),
            ctypes.c_void_p(),
        )
        check(acl.aclGetViewOffset(handle, ctypes.byref(offset)), "offset")
        check(acl.aclGetFormat(handle, ctypes.byref(form)), "format")
        check(acl.aclGetDataType(handle, ctypes.byref(kind)), "type")
        check(acl.aclGetRawTensorAddr(handle, ctypes.byref(address)), "address")
        return {
            **found,
            "offset": offset.value,
            "format": Format(form.value),
            "type": kind.value,
            "address": address.value,
        }
    finally:
        check(acl.aclDestroyTensor(handle), "aclDestroyTensor")


def test_a_view_is_described_over_its_whole_storage():
    base = torch.empty(4, 6, dtype=torch.float16, device="npu")
    assert described(base[1:, 2::2].t()) == {
        "ViewShape": (2, 3),
        "ViewStrides": (2, 6),
        "StorageShape": (24,),
        "offset": 8,
        "format": Format.ND,
        "type": 1,
        "address": base.data_ptr(),
    }


@pytest.mark.parametrize(
    ("rank", "form"),
    [
        (0, Format.ND),
        (1, Format.ND),
        (2, Format.ND),
        (3, Format.NCL),
        (4, Format.NCHW),
        (5, Format.NCDHW),
        (6, Format.ND),
    ],
)
def test_the_format_tells_what_the_dimensions_are(rank, form):
    assert described(torch.empty((1,) * rank, device="npu"))["format"] is form


# ---- asynchrony --------------------------------------------------------------------------------------


def test_calls_do_not_wait(npu, simulator, a, out):
    simulator.reset()
    with simulator.held("aclnnExp"):
        for _ in range(3):
            aclnn.call("Exp", a, out)
        assert simulator.counters()["synchronizations"] == 0
        assert not npu.current_stream().query()
    npu.synchronize()


@pytest.mark.parametrize(
    ("value", "waits"),
    [
        ("1", True),
        ("true", True),
        ("yes", True),
        ("", False),
        ("0", False),
        ("False", False),
        ("no", False),
    ],
)
def test_blocking_launches(npu, simulator, monkeypatch, a, out, value, waits):
    monkeypatch.setenv("ACL_LAUNCH_BLOCKING", value)
    aclnn.call("Exp", a, out)
    npu.synchronize()
    simulator.reset()
    aclnn.call("Exp", a, out)
    assert simulator.counters()["synchronizations"] == waits
    prepared = aclnn.prepare("Exp", a, out)
    prepared.launch(0, RUNTIME.launch_stream(0))
    assert simulator.counters()["synchronizations"] == 2 * waits


def test_a_kernel_that_fails_is_told_where_launches_block(npu, simulator, monkeypatch, a, out):
    monkeypatch.setenv("ACL_LAUNCH_BLOCKING", "1")
    simulator.inject("kernel:aclnnExp:1=507015")
    with pytest.raises(
        ACLError, match=r"aclrtSynchronizeStream after aclnnExp\(self: float32 \[2, 3\]"
    ) as caught:
        aclnn.call("Exp", a, out)
    assert caught.value.code == 507015
    aclnn.call("Exp", a, out)


# ---- two halves --------------------------------------------------------------------------------------


def test_prepared_operators_are_launched_later(npu, a, out):
    first = aclnn.prepare("Muls", a, 2, out)
    second = aclnn.prepare("Muls", out, 3, out)
    assert first.device_index == 0
    stream = RUNTIME.launch_stream(0)
    size = max(first.workspace_size, second.workspace_size)
    memory = torch.empty(max(1, size), dtype=torch.uint8, device="npu")
    workspace = memory.data_ptr() if size else 0
    first.launch(workspace, stream)
    second.launch(workspace, stream)
    assert out.tolist() == [[6, 12, 18], [24, 30, 36]]


def test_a_prepared_operator_is_launched_once(a, out):
    prepared = aclnn.prepare("Exp", a, out)
    prepared.launch(0, RUNTIME.launch_stream(0))
    with pytest.raises(RuntimeError, match="<aclnnExp, prepared> can be launched once"):
        prepared.launch(0, None)
    prepared.release()
    other = aclnn.prepare("Exp", a, out)
    other.release()
    with pytest.raises(RuntimeError, match="can be launched once, before it is released"):
        other.launch(0, None)


def test_an_abandoned_operator_leaves_nothing(simulator, a, out):
    prepared = aclnn.prepare("Add", a, a, 1, out)
    assert objects(simulator) == {"executor": 1, "scalar": 1, "tensor": 3}
    prepared.release()
    prepared.release()
    assert objects(simulator) == {}
    prepared = aclnn.prepare("Cat", [a, a], 0, torch.empty(4, 3, device="npu"))
    assert objects(simulator)
    del prepared
    gc.collect()
    assert objects(simulator) == {}


# ---- errors ------------------------------------------------------------------------------------------


def test_a_refused_call_names_operator_code_and_arguments(a, out):
    with pytest.raises(ACLError) as caught:
        aclnn.call("Add", a.t(), torch.empty(5, dtype=torch.int32, device="npu"), 2.5, out)
    error = caught.value
    assert (error.code, error.name) == (161002, "ACLNN_ERR_PARAM_INVALID")
    assert error.call == (
        "aclnnAddGetWorkspaceSize(self: float32 [3, 2] strides [1, 3], other: int32 [5], alpha: 2.5, "
        "out: float32 [2, 3])"
    )
    assert "broadcast" in error.message


def test_a_required_argument_that_is_none(a, out):
    with pytest.raises(ACLError, match="other is null") as caught:
        aclnn.call("Add", a, None, 1, out)
    assert caught.value.code == 161001


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("a", 3, 1, "out"), r"aclnnAdd\(.*\): other must be a tensor on an NPU, got int 3"),
        ((None, "a", 1, "out"), r"self must be a tensor on an NPU, got None"),
        (("a", "there", 1, "out"), r"aclnnAdd\(.*\): its tensors are on npu:0 and npu:1$"),
        (("a", "a", 1, "there"), r"aclnnAdd\(.*\): its tensors are on npu:0 and npu:1$"),
        (("there", "a", 1, "there"), r"aclnnAdd\(.*\): its tensors are on npu:1 and npu:0$"),
        (("a", "cpu", 1, "out"), "other must be a tensor on an NPU, got one on cpu"),
        (("cpu", "cpu", 1, "out"), "self must be a tensor on an NPU, got one on cpu"),
        (("a", "a", "one", "out"), "a scalar must be a number or a Scalar, got str 'one'"),
        (("a", "a", 2**63, "out"), "does not fit into the int64 scalar"),
        (("a", "a", 1), r"aclnnAdd\(\) missing 1 required positional argument: 'out'"),
        (("a", "a", 1, "out", 1), r"aclnnAdd\(\) takes 4 positional arguments but 5 were given"),
    ],
)
@pytest.mark.parametrize("how", ["call", "prepare"])
def test_wrong_arguments(a, out, how, arguments, text):
    known = {"a": a, "out": out, "cpu": torch.ones(2, 3)}
    known["there"] = torch.ones(2, 3, device="npu:1")
    given = [known.get(each, each) if isinstance(each, str) else each for each in arguments]
    with pytest.raises(TypeError, match=text):
        getattr(aclnn, how)("Add", *given)


def test_wrong_members_of_lists(a):
    joined = torch.empty(4, 3, device="npu")
    with pytest.raises(TypeError, match=r"aclnnCat\(tensors: \[float32 \[2, 3\], 3\]"):
        aclnn.call("Cat", [a, 3], 0, joined)
    with pytest.raises(TypeError, match=r"aclnnCat\(.*\): its tensors are on npu:0 and npu:1$"):
        aclnn.call("Cat", [a, a.to("npu:1")], 0, joined)
    with pytest.raises(TypeError, match="aclnnPermute"):
        aclnn.call("Permute", a, (1, "x"), joined)
    with pytest.raises(TypeError, match="aclnnCat"):
        aclnn.call("Cat", [a, a], 0.5, joined)


def test_an_operator_that_the_toolkit_lacks(npu, monkeypatch):
    lacking = next(name for name in aclnn.operators() if not aclnn.available(name))
    for _ in range(2):
        with pytest.raises(
            aclnn.UnsupportedOperator,
            match=rf"CANN 8\.1\.RC1 in .* has no operator aclnn{lacking}\b",
        ) as caught:
            aclnn.call(lacking)
        assert caught.value.operator == lacking
    assert aclnn.available("Add")
    with pytest.raises(ValueError, match="no operator 'Addd'"):
        aclnn.call("Addd")


FAULTS = [
    "aclnnAddGetWorkspaceSize:1=561003",
    "aclnnAdd:1=361001",
    "aclCreateTensor:1=561103",
    "aclCreateTensor:2=561103",
    "aclCreateTensor:3=561103",
    "aclCreateScalar:1=561103",
    "aclDestroyTensor:1=561000",
    "aclDestroyTensor:3=561000",
    "aclDestroyScalar:1=561000",
]


@pytest.mark.parametrize("rule", FAULTS)
@pytest.mark.parametrize("how", ["call", "prepare"])
def test_every_failure_is_told_and_nothing_is_left(npu, simulator, a, out, how, rule):
    symbol, _, rest = rule.partition(":")
    code = int(rest.partition("=")[2])
    simulator.inject(rule)

    def run():
        if how == "call":
            aclnn.call("Add", a, a, 1, out)
        else:
            aclnn.prepare("Add", a, a, 1, out).launch(0, RUNTIME.launch_stream(0))

    with pytest.raises(ACLError, match=symbol) as caught:
        run()
    assert caught.value.code == (0 if "Create" in symbol else code)
    simulator.clear_faults()
    gc.collect()
    assert objects(simulator) == {}
    run()
    assert out.tolist() == [[2, 4, 6], [8, 10, 12]]


def test_a_failure_inside_a_list(simulator, a):
    joined = torch.empty(4, 3, device="npu")
    for rule in (
        "aclCreateTensor:2=561103",
        "aclCreateTensorList:1=561103",
        "aclDestroyTensorList:1=561000",
    ):
        simulator.inject(rule)
        with pytest.raises(ACLError, match=rule.partition(":")[0]):
            aclnn.call("Cat", [a, a], 0, joined)
        assert objects(simulator) == {}
        simulator.clear_faults()


def test_no_memory_for_a_workspace(npu, simulator, monkeypatch, a, out):
    call = _with_workspace(a, out)

    def refuse(nbytes, index):
        assert nbytes > 0
        raise torch.OutOfMemoryError("none left")

    monkeypatch.setattr(host, "workspace", refuse)
    with pytest.raises(torch.OutOfMemoryError, match="none left"):
        call()
    assert objects(simulator) == {}


def _with_workspace(a, out):
    """A call of an operator that needs a workspace."""
    candidates = {
        "ReduceSum": (a, (0,), False, torch.float32, torch.empty(3, device="npu")),
        "Matmul": (a, a.t(), torch.empty(2, 2, device="npu"), 0),
        "Cat": ([a, a], 0, torch.empty(4, 3, device="npu")),
        "Sort": (a, False, 1, False, out, torch.empty(2, 3, dtype=torch.int64, device="npu")),
        "Add": (a, a, 1, out),
    }
    for name, arguments in candidates.items():
        if aclnn.available(name):
            prepared = aclnn.prepare(name, *arguments)
            size = prepared.workspace_size
            prepared.release()
            if size:
                return lambda: aclnn.call(name, *arguments)
    pytest.fail("no operator of the simulator needs a workspace")
    return None


def test_shapes_that_the_cache_has_no_room_for(monkeypatch, simulator):
    monkeypatch.setattr(descriptors, "_ROOM", 0)
    monkeypatch.setattr(descriptors, "_ADDRESSES", {})
    x = torch.ones(7, 5).to("npu")
    y = torch.empty(5, 7, device="npu")
    aclnn.call("Permute", x, (1, 0), y)
    assert y.cpu().tolist() == [[1.0] * 7] * 5
    assert descriptors._ADDRESSES == {}
