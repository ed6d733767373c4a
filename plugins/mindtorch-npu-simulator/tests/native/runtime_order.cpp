// Races between streams: more cases than a program would make, against a simple model.
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "acl.h"

namespace {

constexpr size_t SPAN = 48;
constexpr size_t STREAMS = 3;
constexpr int RUNS = 200;
constexpr int STEPS = 50;

// What the history should answer, byte by byte and without any cleverness: all accesses are kept,
// with the set of accesses that each stream has seen.
struct Model {
  struct Access {
    size_t stream;
    size_t begin;
    size_t end;
    bool written;
  };

  std::vector<Access> all;
  std::vector<std::set<size_t>> seen{STREAMS};

  bool races(const Access &now) const {
    for (size_t i = 0; i < all.size(); ++i) {
      const Access &then = all[i];
      const bool meet = then.begin < now.end && now.begin < then.end;
      if (meet && (then.written || now.written) && seen[now.stream].count(i) == 0) return true;
    }
    return false;
  }

  void add(const Access &now) {
    seen[now.stream].insert(all.size());
    all.push_back(now);
  }

  void wait(size_t stream, const std::set<size_t> &recorded) {
    seen[stream].insert(recorded.begin(), recorded.end());
  }
};

// Random accesses of three streams that wait for each other at random: a race is found when, and
// only when, the model has one. The same accesses run on the real streams.
class Comparison {
 public:
  explicit Comparison(uint32_t seed) : random_(seed) {
    OK(aclrtMalloc(&block_, SPAN, 0));
    for (aclrtStream &stream : streams_) OK(aclrtCreateStream(&stream));
    OK(aclrtCreateEventExWithFlag(&event_, 1));
  }

  ~Comparison() {
    OK(aclrtSynchronizeDevice());
    OK(aclrtDestroyEvent(event_));
    for (aclrtStream stream : streams_) OK(aclrtDestroyStream(stream));
    OK(aclrtFree(block_));
  }

  int run() {
    for (int i = 0; i < STEPS && races_ == 0; ++i) {
      if (random_() % 10 == 0) {
        access();
      } else {
        order();
      }
    }
    return races_;
  }

 private:
  size_t any_stream() { return random_() % STREAMS; }

  void order() {
    const size_t from = any_stream();
    const size_t to = any_stream();
    OK(aclrtRecordEvent(event_, streams_[from]));
    OK(aclrtStreamWaitEvent(streams_[to], event_));
    const std::set<size_t> recorded = model_.seen[from];
    model_.wait(to, recorded);
  }

  void access() {
    const size_t begin = random_() % SPAN;
    const size_t end = begin + 1 + random_() % (SPAN - begin);
    const Model::Access now{any_stream(), begin, end, random_() % 2 == 0};
    const auto at = reinterpret_cast<uint64_t>(block_) + begin;
    OK(sim::enqueue(streams_[now.stream], {"access", {{at, end - begin, now.written}}, nullptr}));
    const bool found = !no_findings();
    CHECK(found == model_.races(now));
    races_ += found ? 1 : 0;  // what follows a race says little: the run ends
    model_.add(now);
  }

  std::mt19937 random_;
  void *block_ = nullptr;
  aclrtStream streams_[STREAMS] = {};
  aclrtEvent event_ = nullptr;
  Model model_;
  int races_ = 0;
};

}  // namespace

int main() {
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  int with = 0;
  int without = 0;
  for (uint32_t seed = 0; seed < RUNS; ++seed) {
    int races = 0;
    {
      Comparison comparison(seed);
      races = comparison.run();
      simReset();
    }
    (races > 0 ? with : without) += 1;
    CHECK(no_findings());
  }
  CHECK(with > 20);  // both kinds of runs came up
  CHECK(without > 20);
  OK(aclrtResetDevice(0));
  OK(aclFinalize());
  CHECK(no_findings());
  return 0;
}
