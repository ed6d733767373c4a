// Counting calls and the texts of errors.
#pragma once

#include <cstdint>
#include <string>

namespace sim {

// `{"aclrtMalloc":3,...}`
std::string calls_json();
void clear_calls();

// The text kept for this thread, nullptr if none; it is valid until the next call of this function.
const char *take_message();

// The code of the thread's last failure, 0 if none since it was cleared.
int32_t last_error(bool clear);

// Whether this process is a fork of the one that uses the devices: nothing works in it.
bool forked();

}  // namespace sim
