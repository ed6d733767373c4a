// HCCL's numbers and structures, as its headers have them. They are part of the ABI.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cann_abi.h"

using HcclResult = int32_t;
using HcclComm = void *;

enum : HcclResult {
  HCCL_SUCCESS = 0,
  HCCL_E_PARA = 1,
  HCCL_E_PTR = 2,
  HCCL_E_MEMORY = 3,
  HCCL_E_INTERNAL = 4,
  HCCL_E_NOT_SUPPORT = 5,
  HCCL_E_NOT_FOUND = 6,
  HCCL_E_UNAVAIL = 7,
  HCCL_E_SYSCALL = 8,
  HCCL_E_TIMEOUT = 9,
  HCCL_E_TCP_CONNECT = 11,
  HCCL_E_RUNTIME = 15,
  HCCL_E_REMOTE = 21,
  HCCL_E_SUSPENDING = 22,
};

// Not aclDataType's numbers.
enum HcclDataType : int32_t {
  HCCL_INT8 = 0,
  HCCL_INT16 = 1,
  HCCL_INT32 = 2,
  HCCL_FP16 = 3,
  HCCL_FP32 = 4,
  HCCL_INT64 = 5,
  HCCL_UINT64 = 6,
  HCCL_UINT8 = 7,
  HCCL_UINT16 = 8,
  HCCL_UINT32 = 9,
  HCCL_FP64 = 10,
  HCCL_BFP16 = 11,
};

enum HcclReduceOp : int32_t { HCCL_SUM = 0, HCCL_PROD = 1, HCCL_MAX = 2, HCCL_MIN = 3 };

struct HcclRootInfo {
  char internal[4108];
};

struct HcclCommConfig {
  size_t size;
  uint32_t magic;
  uint32_t version;
  uint64_t reserved;
  uint32_t buffer_megabytes;
  uint32_t deterministic;
  char name[128];
  char udi[128];
  uint32_t expansion_mode;
  uint32_t traffic_class;
  uint32_t service_level;
};

struct HcclSendRecvItem {
  int32_t type;  // 0 sends, 1 receives
  void *buf;
  uint64_t count;
  int32_t dtype;
  uint32_t remote;
};

union HcclConfigValue {
  int32_t value;
};

static_assert(sizeof(HcclRootInfo) == 4108 && sizeof(HcclSendRecvItem) == 32);
static_assert(offsetof(HcclCommConfig, buffer_megabytes) == 24);
