#include "core/watch.h"

#include <unistd.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "core/core.h"
#include "core/journal.h"
#include "core/json.h"
#include "core/settings.h"

namespace sim {
namespace {

constexpr size_t KEPT = 10000;

struct Finding {
  std::string kind;
  std::string text;
};

struct Count {
  uint64_t live = 0;
  uint64_t made = 0;
};

struct Watch {
  std::mutex lock;
  std::vector<Finding> findings;
  uint64_t found = 0;
  std::map<std::string, Count, std::less<>> objects;
};

Watch &watch() {
  static Watch &value = *new Watch;
  return value;
}

void print(const std::string &line) {
  size_t from = 0;
  while (from < line.size()) {
    const ssize_t n = ::write(STDERR_FILENO, line.data() + from, line.size() - from);
    if (n <= 0) return;
    from += static_cast<size_t>(n);
  }
}

}  // namespace

void report(const char *kind, const std::string &text) {
  print("npu-simulator: finding: " + std::string(kind) + ": " + text + "\n");
  note("finding", std::string(kind) + ": " + text);
  {
    Watch &w = watch();
    const std::lock_guard<std::mutex> hold(w.lock);
    ++w.found;
    if (w.findings.size() < KEPT) w.findings.push_back({kind, text});
  }
  if (settings().strict) std::abort();
}

uint64_t made(const char *kind) {
  Watch &w = watch();
  const std::lock_guard<std::mutex> hold(w.lock);
  Count &count = w.objects[kind];
  ++count.live;
  return ++count.made;
}

void gone(const char *kind) {
  Watch &w = watch();
  const std::lock_guard<std::mutex> hold(w.lock);
  Count &count = w.objects[kind];
  if (count.live > 0) --count.live;
}

std::string findings_json(bool clear) {
  Watch &w = watch();
  const std::lock_guard<std::mutex> hold(w.lock);
  std::string out = "[";
  for (const Finding &f : w.findings) {
    if (out.size() > 1) out += ',';
    out += "{" + member("kind", quoted(f.kind)) + "," + member("text", quoted(f.text)) + "}";
  }
  if (clear) w.findings.clear();
  return out + "]";
}

uint64_t finding_count() {
  Watch &w = watch();
  const std::lock_guard<std::mutex> hold(w.lock);
  return w.found;
}

void clear_findings() {
  Watch &w = watch();
  const std::lock_guard<std::mutex> hold(w.lock);
  w.findings.clear();
  w.found = 0;
}

std::string objects_json() {
  Watch &w = watch();
  const std::lock_guard<std::mutex> hold(w.lock);
  std::string out = "{";
  for (const auto &[kind, count] : w.objects) {
    if (out.size() > 1) out += ',';
    out += member(kind, "{" + member("live", std::to_string(count.live)) + "," +
                            member("made", std::to_string(count.made)) + "}");
  }
  return out + "}";
}

void report_leaks(const char *moment) {
  std::string list;
  {
    Watch &w = watch();
    const std::lock_guard<std::mutex> hold(w.lock);
    for (const auto &[kind, count] : w.objects) {
      if (count.live == 0 || kind == "context") continue;
      list += (list.empty() ? "" : ", ") + std::to_string(count.live) + " x " + kind;
    }
  }
  if (!list.empty()) report("leak", "still alive at " + std::string(moment) + ": " + list);
}

}  // namespace sim
