// The process: initialisation, versions, messages.
#include <atomic>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>

#include "core/calls.h"
#include "core/core.h"
#include "core/settings.h"
#include "core/watch.h"
#include "runtime/arguments.h"

namespace sim {
namespace {

struct Process {
  std::mutex lock;
  uint64_t references = 0;
  std::string config;
};

Process &process() {
  static Process &value = *new Process;
  return value;
}

// The text of a configuration, which must be a JSON object.
int32_t read_config(const char *path, std::string &text) {
  if (path == nullptr || *path == '\0') return 0;
  std::ifstream file(path);
  if (!file) return invalid("aclInit", "cannot read the configuration " + std::string(path));
  std::ostringstream all;
  all << file.rdbuf();
  text = all.str();
  const size_t first = text.find_first_not_of(" \t\r\n");
  const size_t last = text.find_last_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{' && text[last] == '}') return 0;
  return fail(code::PARSE_FILE, "aclInit: " + std::string(path) + " holds no JSON object");
}

}  // namespace

CANN_EXPORT aclError aclInit(const char *configPath) {
  if (const int32_t code = enter(__func__)) return code;
  std::string config;
  if (const int32_t code = read_config(configPath, config)) return code;
  Process &p = process();
  const std::lock_guard<std::mutex> hold(p.lock);
  if (p.references > 0 && config != p.config) {
    return invalid(__func__, "called again with another configuration");
  }
  p.config = config;
  if (++p.references == 1) return 0;
  return fail(code::REPEAT_INITIALIZE, "aclInit: initialised already");
}

CANN_EXPORT aclError aclFinalize() {
  if (const int32_t code = enter(__func__)) return code;
  Process &p = process();
  {
    const std::lock_guard<std::mutex> hold(p.lock);
    if (p.references == 0) return fail(code::REPEAT_FINALIZE, "aclFinalize: not initialised");
    p.references = 0;
  }
  report_leaks("aclFinalize");
  return 0;
}

CANN_EXPORT aclError aclFinalizeReference(uint64_t *refCount) {
  if (const int32_t code = enter(__func__)) return code;
  Process &p = process();
  uint64_t left = 0;
  {
    const std::lock_guard<std::mutex> hold(p.lock);
    if (p.references == 0) {
      return fail(code::REPEAT_FINALIZE, "aclFinalizeReference: not initialised");
    }
    left = --p.references;
  }
  if (refCount != nullptr) *refCount = left;
  if (left == 0) report_leaks("aclFinalizeReference");
  return 0;
}

CANN_EXPORT aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion,
                                     int32_t *patchVersion) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "majorVersion", majorVersion)) return code;
  if (const int32_t code = required(__func__, "minorVersion", minorVersion)) return code;
  if (const int32_t code = required(__func__, "patchVersion", patchVersion)) return code;
  *majorVersion = 1;  // of the interface of CANN 8.1.RC1
  *minorVersion = 13;
  *patchVersion = 0;
  return 0;
}

CANN_EXPORT const char *aclrtGetSocName() {
  if (enter(__func__) != 0) return nullptr;
  return settings().devices.empty() ? nullptr : settings().soc.c_str();
}

// Not entered: asking for a message must not be what fails.
CANN_EXPORT const char *aclGetRecentErrMsg() { return take_message(); }

CANN_EXPORT aclError aclrtPeekAtLastError(int32_t level) {
  return level == 0 ? last_error(false) : invalid(__func__, "level is not 0 (thread)");
}

CANN_EXPORT aclError aclrtGetLastError(int32_t level) {
  return level == 0 ? last_error(true) : invalid(__func__, "level is not 0 (thread)");
}

}  // namespace sim
