#include "core/journal.h"

#include <pthread.h>

#include <chrono>
#include <deque>
#include <fstream>
#include <mutex>
#include <sstream>

#include "core/json.h"
#include "core/settings.h"

namespace sim {
namespace {

constexpr size_t KEPT = 100000;

struct Event {
  uint64_t us;
  uint64_t thread;
  const char *kind;
  std::string name;
  uint64_t stream;
  int32_t code;
};

struct Journal {
  std::mutex lock;
  std::deque<Event> events;
  std::ofstream file;

  Journal() {
    if (!settings().log.empty()) file.open(settings().log, std::ios::app);
  }
};

Journal &journal() {
  static Journal &value = *new Journal;
  return value;
}

void write(std::ostream &out, const Event &event) {
  out << "{\"us\":" << event.us << ",\"thread\":" << event.thread
      << ",\"kind\":" << quoted(event.kind) << ",\"name\":" << quoted(event.name)
      << ",\"stream\":" << event.stream << ",\"code\":" << event.code << '}';
}

}  // namespace

uint64_t now_us() {
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  using std::chrono::steady_clock;
  const auto since = steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(duration_cast<microseconds>(since).count());
}

void note(const char *kind, std::string_view name, uint64_t stream, int32_t code) {
  Journal &j = journal();
  const auto thread = static_cast<uint64_t>(pthread_self());
  const std::lock_guard<std::mutex> hold(j.lock);
  j.events.push_back({now_us(), thread, kind, std::string(name), stream, code});
  if (j.file.is_open()) {
    write(j.file, j.events.back());
    j.file << std::endl;  // flushed: the log should outlive a crash of the program
  }
  if (j.events.size() > KEPT) j.events.pop_front();
}

std::string journal_json(bool clear) {
  Journal &j = journal();
  std::ostringstream out;
  const std::lock_guard<std::mutex> hold(j.lock);
  out << '[';
  for (size_t i = 0; i < j.events.size(); ++i) {
    if (i > 0) out << ',';
    write(out, j.events[i]);
  }
  out << ']';
  if (clear) j.events.clear();
  return out.str();
}

void clear_journal() {
  Journal &j = journal();
  const std::lock_guard<std::mutex> hold(j.lock);
  j.events.clear();
}

}  // namespace sim
