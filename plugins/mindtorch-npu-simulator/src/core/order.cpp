#include "core/order.h"

#include <algorithm>
#include <set>

namespace sim {
namespace {

struct Agents {
  Clock host{1};
  std::vector<uint64_t> ticks{0};  // where the clock of each agent stands, also of retired ones
  std::set<size_t> free;
};

Agents &agents() {
  static Agents &value = *new Agents;
  return value;
}

bool before(const Access &access, const Clock &clock) {
  return access.agent < clock.size() && access.tick <= clock[access.agent];
}

std::string unordered(const std::vector<Access> &accesses, const Clock &clock) {
  for (const Access &a : accesses) {
    if (!before(a, clock)) return a.name;
  }
  return "";
}

}  // namespace

std::mutex &submission() {
  static std::mutex &value = *new std::mutex;
  return value;
}

void join(Clock &into, const Clock &other) {
  if (into.size() < other.size()) into.resize(other.size(), 0);
  for (size_t i = 0; i < other.size(); ++i) into[i] = std::max(into[i], other[i]);
}

Clock &host_clock() { return agents().host; }

size_t new_agent(Clock &clock) {
  Agents &a = agents();
  size_t agent = a.ticks.size();
  if (!a.free.empty()) {
    agent = *a.free.begin();
    a.free.erase(a.free.begin());
  } else {
    a.ticks.push_back(0);
  }
  clock = a.host;
  if (clock.size() <= agent) clock.resize(agent + 1, 0);
  clock[agent] = a.ticks[agent] + 1;
  return agent;
}

void retire(size_t agent, const Clock &clock) {
  Agents &a = agents();
  join(a.host, clock);
  a.ticks[agent] = clock[agent];
  a.free.insert(agent);
}

void History::split(uint64_t at) {
  auto next = pieces_.upper_bound(at);
  if (next == pieces_.begin()) return;
  const auto piece = std::prev(next);
  if (piece->first == at || piece->second.end <= at) return;
  Piece right = piece->second;
  piece->second.end = at;
  pieces_.emplace(at, std::move(right));
}

// Give every byte of the range a piece.
void History::fill(uint64_t begin, uint64_t end) {
  split(begin);
  split(end);
  uint64_t at = begin;
  auto next = pieces_.lower_bound(begin);
  while (at < end) {
    if (next != pieces_.end() && next->first == at) {
      at = next->second.end;
      ++next;
      continue;
    }
    const uint64_t stop = next == pieces_.end() ? end : std::min(end, next->first);
    Piece gap;
    gap.end = stop;
    pieces_.emplace(at, std::move(gap));
    at = stop;
  }
}

std::string History::touch(uint64_t begin, uint64_t end, bool written, size_t agent,
                           const Clock &clock, const std::string &name) {
  std::string other;
  fill(begin, end);
  const Access self{agent, clock[agent], name};
  const auto first = pieces_.lower_bound(begin);
  const auto last = pieces_.lower_bound(end);
  for (auto it = first; it != last; ++it) {
    Piece &piece = it->second;
    if (other.empty()) other = unordered(piece.writes, clock);
    if (written) {
      if (other.empty()) other = unordered(piece.reads, clock);
      continue;
    }
    const auto ordered = [&clock](const Access &a) { return before(a, clock); };
    auto &reads = piece.reads;
    reads.erase(std::remove_if(reads.begin(), reads.end(), ordered), reads.end());
    reads.push_back(self);
  }
  if (written) {
    pieces_.erase(first, last);
    Piece whole;
    whole.end = end;
    whole.writes.push_back(self);
    pieces_.emplace(begin, std::move(whole));
  }
  return other;
}

}  // namespace sim
