// The types of CANN's C interface, as its functions take them. Numbers are part of the ABI.
#pragma once

#include <cstddef>
#include <cstdint>

#define CANN_EXPORT extern "C" __attribute__((visibility("default")))

using aclError = int32_t;
using aclnnStatus = int32_t;
using aclrtStream = void *;
using aclrtEvent = void *;
using aclrtContext = void *;
using aclFloat16 = uint16_t;
using aclrtCallback = void (*)(void *);

struct aclTensor;
struct aclScalar;
struct aclIntArray;
struct aclFloatArray;
struct aclBoolArray;
struct aclTensorList;
struct aclScalarList;
struct aclOpExecutor;

enum aclDataType : int32_t {
  ACL_DT_UNDEFINED = -1,
  ACL_FLOAT = 0,
  ACL_FLOAT16 = 1,
  ACL_INT8 = 2,
  ACL_INT32 = 3,
  ACL_UINT8 = 4,
  ACL_INT16 = 6,
  ACL_UINT16 = 7,
  ACL_UINT32 = 8,
  ACL_INT64 = 9,
  ACL_UINT64 = 10,
  ACL_DOUBLE = 11,
  ACL_BOOL = 12,
  ACL_STRING = 13,
  ACL_COMPLEX64 = 16,
  ACL_COMPLEX128 = 17,
  ACL_BF16 = 27,
  ACL_INT4 = 29,
  ACL_UINT1 = 30,
  ACL_COMPLEX32 = 33,
};

enum aclFormat : int32_t {
  ACL_FORMAT_UNDEFINED = -1,
  ACL_FORMAT_NCHW = 0,
  ACL_FORMAT_NHWC = 1,
  ACL_FORMAT_ND = 2,
  ACL_FORMAT_NCDHW = 30,
  ACL_FORMAT_NCL = 47,
};

enum aclrtMemcpyKind : int32_t {
  ACL_MEMCPY_HOST_TO_HOST = 0,
  ACL_MEMCPY_HOST_TO_DEVICE = 1,
  ACL_MEMCPY_DEVICE_TO_HOST = 2,
  ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
  ACL_MEMCPY_DEFAULT = 4,
};

// Codes, named as the error-code headers name them.
namespace code {
inline constexpr int32_t SUCCESS = 0;
inline constexpr int32_t INVALID_PARAM = 100000;
inline constexpr int32_t UNINITIALIZE = 100001;
inline constexpr int32_t REPEAT_INITIALIZE = 100002;
inline constexpr int32_t PARSE_FILE = 100006;
inline constexpr int32_t REPEAT_FINALIZE = 100037;
inline constexpr int32_t RT_PARAM_INVALID = 107000;
inline constexpr int32_t RT_INVALID_DEVICEID = 107001;
inline constexpr int32_t RT_CONTEXT_NULL = 107002;
inline constexpr int32_t RT_STREAM_CONTEXT = 107003;
inline constexpr int32_t RT_EVENT_TIMESTAMP_INVALID = 107006;
inline constexpr int32_t RT_EVENT_TIMESTAMP_REVERSAL = 107007;
inline constexpr int32_t RT_THREAD_SUBSCRIBE = 107012;
inline constexpr int32_t RT_STREAM_NO_CB_REG = 107015;
inline constexpr int32_t RT_WAIT_TIMEOUT = 107019;
inline constexpr int32_t RT_SYSPARAMOPT_NOT_SET = 107021;
inline constexpr int32_t RT_DEVICE_TASK_ABORT = 107022;
inline constexpr int32_t RT_STREAM_ABORT = 107023;
inline constexpr int32_t RT_FEATURE_NOT_SUPPORT = 207000;
inline constexpr int32_t RT_MEMORY_ALLOCATION = 207001;
inline constexpr int32_t RT_NO_EVENT_RESOURCE = 207007;
inline constexpr int32_t RT_NO_STREAM_RESOURCE = 207008;
inline constexpr int32_t RT_REPORT_TIMEOUT = 507012;
inline constexpr int32_t RT_AICORE_EXCEPTION = 507015;
inline constexpr int32_t RT_AICPU_EXCEPTION = 507018;
inline constexpr int32_t RT_STREAM_SYNC_TIMEOUT = 507046;
inline constexpr int32_t RT_EVENT_SYNC_TIMEOUT = 507047;
inline constexpr int32_t RT_DRV_INTERNAL_ERROR = 507899;
inline constexpr int32_t ACLNN_PARAM_NULLPTR = 161001;
inline constexpr int32_t ACLNN_PARAM_INVALID = 161002;
inline constexpr int32_t ACLNN_RUNTIME_ERROR = 361001;
inline constexpr int32_t ACLNN_INNER = 561000;
inline constexpr int32_t ACLNN_INNER_NULLPTR = 561103;
}  // namespace code
