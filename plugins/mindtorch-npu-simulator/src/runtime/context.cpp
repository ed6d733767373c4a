// Explicit contexts.
#include "core/context.h"

#include "runtime/arguments.h"

namespace sim {
namespace {

int32_t live_context(const char *symbol, aclrtContext handle, std::shared_ptr<Context> &context) {
  if (const int32_t code = required(symbol, "context", handle)) return code;
  context = contexts().find(handle);
  if (context) return 0;
  if (!contexts().known(handle)) {
    report("unknown-handle", std::string(symbol) + " was given a value that is no context");
  }
  return fail(code::RT_CONTEXT_NULL, std::string(symbol) + ": the context does not exist");
}

}  // namespace

CANN_EXPORT aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "context", context)) return code;
  int device = 0;
  if (const int32_t code = physical(__func__, deviceId, device)) return code;
  *context = create_context(deviceId, device, false)->handle;
  return 0;
}

CANN_EXPORT aclError aclrtDestroyContext(aclrtContext context) {
  if (const int32_t code = enter(__func__)) return code;
  std::shared_ptr<Context> found;
  if (const int32_t code = live_context(__func__, context, found)) return code;
  if (found->primary) {
    return refused(__func__, "the default context of a device ends with aclrtResetDevice");
  }
  destroy_context(found);
  return 0;
}

CANN_EXPORT aclError aclrtSetCurrentContext(aclrtContext context) {
  if (const int32_t code = enter(__func__)) return code;
  std::shared_ptr<Context> found;
  if (const int32_t code = live_context(__func__, context, found)) return code;
  make_current(found);
  return 0;
}

CANN_EXPORT aclError aclrtGetCurrentContext(aclrtContext *context) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "context", context)) return code;
  std::shared_ptr<Context> found;
  if (const int32_t code = current(__func__, found)) return code;
  *context = found->handle;
  return 0;
}

}  // namespace sim
