// Memory of devices and pinned memory of the host.
#include "core/memory.h"

#include "core/context.h"
#include "core/settings.h"
#include "runtime/arguments.h"

namespace sim {
namespace {

constexpr uint64_t UNIT = 32;
constexpr uint64_t MOST = uint64_t{1} << 46;  // more than any device: keeps sums from overflowing
constexpr uint32_t POLICY_FLAGS = 0x101100;
constexpr uint32_t LAST_POLICY = 7;
constexpr int32_t LAST_ATTRIBUTE = 17;

uint64_t rounded(uint64_t bytes) { return (bytes + UNIT - 1) / UNIT * UNIT; }

struct Asked {
  void **result;
  size_t bytes;
  uint32_t policy;
  uint64_t extra;  // what the function adds to the size
};

int32_t device_memory(const char *symbol, const Asked &asked) {
  if (const int32_t code = required(symbol, "devPtr", asked.result)) return code;
  if (asked.bytes == 0) return invalid(symbol, "size is 0");
  if ((asked.policy & ~POLICY_FLAGS) > LAST_POLICY) return invalid(symbol, "policy is unknown");
  std::shared_ptr<Context> context;
  if (const int32_t code = current(symbol, context)) return code;
  const uint64_t charged = rounded(std::min<uint64_t>(asked.bytes, MOST)) + asked.extra;
  return allocate(context->device, asked.bytes, charged, asked.result);
}

int32_t whole_block(const char *symbol, void *pointer, size_t size) {
  const auto at = reinterpret_cast<uint64_t>(pointer);
  if (size > 0 && block_at(at, size)) return 0;
  return refused(symbol, describe(at, size) + " is not allocated");
}

}  // namespace

CANN_EXPORT aclError aclrtMalloc(void **devPtr, size_t size, uint32_t policy) {
  if (const int32_t code = enter(__func__)) return code;
  return device_memory(__func__, {devPtr, size, policy, UNIT});
}

CANN_EXPORT aclError aclrtMallocAlign32(void **devPtr, size_t size, uint32_t policy) {
  if (const int32_t code = enter(__func__)) return code;
  return device_memory(__func__, {devPtr, size, policy, 0});
}

CANN_EXPORT aclError aclrtMallocCached(void **devPtr, size_t size, uint32_t policy) {
  if (const int32_t code = enter(__func__)) return code;
  return device_memory(__func__, {devPtr, size, policy, UNIT});
}

CANN_EXPORT aclError aclrtMallocWithCfg(void **devPtr, size_t size, uint32_t policy, void *cfg) {
  if (const int32_t code = enter(__func__)) return code;
  static_cast<void>(cfg);  // names modules for statistics that a simulator does not keep
  return device_memory(__func__, {devPtr, size, policy, UNIT});
}

CANN_EXPORT aclError aclrtMemFlush(void *devPtr, size_t size) {
  if (const int32_t code = enter(__func__)) return code;
  return whole_block(__func__, devPtr, size);
}

CANN_EXPORT aclError aclrtMemInvalidate(void *devPtr, size_t size) {
  if (const int32_t code = enter(__func__)) return code;
  return whole_block(__func__, devPtr, size);
}

CANN_EXPORT aclError aclrtFree(void *devPtr) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "devPtr", devPtr)) return code;
  return release(__func__, devPtr);
}

CANN_EXPORT aclError aclrtMallocHost(void **hostPtr, size_t size) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "hostPtr", hostPtr)) return code;
  if (size == 0 || size > MOST) return invalid(__func__, "size is 0 or absurd");
  std::shared_ptr<Context> context;
  if (const int32_t code = current(__func__, context)) return code;
  return allocate_pinned(size, hostPtr);
}

CANN_EXPORT aclError aclrtFreeHost(void *hostPtr) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "hostPtr", hostPtr)) return code;
  return release_pinned(__func__, hostPtr, false);
}

CANN_EXPORT aclError aclrtHostRegister(void *ptr, uint64_t size, int32_t type, void **devPtr) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "ptr", ptr)) return code;
  if (const int32_t code = required(__func__, "devPtr", devPtr)) return code;
  if (size == 0 || type != 0) return invalid(__func__, "size is 0, or type is not 0 (mapped)");
  std::shared_ptr<Context> context;
  if (const int32_t code = current(__func__, context)) return code;
  if (const int32_t code = register_pinned(ptr, size)) return code;
  *devPtr = ptr;
  return 0;
}

CANN_EXPORT aclError aclrtHostUnregister(void *ptr) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "ptr", ptr)) return code;
  return release_pinned(__func__, ptr, true);
}

CANN_EXPORT aclError aclrtGetMemInfo(int32_t attr, size_t *free, size_t *total) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "free", free)) return code;
  if (const int32_t code = required(__func__, "total", total)) return code;
  if (attr < 0 || attr > LAST_ATTRIBUTE) return invalid(__func__, "attr is unknown");
  std::shared_ptr<Context> context;
  if (const int32_t code = current(__func__, context)) return code;
  const bool ddr = attr == 0 || attr == 2 || attr == 3 || attr == 6 || attr == 7;
  const Usage use = usage(context->device);
  const bool absent = ddr && processor().hbm;  // such a device has no DDR memory
  *total = absent ? 0 : use.limit;
  *free = absent || use.used > use.limit ? 0 : use.limit - use.used;
  return 0;
}

struct PointerAttributes {
  uint32_t id;
  int32_t type;
  uint32_t page_size;
  uint32_t reserved[4];
};

CANN_EXPORT aclError aclrtPointerGetAttributes(const void *ptr, PointerAttributes *attributes) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "ptr", ptr)) return code;
  if (const int32_t code = required(__func__, "attributes", attributes)) return code;
  const auto at = reinterpret_cast<uint64_t>(ptr);
  const auto block = block_at(at, 1);
  if (!block && on_device(at)) return refused(__func__, describe(at));
  *attributes = {};
  attributes->page_size = 4096;
  if (!block || block->device == ON_HOST) return 0;
  attributes->type = 1;
  const auto &visible = settings().devices;
  for (size_t i = 0; i < visible.size(); ++i) {
    if (visible[i] == block->device) attributes->id = static_cast<uint32_t>(i);
  }
  return 0;
}

}  // namespace sim
