// Options of the process, of contexts and of devices. They are kept and told, nothing depends on
// them but the limit of waits in streams.
#include <map>
#include <mutex>

#include "core/context.h"
#include "core/settings.h"
#include "runtime/arguments.h"

namespace sim {
namespace {

struct Options {
  std::mutex lock;
  std::map<int32_t, int64_t> values;
};

Options &options() {
  static Options &value = *new Options;
  return value;
}

int32_t check_option(const char *symbol, int32_t opt, int64_t value) {
  if (opt < 0 || opt > 2) return invalid(symbol, "opt " + std::to_string(opt) + " is unknown");
  if (value == 0 || value == 1) return 0;
  return invalid(symbol, "value " + std::to_string(value) + " is not 0 or 1");
}

int32_t get_option(const char *symbol, const std::map<int32_t, int64_t> &values, int32_t opt,
                   int64_t *value) {
  const auto found = values.find(opt);
  if (found == values.end()) {
    return fail(code::RT_SYSPARAMOPT_NOT_SET, std::string(symbol) + ": the option was never set");
  }
  *value = found->second;
  return 0;
}

}  // namespace

CANN_EXPORT aclError aclGetCannAttribute(int32_t cannAttr, int32_t *value) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "value", value)) return code;
  if (cannAttr < 0 || cannAttr > 2) return invalid(__func__, "cannAttr is not 0, 1 or 2");
  const bool second_generation = processor().hbm && processor().streams == 1984;
  *value = cannAttr == 2 || second_generation ? 1 : 0;  // inf/nan mode, bfloat16, compilation
  return 0;
}

CANN_EXPORT aclError aclrtSetSysParamOpt(int32_t opt, int64_t value) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = check_option(__func__, opt, value)) return code;
  Options &o = options();
  const std::lock_guard<std::mutex> hold(o.lock);
  o.values[opt] = value;
  return 0;
}

CANN_EXPORT aclError aclrtGetSysParamOpt(int32_t opt, int64_t *value) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "value", value)) return code;
  Options &o = options();
  const std::lock_guard<std::mutex> hold(o.lock);
  return get_option(__func__, o.values, opt, value);
}

CANN_EXPORT aclError aclrtCtxSetSysParamOpt(int32_t opt, int64_t value) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = check_option(__func__, opt, value)) return code;
  std::shared_ptr<Context> context;
  if (const int32_t code = current(__func__, context)) return code;
  const std::lock_guard<std::mutex> hold(context->lock);
  context->options[opt] = value;
  return 0;
}

CANN_EXPORT aclError aclrtCtxGetSysParamOpt(int32_t opt, int64_t *value) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "value", value)) return code;
  std::shared_ptr<Context> context;
  if (const int32_t code = current(__func__, context)) return code;
  const std::lock_guard<std::mutex> hold(context->lock);
  return get_option(__func__, context->options, opt, value);
}

CANN_EXPORT aclError aclrtSetDeviceSatMode(int32_t mode) {
  if (const int32_t code = enter(__func__)) return code;
  std::shared_ptr<Context> context;
  if (const int32_t code = current(__func__, context)) return code;
  return mode == 0 || mode == 1 ? 0 : invalid(__func__, "mode is not 0 or 1");
}

CANN_EXPORT aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
  if (const int32_t code = enter(__func__)) return code;
  set_wait_limit(timeout);
  return 0;
}

CANN_EXPORT aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
  if (const int32_t code = enter(__func__)) return code;
  static_cast<void>(timeout);  // kernels of a simulator do not hang
  return 0;
}

}  // namespace sim
