// Devices: which there are, which is current, waiting for them, their properties.
#include <chrono>

#include "core/context.h"
#include "core/journal.h"
#include "core/settings.h"
#include "runtime/arguments.h"

namespace sim {
namespace {

constexpr int32_t RUNS_ON_HOST = 1;

// Wait for all streams of the context; the first failure counts, all are delivered.
int32_t synchronize(const char *symbol, Context &context, int32_t timeout) {
  count_synchronization(symbol);
  const uint64_t start = now_us();
  int32_t result = 0;
  for (const auto &stream : streams_of(context)) {
    int left = FOREVER;
    if (timeout != FOREVER) {
      const auto passed = static_cast<int64_t>((now_us() - start) / 1000);
      left = passed < timeout ? static_cast<int>(timeout - passed) : 0;
    }
    const int32_t code = finish(stream, left);
    if (code == NOT_IN_TIME) {
      return fail(code::RT_STREAM_SYNC_TIMEOUT, std::string(symbol) + ": the time is over");
    }
    if (result == 0) result = code;
  }
  return result;
}

int32_t two_devices(const char *symbol, int32_t id, int32_t peer, int &from, int &to) {
  if (const int32_t code = physical(symbol, id, from)) return code;
  if (const int32_t code = physical(symbol, peer, to)) return code;
  return from == to ? refused(symbol, "the devices are the same") : 0;
}

int32_t change_peer(const char *symbol, int32_t peer, bool enabled) {
  std::shared_ptr<Context> context;
  if (const int32_t code = current(symbol, context)) return code;
  int from = 0;
  int to = 0;
  if (const int32_t code = two_devices(symbol, context->id, peer, from, to)) return code;
  set_peer(from, to, enabled);
  return 0;
}

int32_t reset(const char *symbol, int32_t id, bool force) {
  int device = 0;
  if (const int32_t code = physical(symbol, id, device)) return code;
  if (release_device(device, force)) return 0;
  return refused(symbol, "device " + std::to_string(id) + " is not set (any more)");
}

}  // namespace

CANN_EXPORT aclError aclrtSetDevice(int32_t deviceId) {
  if (const int32_t code = enter(__func__)) return code;
  int device = 0;
  if (const int32_t code = physical(__func__, deviceId, device)) return code;
  retain_device(deviceId, device);
  return 0;
}

CANN_EXPORT aclError aclrtResetDevice(int32_t deviceId) {
  if (const int32_t code = enter(__func__)) return code;
  return reset(__func__, deviceId, false);
}

CANN_EXPORT aclError aclrtResetDeviceForce(int32_t deviceId) {
  if (const int32_t code = enter(__func__)) return code;
  return reset(__func__, deviceId, true);
}

CANN_EXPORT aclError aclrtGetDevice(int32_t *deviceId) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "deviceId", deviceId)) return code;
  std::shared_ptr<Context> context;
  if (const int32_t code = current(__func__, context)) return code;
  *deviceId = context->id;
  return 0;
}

CANN_EXPORT aclError aclrtGetDeviceCount(uint32_t *count) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "count", count)) return code;
  *count = static_cast<uint32_t>(settings().devices.size());
  return 0;
}

CANN_EXPORT aclError aclrtGetRunMode(int32_t *runMode) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "runMode", runMode)) return code;
  std::shared_ptr<Context> context;
  if (const int32_t code = current(__func__, context)) return code;
  *runMode = RUNS_ON_HOST;
  return 0;
}

CANN_EXPORT aclError aclrtSynchronizeDevice() {
  if (const int32_t code = enter(__func__)) return code;
  std::shared_ptr<Context> context;
  if (const int32_t code = current(__func__, context)) return code;
  return synchronize(__func__, *context, FOREVER);
}

CANN_EXPORT aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = check_timeout(__func__, timeout)) return code;
  std::shared_ptr<Context> context;
  if (const int32_t code = current(__func__, context)) return code;
  return synchronize(__func__, *context, timeout);
}

CANN_EXPORT aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId,
                                              int32_t peerDeviceId) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "canAccessPeer", canAccessPeer)) return code;
  int from = 0;
  int to = 0;
  if (const int32_t code = two_devices(__func__, deviceId, peerDeviceId, from, to)) return code;
  *canAccessPeer = 1;
  return 0;
}

CANN_EXPORT aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
  if (const int32_t code = enter(__func__)) return code;
  if (flags != 0) return invalid(__func__, "flags is not 0");
  return change_peer(__func__, peerDeviceId, true);
}

CANN_EXPORT aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  if (const int32_t code = enter(__func__)) return code;
  return change_peer(__func__, peerDeviceId, false);
}

CANN_EXPORT aclError aclrtQueryDeviceStatus(int32_t deviceId, int32_t *deviceStatus) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "deviceStatus", deviceStatus)) return code;
  int device = 0;
  if (const int32_t code = physical(__func__, deviceId, device)) return code;
  *deviceStatus = 0;
  return 0;
}

CANN_EXPORT aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout) {
  if (const int32_t code = enter(__func__)) return code;
  int device = 0;
  if (const int32_t code = physical(__func__, deviceId, device)) return code;
  for (const auto &context : contexts().all()) {
    if (context->device != device) continue;
    for (const auto &stream : streams_of(*context)) {
      stream->abort(code::RT_DEVICE_TASK_ABORT);
      const int wait = timeout == 0 ? FOREVER : static_cast<int>(timeout);
      if (finish(stream, wait) != NOT_IN_TIME) continue;
      return fail(code::RT_WAIT_TIMEOUT, std::string(__func__) + ": a task is still running");
    }
  }
  return 0;
}

CANN_EXPORT aclError aclGetDeviceCapability(uint32_t deviceId, int32_t deviceInfo, int64_t *value) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "value", value)) return code;
  std::shared_ptr<Context> context;
  if (const int32_t code = current(__func__, context)) return code;
  int device = 0;
  if (const int32_t code = physical(__func__, static_cast<int32_t>(deviceId), device)) return code;
  const Processor &chip = processor();
  const int64_t values[] = {chip.cube_cores, chip.vector_cores, chip.cache_bytes};
  if (deviceInfo < 0 || deviceInfo > 2) return invalid(__func__, "deviceInfo is not 0, 1 or 2");
  *value = values[deviceInfo];
  return 0;
}

}  // namespace sim
