#include "core/trap.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "core/core.h"
#include "core/memory.h"

namespace sim {
namespace {

struct sigaction previous;

// To who handled faults before, or the default: the instruction runs again and ends the process.
void pass_on(int signal, siginfo_t *info, void *context) {
  if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    ::signal(signal, SIG_DFL);
  }
}

// The process is lost here, so the text may be made by means that a handler should not use.
void on_fault(int signal, siginfo_t *info, void *context) {
  static thread_local bool inside = false;
  const auto address = reinterpret_cast<uint64_t>(info->si_addr);
  if (!inside) {
    inside = true;
    const bool freed = std::strcmp(kind_of_miss(address), "use-after-free") == 0;
    if (on_device(address)) {
      report("host-access", "the host touches device memory: " + describe(address) +
                                ". Copy it by aclrtMemcpy, or launch a kernel.");
    } else if (freed) {
      report("use-after-free", "the host touches " + describe(address));
    }
  }
  pass_on(signal, info, context);
}

}  // namespace

void watch_accesses() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previous);
  });
}

}  // namespace sim
