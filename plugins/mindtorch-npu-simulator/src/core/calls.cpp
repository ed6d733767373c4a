#include "core/calls.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "core/core.h"
#include "core/faults.h"
#include "core/journal.h"
#include "core/json.h"

namespace sim {
namespace {

std::atomic<bool> is_fork{false};

struct Calls {
  std::mutex lock;
  std::map<std::string, uint64_t, std::less<>> counts;

  // A fork copies locks and none of the threads: every later call must be stopped before it waits.
  Calls() { pthread_atfork(nullptr, nullptr, [] { is_fork = true; }); }
};

Calls &calls() {
  static Calls &value = *new Calls;
  return value;
}

struct Message {
  std::string waiting;
  std::string given;
  int32_t code = 0;
};

Message &message() {
  thread_local Message value;
  return value;
}

void count(const char *symbol) {
  Calls &c = calls();
  const std::lock_guard<std::mutex> hold(c.lock);
  const auto found = c.counts.find(std::string_view(symbol));
  if (found != c.counts.end()) {
    ++found->second;
  } else {
    c.counts.emplace(symbol, 1);
  }
}

}  // namespace

bool forked() { return is_fork; }

int32_t enter(const char *symbol) {
  if (is_fork) {
    return fail(code::RT_DRV_INTERNAL_ERROR,
                std::string(symbol) + " was called in a forked process: devices do not survive a "
                                      "fork. Start the process by spawn, or use no device before.");
  }
  count(symbol);
  const uint64_t us = delay_of_call(symbol);
  if (us > 0) std::this_thread::sleep_for(std::chrono::microseconds(us));
  const int32_t injected = fault_of_call(symbol);
  note(injected == 0 ? "call" : "fault", symbol, 0, injected);
  if (injected == 0) return 0;
  return fail(injected, std::string(symbol) + " failed: the code was injected");
}

int32_t fail(int32_t code, const std::string &text) {
  message().waiting = "E" + std::to_string(code) + ": " + text;
  message().code = code;
  return code;
}

int32_t last_error(bool clear) {
  Message &m = message();
  const int32_t code = m.code;
  if (clear) m.code = 0;
  return code;
}

const char *take_message() {
  Message &m = message();
  if (m.waiting.empty()) return nullptr;
  m.given = std::move(m.waiting);
  m.waiting.clear();
  return m.given.c_str();
}

std::string calls_json() {
  Calls &c = calls();
  const std::lock_guard<std::mutex> hold(c.lock);
  std::string out = "{";
  for (const auto &[symbol, times] : c.counts) {
    if (out.size() > 1) out += ',';
    out += member(symbol, std::to_string(times));
  }
  return out + "}";
}

void clear_calls() {
  Calls &c = calls();
  const std::lock_guard<std::mutex> hold(c.lock);
  c.counts.clear();
}

}  // namespace sim
