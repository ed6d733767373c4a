// Checks that many functions of the runtime make.
#pragma once

#include <string>

#include "core/core.h"

namespace sim {

// INVALID_PARAM, with a text, for a pointer that must not be NULL.
inline int32_t required(const char *symbol, const char *parameter, const void *pointer) {
  if (pointer != nullptr) return 0;
  return fail(code::INVALID_PARAM, std::string(symbol) + ": " + parameter + " is NULL");
}

inline int32_t invalid(const char *symbol, const std::string &why) {
  return fail(code::INVALID_PARAM, std::string(symbol) + ": " + why);
}

inline int32_t refused(const char *symbol, const std::string &why) {
  return fail(code::RT_PARAM_INVALID, std::string(symbol) + ": " + why);
}

// A timeout in milliseconds, -1 for none.
inline int32_t check_timeout(const char *symbol, int32_t timeout) {
  if (timeout >= -1) return 0;
  return refused(symbol, "timeout " + std::to_string(timeout) + " is below -1");
}

}  // namespace sim
