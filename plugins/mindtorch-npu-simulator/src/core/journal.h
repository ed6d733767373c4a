// The event log: what was called, queued and run, in the order in which it happened.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sim {

// Kinds of events. `call`: a function was entered; `queue`: a task was queued; `run` and `done`: a
// stream starts and ends a task; `sync`: the host waits for a device; `fault`: a code was injected;
// `finding`: the watcher reported.
// `stream` is a stream's number, 0 where there is none; `code` what the event ended with.
void note(const char *kind, std::string_view name, uint64_t stream = 0, int32_t code = 0);

// All events that are still kept (the last 100,000), as a JSON array.
std::string journal_json(bool clear);
void clear_journal();

// Microseconds of a clock that never goes back.
uint64_t now_us();

}  // namespace sim
