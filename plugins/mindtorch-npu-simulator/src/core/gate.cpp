#include "core/gate.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>

namespace sim {
namespace {

struct Gate {
  std::mutex lock;
  std::condition_variable changed;
  std::set<std::string, std::less<>> held;
  std::atomic<bool> any{false};  // spares the lock on the usual path

  bool holds(std::string_view name) const {
    return held.count(name) > 0 || held.count(std::string_view("*")) > 0;
  }
};

Gate &gate() {
  static Gate &value = *new Gate;
  return value;
}

std::set<std::string, std::less<>> split(std::string_view names) {
  std::set<std::string, std::less<>> result;
  while (!names.empty()) {
    const size_t comma = names.find(',');
    if (comma != 0) result.emplace(names.substr(0, comma));
    names = comma == std::string_view::npos ? "" : names.substr(comma + 1);
  }
  return result;
}

}  // namespace

void hold_tasks(std::string_view names) {
  Gate &g = gate();
  const std::lock_guard<std::mutex> hold(g.lock);
  g.held = split(names);
  g.any = !g.held.empty();
  g.changed.notify_all();
}

bool may_start(std::string_view name, int timeout) {
  Gate &g = gate();
  if (!g.any.load(std::memory_order_relaxed)) return true;
  std::unique_lock<std::mutex> hold(g.lock);
  return g.changed.wait_for(hold, std::chrono::milliseconds(timeout),
                            [&g, name] { return !g.holds(name); });
}

}  // namespace sim
