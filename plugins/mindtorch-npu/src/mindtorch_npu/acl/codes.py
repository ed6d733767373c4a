"""Return codes of CANN's functions: their names, and what to do about those that users meet.

Codes and names are those of CANN 8.1.RC1's headers (``acl_base.h``, ``rt_error_codes.h``,
``aclnn_base.h``) and of the releases up to 9.1, which added to them.
"""

from __future__ import annotations

from typing import Final

__all__ = ["HINTS", "NAMES", "NO_MEMORY", "code_name"]

NO_MEMORY: Final = frozenset({207001, 207018})  # RT_MEMORY_ALLOCATION, RT_DEVICE_OOM

# Every code of a family has the family's prefix; names follow each other from the first code on.
_ACL: Final = """
100000 INVALID_PARAM UNINITIALIZE REPEAT_INITIALIZE INVALID_FILE WRITE_FILE INVALID_FILE_SIZE PARSE_FILE
100009 INVALID_DUMP_CONFIG INVALID_PROFILING_CONFIG
100020 OP_TYPE_NOT_MATCH OP_INPUT_NOT_MATCH OP_OUTPUT_NOT_MATCH OP_ATTR_NOT_MATCH OP_NOT_FOUND
100025 OP_LOAD_FAILED UNSUPPORTED_DATA_TYPE FORMAT_NOT_MATCH
100029 KERNEL_NOT_FOUND
100033 REPEAT_SUBSCRIBE STREAM_NOT_SUBSCRIBE THREAD_NOT_SUBSCRIBE WAIT_CALLBACK_TIMEOUT REPEAT_FINALIZE
100039 COMPILING_STUB_MODE GROUP_NOT_SET GROUP_NOT_CREATE
148046 PROF_REPEAT_SUBSCRIBE PROF_API_CONFLICT
148049 INVALID_OPP_PATH
148051 RELATIVE_RESOURCE_NOT_CLEARED
200000 BAD_ALLOC API_NOT_SUPPORT INVALID_DEVICE MEMORY_ADDRESS_UNALIGNED
200005 INVALID_RESOURCE_HANDLE FEATURE_UNSUPPORTED
300000 STORAGE_OVER_LIMIT
500000 INTERNAL_ERROR FAILURE GE_FAILURE RT_FAILURE DRV_FAILURE PROFILING_FAILURE
"""
_RT: Final = """
107000 PARAM_INVALID INVALID_DEVICEID CONTEXT_NULL STREAM_CONTEXT MODEL_CONTEXT STREAM_MODEL
107006 EVENT_TIMESTAMP_INVALID EVENT_TIMESTAMP_REVERSAL ADDR_UNALIGNED FILE_OPEN FILE_WRITE
107011 STREAM_SUBSCRIBE THREAD_SUBSCRIBE
107015 STREAM_NO_CB_REG INVALID_MEMORY_TYPE INVALID_HANDLE INVALID_MALLOC_TYPE WAIT_TIMEOUT
107020 TASK_TIMEOUT SYSPARAMOPT_NOT_SET DEVICE_TASK_ABORT STREAM_ABORT CAPTURE_DEPENDENCY
107025 STREAM_UNJOINED MODEL_CAPTURED STREAM_CAPTURED EVENT_CAPTURED STREAM_NOT_CAPTURED
107030 CAPTURE_MODE_NOT_SUPPORT STREAM_CAPTURE_IMPLICIT CAPTURE_CONFLICT TASK_GROUP_STATUS
107034 TASK_GROUP_INTR TASK_ABORT_STOP STREAM_CAPTURE_UNMATCHED MODEL_RUNNING
107038 CAPTURE_WRONG_THREAD INSUFFICIENT_INPUT_ARRAY MODEL_UPDATE_FAILED
207000 FEATURE_NOT_SUPPORT MEMORY_ALLOCATION MEMORY_FREE AICORE_OVER_FLOW NO_DEVICE RESOURCE_ALLOC_FAIL
207006 NO_PERMISSION NO_EVENT_RESOURCE NO_STREAM_RESOURCE NO_NOTIFY_RESOURCE NO_MODEL_RESOURCE
207011 NO_CDQ_RESOURCE OVER_LIMIT QUEUE_EMPTY QUEUE_FULL REPEATED_INIT AIVEC_OVER_FLOW OVER_FLOW
207018 DEVICE_OOM
507000 INTERNAL_ERROR TS_ERROR STREAM_TASK_FULL STREAM_TASK_EMPTY STREAM_NOT_COMPLETE
507006 EVENT_NOT_COMPLETE CONTEXT_RELEASE_ERROR SOC_VERSION TASK_TYPE_NOT_SUPPORT LOST_HEARTBEAT
507011 MODEL_EXECUTE REPORT_TIMEOUT SYS_DMA AICORE_TIMEOUT AICORE_EXCEPTION AICORE_TRAP_EXCEPTION
507017 AICPU_TIMEOUT AICPU_EXCEPTION
507022 IPC_ERROR
507027 KERNEL_LOOKUP
507033 DEV_SETUP_ERROR VECTOR_CORE_TIMEOUT VECTOR_CORE_EXCEPTION VECTOR_CORE_TRAP_EXCEPTION
507042 AICORE_TRAP_READ_OVERFLOW AICORE_TRAP_WRITE_OVERFLOW
507044 VECTOR_CORE_TRAP_READ_OVERFLOW VECTOR_CORE_TRAP_WRITE_OVERFLOW
507046 STREAM_SYNC_TIMEOUT EVENT_SYNC_TIMEOUT FFTS_PLUS_TIMEOUT FFTS_PLUS_EXCEPTION
507050 FFTS_PLUS_TRAP_EXCEPTION SEND_MSG COPY_DATA DEVICE_MEM_ERROR HBM_MULTI_BIT_ECC_ERROR
507055 SUSPECT_DEVICE_MEM LINK_ERROR SUSPECT_REMOTE
507899 DRV_INTERNAL_ERROR AICPU_INTERNAL_ERROR SOCKET_CLOSE AICPU_INFO_LOAD_RSP_ERR
507903 STREAM_CAPTURE_INVALIDATED COMM_OP_RETRY_FAIL
"""
_ACLNN: Final = """
161001 PARAM_NULLPTR PARAM_INVALID
361001 RUNTIME_ERROR
561000 INNER INNER_INFERSHAPE_ERROR INNER_TILING_ERROR INNER_FIND_KERNEL_ERROR
561101 INNER_CREATE_EXECUTOR INNER_NOT_TRANS_EXECUTOR INNER_NULLPTR INNER_WRONG_ATTR_INFO_SIZE
561105 INNER_KEY_CONFLICT INNER_INVALID_IMPL_MODE INNER_OPP_PATH_NOT_FOUND INNER_LOAD_JSON_FAILED
561109 INNER_JSON_VALUE_NOT_FOUND INNER_JSON_FORMAT_INVALID INNER_JSON_DTYPE_INVALID
561112 INNER_OPP_KERNEL_PKG_NOT_FOUND INNER_OP_FILE_INVALID INNER_ATTR_NUM_OUT_OF_BOUND
561115 INNER_ATTR_LEN_NOT_ENOUGH INNER_INPUT_NUM_IN_JSON_TOO_LARGE INNER_INPUT_JSON_IS_NULL
561118 INNER_STATIC_WORKSPACE_INVALID INNER_STATIC_BLOCK_DIM_INVALID
"""


def _numbered(prefix: str, text: str) -> dict[int, str]:
    rows = [line.split() for line in text.split("\n") if line]
    return {int(first) + i: prefix + name for first, *names in rows for i, name in enumerate(names)}


NAMES: Final[dict[int, str]] = {
    0: "ACL_SUCCESS",
    **_numbered("ACL_ERROR_", _ACL),
    **_numbered("ACL_ERROR_RT_", _RT),
    **_numbered("ACLNN_ERR_", _ACLNN),
}

_VERSIONS: Final = "the driver, the firmware and CANN must be of releases that go together"
_KERNEL_FAULT: Final = (
    "a kernel that was launched earlier failed, commonly because of an index out of range; "
    "ACL_LAUNCH_BLOCKING=1 makes the error appear at the op that causes it"
)
_NO_KERNELS: Final = (
    "install the kernels package (opp) of this chip for this CANN, and source its set_env.sh"
)

HINTS: Final[dict[int, str]] = {
    100000: "an argument was refused; for aclInit: the configuration file must be JSON that exists",
    100002: "another component of the process has initialised ACL already; that is no failure",
    100039: "stub libraries were loaded: take the directories 'devlib' and 'stub' out of "
    "LD_LIBRARY_PATH and source the toolkit's set_env.sh",
    107001: "the device index is out of range (ASCEND_RT_VISIBLE_DEVICES counts), or the driver is "
    "missing; `npu-smi info` lists the devices",
    107002: "this thread has no device: call torch.npu.set_device on every thread; a forked child "
    "cannot use the device at all, start processes with 'spawn'",
    107003: "the stream or event belongs to another device: use it under the device it was made on",
    107006: "the event has no time stamp: make it with enable_timing=True and record it first",
    107007: "the events were given in the wrong order: the start must be recorded before the end",
    107020: "a task ran too long; aclrtSetOpExecuteTimeOut sets the limit",
    148049: "set ASCEND_OPP_PATH to the toolkit's 'opp' directory, or source its set_env.sh",
    161001: "a required argument is missing; the message names it",
    161002: "the operator refuses a dtype, shape, format or value; the message names the argument",
    207000: "this chip or this CANN has no such feature",
    207001: "the device's memory is used up: free tensors, call torch.npu.empty_cache(), or use "
    "smaller batches",
    207004: "no device was found: `npu-smi info` must list one",
    207007: "no hardware event is free: destroy events that are not used any more",
    207008: "no stream is free: reuse streams instead of making new ones",
    207018: "the device's memory is used up: free tensors, or use smaller batches",
    361001: "a runtime call failed inside the operator: often the thread has no device, or a kernel "
    "that was launched earlier failed",
    507007: "an earlier failure to set the device is the cause",
    507008: f"CANN does not know this chip; {_VERSIONS}, and one CANN only may be on the paths",
    507014: "a kernel ran too long; aclrtSetOpExecuteTimeOut sets the limit",
    507015: _KERNEL_FAULT,
    507017: "a kernel on the AI CPU ran too long",
    507018: "a kernel on the AI CPU failed: a value or a dtype that it does not take",
    507033: f"the device could not be set up; {_VERSIONS}, and the device may be busy or its memory "
    "used up by other processes; `npu-smi info` shows them",
    507035: _KERNEL_FAULT,
    507046: "the stream was not done in time; in distributed programs a peer may have died",
    507047: "the event was not reached in time",
    507899: "the device is lost; `npu-smi info` shows its state",
    507901: "the device is lost; `npu-smi info` shows its state",
    561003: _NO_KERNELS,
    561103: "this chip may lack the operator, or an argument is missing",
    561107: "set ASCEND_OPP_PATH to the toolkit's 'opp' directory, or source its set_env.sh",
    561112: _NO_KERNELS,
}  # fmt: skip


def code_name(code: int) -> str:
    """The name of a code as C programs write it."""
    return NAMES.get(code, "unknown code")
