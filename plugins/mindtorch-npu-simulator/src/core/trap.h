// Accesses of the host to memory that is not its own.
#pragma once

namespace sim {

// Install the handler that names the device memory which the host touched; once per process.
void watch_accesses();

}  // namespace sim
