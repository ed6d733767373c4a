// Settings of the whole library, and its words for codes.
#include <atomic>
#include <cstdint>

#include "core/core.h"
#include "hccl/communicator.h"

namespace sim::hccl {
namespace {

constexpr int32_t DETERMINISTIC = 0;
// Fields of HcclCommConfig that are read: buffer size, determinism, name, expansion mode.
constexpr uint32_t FIELDS = 4;

std::atomic<int32_t> deterministic{0};

HcclResult check(const char *symbol, int32_t config) {
  if (config == DETERMINISTIC) return HCCL_SUCCESS;
  return refused(HCCL_E_PARA, symbol, "there is no setting " + std::to_string(config));
}

}  // namespace

// Reductions go by rank always, so that this changes nothing here.
CANN_EXPORT HcclResult HcclSetConfig(int32_t config, HcclConfigValue value) {
  if (const HcclResult code = enter(__func__)) return code;
  if (const HcclResult code = check(__func__, config)) return code;
  if (value.value < 0 || value.value > 2) {
    return refused(HCCL_E_PARA, __func__, "the value " + std::to_string(value.value));
  }
  deterministic = value.value;
  return HCCL_SUCCESS;
}

CANN_EXPORT HcclResult HcclGetConfig(int32_t config, HcclConfigValue *value) {
  if (const HcclResult code = enter(__func__)) return code;
  if (value == nullptr) return refused(HCCL_E_PTR, __func__, "configValue is NULL");
  if (const HcclResult code = check(__func__, config)) return code;
  value->value = deterministic;
  return HCCL_SUCCESS;
}

CANN_EXPORT uint32_t HcclGetCommConfigCapability() { return FIELDS; }

CANN_EXPORT const char *HcclGetErrorString(HcclResult code) {
  switch (code) {
    case HCCL_SUCCESS:
      return "no error";
    case HCCL_E_PARA:
      return "parameter error";
    case HCCL_E_PTR:
      return "null pointer";
    case HCCL_E_MEMORY:
      return "memory error";
    case HCCL_E_INTERNAL:
      return "internal error";
    case HCCL_E_NOT_SUPPORT:
      return "feature not supported";
    case HCCL_E_NOT_FOUND:
      return "not found";
    case HCCL_E_UNAVAIL:
      return "resource unavailable";
    case HCCL_E_SYSCALL:
      return "system call error";
    case HCCL_E_TIMEOUT:
      return "timeout";
    case HCCL_E_TCP_CONNECT:
      return "connection error";
    case HCCL_E_RUNTIME:
      return "runtime error";
    case HCCL_E_REMOTE:
      return "error of another rank";
    case HCCL_E_SUSPENDING:
      return "communicator suspended";
    default:
      return "unknown error";
  }
}

}  // namespace sim::hccl
