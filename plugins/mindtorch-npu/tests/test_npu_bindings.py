"""The functions of CANN's runtime through ctypes, against the simulator."""

import ctypes
import pickle

import pytest
from npu_threads import in_threads

from mindtorch_npu import acl_loader
from mindtorch_npu.acl import (
    NAMES,
    PROTOTYPES,
    ACLError,
    MissingSymbolError,
    acl,
    check,
    code_name,
    raw,
    recent_message,
)
from mindtorch_npu.acl.codes import HINTS
from mindtorch_npu.acl.enums import DataType, Format
from mindtorch_npu.acl.prototypes import Prototype


def test_the_libraries_are_those_of_the_toolkit(simulator):
    libraries = acl_loader.load()
    assert acl_loader.load() is libraries
    assert libraries.toolkit.version == "8.1.RC1"
    report = acl_loader.report()
    loaded = {o.name: o.path for o in report.opened if o.loaded}
    for name in ("libascendcl.so", "libnnopbase.so", "libopapi.so"):
        assert loaded[name] == libraries.toolkit.root / "lib64" / name
    assert report.toolkit == libraries.toolkit
    assert report.warnings == ()


def test_loading_from_many_threads_gives_one_result(simulator):
    found = []
    in_threads(lambda _: found.append(acl_loader.load()), 8)
    assert len({id(each) for each in found}) == 1
    assert len(found) == 8


@pytest.mark.parametrize(
    "name", [n for n in PROTOTYPES if n.startswith(("aclCreate", "aclDestroy", "aclGet"))]
)
def test_functions_of_parameter_objects_are_there(simulator, name):
    assert callable(getattr(acl, name))
    assert getattr(acl, name) is getattr(acl, name)
    assert getattr(acl, name).argtypes == PROTOTYPES[name].argtypes


def test_version_and_names(npu):
    major, minor, patch = (ctypes.c_int32() for _ in range(3))
    check(
        acl.aclrtGetVersion(ctypes.byref(major), ctypes.byref(minor), ctypes.byref(patch)),
        "aclrtGetVersion",
    )
    assert (major.value, minor.value, patch.value) == (1, 13, 0)
    assert acl.aclrtGetSocName().startswith(b"Ascend")
    sizes = {
        t.name: acl.aclDataTypeSize(t) for t in (DataType.BF16, DataType.INT64, DataType.COMPLEX128)
    }
    assert sizes == {"BF16": 2, "INT64": 8, "COMPLEX128": 16}
    assert acl.aclFloat16ToFloat(acl.aclFloatToFloat16(-1.5)) == -1.5


def test_typed_pointers_refuse_other_types(npu):
    with pytest.raises(ctypes.ArgumentError):
        acl.aclrtGetDeviceCount(ctypes.byref(ctypes.c_int64()))
    with pytest.raises(ctypes.ArgumentError):
        acl.aclrtSetDevice("0")


def test_raw_functions_take_addresses(npu):
    dims = (ctypes.c_int64 * 2)(4, 5)
    at = ctypes.addressof(dims)
    handle = raw.aclCreateTensor(at, 2, DataType.FLOAT, None, 0, Format.ND, at, 2, None)
    assert handle
    shape, rank = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_uint64()
    check(acl.aclGetViewShape(handle, ctypes.byref(shape), ctypes.byref(rank)), "aclGetViewShape")
    assert shape[: rank.value] == [4, 5]
    free = ctypes.CDLL(None).free
    free.argtypes = (ctypes.c_void_p,)
    free(shape)
    assert raw.aclDestroyTensor(handle) == 0


def test_names_outside_the_table():
    with pytest.raises(AttributeError, match="'aclrtMallocc' is not in the table"):
        acl.aclrtMallocc
    assert set(dir(acl)) == set(PROTOTYPES)


def test_a_function_that_the_toolkit_lacks_is_an_error_when_it_is_used(simulator, monkeypatch):
    lacking = Prototype("aclrtFromTheFuture", ctypes.c_int32, (), (), quick=False)
    monkeypatch.setitem(PROTOTYPES, lacking.name, lacking)
    assert not hasattr(acl, "aclrtFromTheFuture")
    with pytest.raises(
        MissingSymbolError, match=r"CANN 8\.1\.RC1 in .* has no function aclrtFromTheFuture"
    ) as caught:
        acl.aclrtFromTheFuture()
    assert isinstance(caught.value, RuntimeError)


# ---- errors ----------------------------------------------------------------------------------------


def test_check_says_call_code_name_message_and_cure(npu):
    check(0, "aclrtSetDevice")
    with pytest.raises(ACLError) as caught:
        check(acl.aclrtSetDevice(77), "aclrtSetDevice(77)")
    error = caught.value
    assert (error.code, error.name, error.call) == (
        107001,
        "ACL_ERROR_RT_INVALID_DEVICEID",
        "aclrtSetDevice(77)",
    )
    first, why, fix = str(error).splitlines()
    assert first == "aclrtSetDevice(77) failed with code 107001 (ACL_ERROR_RT_INVALID_DEVICEID)."
    assert why == f"  why: {error.message}"
    assert error.message
    assert "ASCEND_RT_VISIBLE_DEVICES" in fix
    assert recent_message() == ""  # reading cleared it
    npu.set_device(0)


def test_an_error_without_message_or_cure():
    assert str(ACLError("aclX", 123)) == "aclX failed with code 123 (unknown code)."
    assert str(ACLError("aclCreateTensor", 0)) == "aclCreateTensor failed and gave nothing (NULL)."
    assert isinstance(ACLError("aclX", 1), RuntimeError)


def test_errors_survive_pickling():
    error = pickle.loads(pickle.dumps(ACLError("aclrtMalloc", 207001, "no memory")))
    assert (error.call, error.code, error.message) == ("aclrtMalloc", 207001, "no memory")
    lost = pickle.loads(pickle.dumps(acl_loader.ToolkitNotFoundError("none.", "install it")))
    assert str(lost).startswith("none.\n  fix: install it; ")


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (0, "ACL_SUCCESS"),
        (100000, "ACL_ERROR_INVALID_PARAM"),
        (100002, "ACL_ERROR_REPEAT_INITIALIZE"),
        (100010, "ACL_ERROR_INVALID_PROFILING_CONFIG"),
        (100024, "ACL_ERROR_OP_NOT_FOUND"),
        (100027, "ACL_ERROR_FORMAT_NOT_MATCH"),
        (100037, "ACL_ERROR_REPEAT_FINALIZE"),
        (100041, "ACL_ERROR_GROUP_NOT_CREATE"),
        (107002, "ACL_ERROR_RT_CONTEXT_NULL"),
        (107007, "ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL"),
        (107010, "ACL_ERROR_RT_FILE_WRITE"),
        (107019, "ACL_ERROR_RT_WAIT_TIMEOUT"),
        (107023, "ACL_ERROR_RT_STREAM_ABORT"),
        (107034, "ACL_ERROR_RT_TASK_GROUP_INTR"),
        (107037, "ACL_ERROR_RT_MODEL_RUNNING"),
        (148049, "ACL_ERROR_INVALID_OPP_PATH"),
        (200003, "ACL_ERROR_MEMORY_ADDRESS_UNALIGNED"),
        (200006, "ACL_ERROR_FEATURE_UNSUPPORTED"),
        (207001, "ACL_ERROR_RT_MEMORY_ALLOCATION"),
        (207012, "ACL_ERROR_RT_OVER_LIMIT"),
        (207018, "ACL_ERROR_RT_DEVICE_OOM"),
        (300000, "ACL_ERROR_STORAGE_OVER_LIMIT"),
        (500005, "ACL_ERROR_PROFILING_FAILURE"),
        (507004, "ACL_ERROR_RT_STREAM_NOT_COMPLETE"),
        (507010, "ACL_ERROR_RT_LOST_HEARTBEAT"),
        (507015, "ACL_ERROR_RT_AICORE_EXCEPTION"),
        (507018, "ACL_ERROR_RT_AICPU_EXCEPTION"),
        (507033, "ACL_ERROR_RT_DEV_SETUP_ERROR"),
        (507046, "ACL_ERROR_RT_STREAM_SYNC_TIMEOUT"),
        (507054, "ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR"),
        (507902, "ACL_ERROR_RT_AICPU_INFO_LOAD_RSP_ERR"),
        (507903, "ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED"),
        (161001, "ACLNN_ERR_PARAM_NULLPTR"),
        (161002, "ACLNN_ERR_PARAM_INVALID"),
        (361001, "ACLNN_ERR_RUNTIME_ERROR"),
        (561003, "ACLNN_ERR_INNER_FIND_KERNEL_ERROR"),
        (561103, "ACLNN_ERR_INNER_NULLPTR"),
        (561107, "ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND"),
        (561111, "ACLNN_ERR_INNER_JSON_DTYPE_INVALID"),
        (561119, "ACLNN_ERR_INNER_STATIC_BLOCK_DIM_INVALID"),
    ],
)
def test_code_names(code, name):
    assert code_name(code) == name


def test_cures_are_for_known_codes():
    assert HINTS.keys() <= NAMES.keys()
