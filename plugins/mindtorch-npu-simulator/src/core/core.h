// Services that all libraries of the simulated toolkit share. They live in libascendcl.
//
// A simulated device is an arena of its own: the addresses that `aclrtMalloc` gives are mapped
// without access, so that the host faults where it would read garbage from a card, and simulated
// kernels reach the same bytes through a second mapping (`reach`). A stream is a thread that runs
// tasks in order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cann_abi.h"

#define SIM_API __attribute__((visibility("default")))

namespace sim {

// ---- calls --------------------------------------------------------------------------------------

// Every exported function calls this first: it counts and logs the call, waits where a latency was
// asked for, and gives the code that was injected for this call of the symbol, 0 if none was. The
// function returns a code other than 0 at once, without any effect.
SIM_API int32_t enter(const char *symbol);

// Keep a text for aclGetRecentErrMsg of this thread; returns the code.
SIM_API int32_t fail(int32_t code, const std::string &text);

// ---- the watcher --------------------------------------------------------------------------------

// A finding: something that a program must not do and that a card would not notice. `kind` is a
// word such as "use-after-free"; the text names the operation, and the block or the object.
SIM_API void report(const char *kind, const std::string &text);

// Objects that must be destroyed, counted by kind ("tensor", "scalar", "executor", ...), so that
// what leaks can be told. `made` gives a serial number for texts.
SIM_API uint64_t made(const char *kind);
SIM_API void gone(const char *kind);

// ---- memory -------------------------------------------------------------------------------------

// A piece of device memory that a task reads or writes.
struct Range {
  uint64_t address = 0;
  uint64_t bytes = 0;
  bool written = false;
};

// Where simulated kernels find device memory, nullptr unless the range lies in one live block.
// Pinned host memory (aclrtMallocHost) is found too.
SIM_API char *reach(uint64_t address, uint64_t bytes);

// ---- streams ------------------------------------------------------------------------------------

struct Task {
  std::string name;              // the operation, for reports and the log
  std::vector<Range> uses;       // checked when it is queued and again when it runs
  std::function<int32_t()> run;  // on the stream's thread; other than 0 is the stream's failure
};

// Queue a task; nullptr is the default stream of the thread's current context. While it waits or
// runs its blocks count as in use: freeing one is a finding, and a block that is gone when it runs
// is one too, after which the task is not run and the stream fails with RT_AICORE_EXCEPTION.
// Returns 0, RT_CONTEXT_NULL or RT_STREAM_CONTEXT.
SIM_API int32_t enqueue(aclrtStream stream, Task task);

// Wait for all tasks of a stream; gives the stream's failure and clears it.
SIM_API int32_t drain(aclrtStream stream);

// Within a task that waits for something else than its stream: whether its stream is being aborted,
// or has been closing for longer than such a task may hold that up. The task should end then.
SIM_API bool stopping();

// ---- the machine --------------------------------------------------------------------------------

// The physical number of the current context's device; RT_CONTEXT_NULL if the thread has none.
SIM_API int32_t current_device(const char *symbol, int &device);
// That of a device as the program numbers it; RT_INVALID_DEVICEID if there is none.
SIM_API int32_t physical_device(const char *symbol, int32_t id, int &device);

// What aclrtGetSocName says.
SIM_API const std::string &processor_name();

}  // namespace sim
