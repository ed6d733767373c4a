// Which accesses to device memory are ordered: a vector clock for the host and one for each stream.
//
// Order follows from how work is queued, not from when it happens to run, so that the answer is the
// same in every run. All functions want the caller to hold `submission()`.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace sim {

// The lock that makes queuing a task one step: clocks, use counts and the queue move together.
std::mutex &submission();

// One clock per agent; agent 0 is the host. All threads of the host are taken as ordered: they
// synchronise by means (locks, queues) that are not seen from here.
using Clock = std::vector<uint64_t>;
constexpr size_t HOST = 0;

void join(Clock &into, const Clock &other);
Clock &host_clock();

// An agent number for a new stream; given back when the stream is destroyed, after which the host
// counts as having waited for it.
size_t new_agent(Clock &clock);
void retire(size_t agent, const Clock &clock);

// Somebody's access: enough to tell whether another one came after it, and to name it.
struct Access {
  size_t agent = HOST;
  uint64_t tick = 0;
  std::string name;
};

// The last accesses to the bytes of one block.
class History {
 public:
  // Remember an access to [begin, end) at the agent's current tick of `clock`. Gives the name of an
  // access that is not ordered with it (one of both writes), empty if there is none.
  std::string touch(uint64_t begin, uint64_t end, bool written, size_t agent, const Clock &clock,
                    const std::string &name);

 private:
  struct Piece {
    uint64_t end = 0;
    std::vector<Access> writes;  // at most one
    std::vector<Access> reads;   // none ordered before another
  };

  void split(uint64_t at);
  void fill(uint64_t begin, uint64_t end);

  std::map<uint64_t, Piece> pieces_;
};

}  // namespace sim
