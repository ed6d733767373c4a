// Tasks that somebody holds back, so that it is certain what happens before they run.
#pragma once

#include <string_view>

namespace sim {

// Names separated by commas, `*` = every task: these wait before they start until they are named no
// longer. Replaces what was set; empty: none.
void hold_tasks(std::string_view names);

// Wait for so many milliseconds at most. True if nobody holds such tasks.
bool may_start(std::string_view name, int timeout);

}  // namespace sim
