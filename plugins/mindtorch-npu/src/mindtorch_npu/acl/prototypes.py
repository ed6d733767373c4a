"""The functions of CANN's runtime and operator-base libraries: one table of their C prototypes.

The prototypes are those of CANN 8.1.RC1; releases up to 9.1 only add functions. They are parsed when
a function is first used.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["CALLBACK", "PROTOTYPES", "PointerAttributes", "Prototype", "parse"]

# Functions that answer at once: they are called with Python's lock held, because getting it back costs
# more than they take, and far more where other threads want it.
QUICK: Final = """
const char *aclGetRecentErrMsg()
size_t aclDataTypeSize(int32_t dataType)
float aclFloat16ToFloat(uint16_t value)
uint16_t aclFloatToFloat16(float value)
int32_t aclrtGetDevice(int32_t *deviceId)
int32_t aclrtGetRunMode(int32_t *runMode)
int32_t aclrtSetCurrentContext(aclrtContext context)
int32_t aclrtGetCurrentContext(aclrtContext *context)
int32_t aclrtStreamQuery(aclrtStream stream, int32_t *status)
int32_t aclrtStreamGetId(aclrtStream stream, int32_t *streamId)
int32_t aclrtQueryEventStatus(aclrtEvent event, int32_t *status)
int32_t aclrtQueryEvent(aclrtEvent event, int32_t *status)
int32_t aclrtQueryEventWaitStatus(aclrtEvent event, int32_t *status)
int32_t aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent)
int32_t aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp)
int32_t aclrtPeekAtLastError(int32_t level)
int32_t aclrtGetLastError(int32_t level)
aclTensor aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum, int32_t dataType, const int64_t *stride, int64_t offset, int32_t format, const int64_t *storageDims, uint64_t storageDimsNum, void *tensorData)
aclScalar aclCreateScalar(void *value, int32_t dataType)
aclIntArray aclCreateIntArray(const int64_t *value, uint64_t size)
aclFloatArray aclCreateFloatArray(const float *value, uint64_t size)
aclBoolArray aclCreateBoolArray(const bool *value, uint64_t size)
aclTensorList aclCreateTensorList(const aclTensor *value, uint64_t size)
aclScalarList aclCreateScalarList(const aclScalar *value, uint64_t size)
int32_t aclDestroyTensor(aclTensor tensor)
int32_t aclDestroyScalar(aclScalar scalar)
int32_t aclDestroyIntArray(aclIntArray array)
int32_t aclDestroyFloatArray(aclFloatArray array)
int32_t aclDestroyBoolArray(aclBoolArray array)
int32_t aclDestroyTensorList(aclTensorList array)
int32_t aclDestroyScalarList(aclScalarList array)
int32_t aclGetViewShape(aclTensor tensor, int64_t **viewDims, uint64_t *viewDimsNum)
int32_t aclGetStorageShape(aclTensor tensor, int64_t **storageDims, uint64_t *storageDimsNum)
int32_t aclGetViewStrides(aclTensor tensor, int64_t **stridesValue, uint64_t *stridesNum)
int32_t aclGetViewOffset(aclTensor tensor, int64_t *offset)
int32_t aclGetFormat(aclTensor tensor, int32_t *format)
int32_t aclGetDataType(aclTensor tensor, int32_t *dataType)
int32_t aclGetIntArraySize(aclIntArray array, uint64_t *size)
int32_t aclGetFloatArraySize(aclFloatArray array, uint64_t *size)
int32_t aclGetBoolArraySize(aclBoolArray array, uint64_t *size)
int32_t aclGetTensorListSize(aclTensorList list, uint64_t *size)
int32_t aclGetScalarListSize(aclScalarList list, uint64_t *size)
int32_t aclGetRawTensorAddr(aclTensor tensor, void **addr)
int32_t aclSetRawTensorAddr(aclTensor tensor, void *addr)
int32_t aclInitTensor(aclTensor tensor, const int64_t *viewDims, uint64_t viewDimsNum, int32_t dataType, const int64_t *stride, int64_t offset, int32_t format, const int64_t *storageDims, uint64_t storageDimsNum, void *tensorDataAddr)
int32_t aclSetAclOpExecutorRepeatable(aclOpExecutor executor)
int32_t aclDestroyAclOpExecutor(aclOpExecutor executor)
int32_t aclSetTensorAddr(aclOpExecutor executor, size_t index, aclTensor tensor, void *addr)
int32_t aclSetInputTensorAddr(aclOpExecutor executor, size_t index, aclTensor tensor, void *addr)
int32_t aclSetOutputTensorAddr(aclOpExecutor executor, size_t index, aclTensor tensor, void *addr)
int32_t aclSetDynamicTensorAddr(aclOpExecutor executor, size_t irIndex, size_t relativeIndex, aclTensorList tensors, void *addr)
int32_t aclSetDynamicInputTensorAddr(aclOpExecutor executor, size_t irIndex, size_t relativeIndex, aclTensorList tensors, void *addr)
int32_t aclSetDynamicOutputTensorAddr(aclOpExecutor executor, size_t irIndex, size_t relativeIndex, aclTensorList tensors, void *addr)
"""  # noqa: E501

# Functions that may block, or take long: other Python threads run meanwhile.
BLOCKING: Final = """
int32_t aclInit(const char *configPath)
int32_t aclFinalize()
int32_t aclFinalizeReference(uint64_t *refCount)
int32_t aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion)
const char *aclrtGetSocName()
int32_t aclrtSetDevice(int32_t deviceId)
int32_t aclrtResetDevice(int32_t deviceId)
int32_t aclrtResetDeviceForce(int32_t deviceId)
int32_t aclrtGetDeviceCount(uint32_t *count)
int32_t aclrtSynchronizeDevice()
int32_t aclrtSynchronizeDeviceWithTimeout(int32_t timeout)
int32_t aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId)
int32_t aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags)
int32_t aclrtDeviceDisablePeerAccess(int32_t peerDeviceId)
int32_t aclrtQueryDeviceStatus(int32_t deviceId, int32_t *deviceStatus)
int32_t aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout)
int32_t aclGetDeviceCapability(uint32_t deviceId, int32_t deviceInfo, int64_t *value)
int32_t aclGetCannAttribute(int32_t cannAttr, int32_t *value)
int32_t aclrtSetSysParamOpt(int32_t opt, int64_t value)
int32_t aclrtGetSysParamOpt(int32_t opt, int64_t *value)
int32_t aclrtCtxSetSysParamOpt(int32_t opt, int64_t value)
int32_t aclrtSetDeviceSatMode(int32_t mode)
int32_t aclrtSetOpWaitTimeout(uint32_t timeout)
int32_t aclrtSetOpExecuteTimeOut(uint32_t timeout)
int32_t aclrtCreateContext(aclrtContext *context, int32_t deviceId)
int32_t aclrtDestroyContext(aclrtContext context)
int32_t aclrtCreateStream(aclrtStream *stream)
int32_t aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag)
int32_t aclrtDestroyStream(aclrtStream stream)
int32_t aclrtDestroyStreamForce(aclrtStream stream)
int32_t aclrtSynchronizeStream(aclrtStream stream)
int32_t aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout)
int32_t aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)
int32_t aclrtStreamAbort(aclrtStream stream)
int32_t aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode)
int32_t aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag)
int32_t aclrtLaunchCallback(aclrtCallback fn, void *userData, int32_t blockType, aclrtStream stream)
int32_t aclrtSubscribeReport(uint64_t threadId, aclrtStream stream)
int32_t aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream)
int32_t aclrtProcessReport(int32_t timeout)
int32_t aclrtCreateEvent(aclrtEvent *event)
int32_t aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag)
int32_t aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
int32_t aclrtDestroyEvent(aclrtEvent event)
int32_t aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
int32_t aclrtResetEvent(aclrtEvent event, aclrtStream stream)
int32_t aclrtSynchronizeEvent(aclrtEvent event)
int32_t aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout)
int32_t aclrtMalloc(void **devPtr, size_t size, int32_t policy)
int32_t aclrtMallocAlign32(void **devPtr, size_t size, int32_t policy)
int32_t aclrtMallocCached(void **devPtr, size_t size, int32_t policy)
int32_t aclrtMallocWithCfg(void **devPtr, size_t size, int32_t policy, void *cfg)
int32_t aclrtMemFlush(void *devPtr, size_t size)
int32_t aclrtMemInvalidate(void *devPtr, size_t size)
int32_t aclrtFree(void *devPtr)
int32_t aclrtMallocHost(void **hostPtr, size_t size)
int32_t aclrtFreeHost(void *hostPtr)
int32_t aclrtHostRegister(void *ptr, uint64_t size, int32_t type, void **devPtr)
int32_t aclrtHostUnregister(void *ptr)
int32_t aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count)
int32_t aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream)
int32_t aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, int32_t kind)
int32_t aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, int32_t kind, aclrtStream stream)
int32_t aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int32_t kind)
int32_t aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int32_t kind, aclrtStream stream)
int32_t aclrtGetMemInfo(int32_t attr, size_t *free, size_t *total)
int32_t aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes)
int32_t aclopSetModelDir(const char *modelDir)
int32_t aclnnInit(const char *configPath)
int32_t aclnnFinalize()
"""  # noqa: E501

CALLBACK: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class PointerAttributes(ctypes.Structure):
    """What `aclrtPointerGetAttributes` fills: where memory lives.

    Attributes:
        id: the device.
        type: 0 for host memory, 1 for device memory.
        page_size: of the memory's pages.
    """

    _fields_ = (
        ("id", ctypes.c_uint32),
        ("type", ctypes.c_int32),
        ("page_size", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32 * 4),
    )


@dataclass(frozen=True, slots=True)
class Prototype:
    """The ctypes types of a function.

    Attributes:
        name: the symbol.
        restype: type of its result.
        argtypes: types of its parameters.
        parameters: their names, as in the C header.
        quick: whether it may be called without releasing Python's lock.
    """

    name: str
    restype: Any
    argtypes: tuple[Any, ...]
    parameters: tuple[str, ...]
    quick: bool


_VALUES: Final[dict[str, Any]] = {
    "int32_t": ctypes.c_int32,
    "uint16_t": ctypes.c_uint16,
    "uint32_t": ctypes.c_uint32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
    "float": ctypes.c_float,
    "bool": ctypes.c_bool,
    "aclrtCallback": CALLBACK,
    "aclrtPtrAttributes": PointerAttributes,
}
_DECLARATION: Final = re.compile(r"(?P<result>.+?)(?P<name>\w+)\((?P<parameters>.*)\)")
_PARAMETER: Final = re.compile(r"(?P<type>.+?)(?P<name>\w+)")


def _ctype(text: str) -> Any:
    """The ctypes type of a C type such as ``const int64_t *``; handles are `ctypes.c_void_p`."""
    base, stars, rest = text.removeprefix("const ").replace(" ", "").partition("*")
    levels = len(stars + rest)
    if base == "char":
        return ctypes.c_char_p
    if base == "void":
        found: Any = ctypes.c_void_p
        levels -= 1
    else:
        found = _VALUES.get(base, ctypes.c_void_p)
    for _ in range(levels):
        found = ctypes.POINTER(found)
    return found


def parse(line: str, *, quick: bool) -> Prototype:
    """A prototype out of a line of C.

    Raises:
        ValueError: if it is none.
    """
    declaration = _DECLARATION.fullmatch(line)
    given = [] if declaration is None else declaration["parameters"].split(",")
    parameters = [p.strip() for p in given if p.strip()]
    parsed = [m for p in parameters if (m := _PARAMETER.fullmatch(p))]
    if declaration is None or len(parsed) < len(parameters):
        raise ValueError(f"not a C prototype, such as 'int f(void *p)': {line!r}")
    return Prototype(
        declaration["name"],
        _ctype(declaration["result"]),
        tuple(_ctype(m["type"]) for m in parsed),
        tuple(m["name"] for m in parsed),
        quick,
    )


def _table() -> dict[str, Prototype]:
    quick = [parse(line, quick=True) for line in QUICK.split("\n") if line]
    blocking = [parse(line, quick=False) for line in BLOCKING.split("\n") if line]
    return {p.name: p for p in (*quick, *blocking)}


PROTOTYPES: Final[dict[str, Prototype]] = _table()
