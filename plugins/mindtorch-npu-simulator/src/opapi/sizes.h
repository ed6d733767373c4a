// Numbers in arguments that sizes are made of.
#pragma once

#include "operator.h"

namespace sim {

// Refuses what no size of a tensor in memory can come from, so that sums and products of two such
// numbers do not overflow.
inline void size_is_possible(const Call &call, int64_t number, const std::string &name) {
  call.require(-INT32_MAX <= number && number <= INT32_MAX, name + " is too large");
}

}  // namespace sim
