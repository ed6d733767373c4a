// Collectives. The simulator has none: every function says so, as HCCL does for what is missing.
#include "core/core.h"

namespace {

using HcclResult = int32_t;

constexpr HcclResult NOT_SUPPORT = 5;

HcclResult refuse(const char *symbol) {
  if (const int32_t injected = sim::enter(symbol)) return injected;
  sim::fail(NOT_SUPPORT, std::string(symbol) + ": the simulator has no collectives");
  return NOT_SUPPORT;
}

}  // namespace

// None of them reads its arguments, so that a list of names is all there is to say.
#define UNSUPPORTED(name) \
  CANN_EXPORT HcclResult name() { return refuse(#name); }

UNSUPPORTED(HcclGetRootInfo)
UNSUPPORTED(HcclCommInitRootInfo)
UNSUPPORTED(HcclCommInitRootInfoConfig)
UNSUPPORTED(HcclCommInitClusterInfo)
UNSUPPORTED(HcclCommInitClusterInfoConfig)
UNSUPPORTED(HcclCommInitAll)
UNSUPPORTED(HcclCreateSubCommConfig)
UNSUPPORTED(HcclCommDestroy)
UNSUPPORTED(HcclGetRankSize)
UNSUPPORTED(HcclGetRankId)
UNSUPPORTED(HcclGetCommName)
UNSUPPORTED(HcclGetCommAsyncError)
UNSUPPORTED(HcclSetConfig)
UNSUPPORTED(HcclGetConfig)
UNSUPPORTED(HcclCommSuspend)
UNSUPPORTED(HcclCommResume)
UNSUPPORTED(HcclAllReduce)
UNSUPPORTED(HcclBroadcast)
UNSUPPORTED(HcclAllGather)
UNSUPPORTED(HcclReduceScatter)
UNSUPPORTED(HcclReduce)
UNSUPPORTED(HcclScatter)
UNSUPPORTED(HcclSend)
UNSUPPORTED(HcclRecv)
UNSUPPORTED(HcclBatchSendRecv)
UNSUPPORTED(HcclAlltoAll)
UNSUPPORTED(HcclAlltoAllV)
UNSUPPORTED(HcclReduceScatterV)
UNSUPPORTED(HcclAllGatherV)
UNSUPPORTED(HcclBarrier)

CANN_EXPORT uint32_t HcclGetCommConfigCapability() { return 0; }

CANN_EXPORT const char *HcclGetErrorString(HcclResult code) {
  switch (code) {
    case 0:
      return "no error";
    case 1:
      return "parameter error";
    case 2:
      return "null pointer";
    case 3:
      return "memory error";
    case 4:
      return "internal error";
    case NOT_SUPPORT:
      return "feature not supported";
    case 9:
      return "timeout";
    case 15:
      return "runtime error";
    default:
      return "unknown error";
  }
}
