// What the watcher keeps: findings and the numbers of live objects (core.h: report, made, gone).
#pragma once

#include <cstdint>
#include <string>

namespace sim {

// `[{"kind":"...","text":"..."},...]`
std::string findings_json(bool clear);
uint64_t finding_count();
void clear_findings();

// `{"tensor":{"live":0,"made":12},...}`
std::string objects_json();

// Report what has not been destroyed, by kind, at a moment when nothing should be left.
void report_leaks(const char *moment);

}  // namespace sim
