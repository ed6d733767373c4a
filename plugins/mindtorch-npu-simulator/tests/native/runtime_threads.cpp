// Many threads use devices, streams, events and memory at once: right results, no finding, nothing
// left. Meant for the sanitizers above all.
#include <thread>
#include <vector>

#include "acl.h"

namespace {

constexpr size_t COUNT = 256;
constexpr size_t BYTES = COUNT * sizeof(int32_t);
constexpr int ROUNDS = 40;
constexpr int THREADS = 4;
constexpr int MARKS = 20000;
constexpr uint32_t SYNC_AND_TIME = 0x9;

struct Streams {
  aclrtStream first = nullptr;
  aclrtStream second = nullptr;
  aclrtEvent there = nullptr;
  aclrtEvent back = nullptr;

  Streams() {
    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    OK(aclrtCreateEventExWithFlag(&there, SYNC_AND_TIME));
    OK(aclrtCreateEventExWithFlag(&back, SYNC_AND_TIME));
  }

  ~Streams() {
    OK(aclrtDestroyEvent(there));
    OK(aclrtDestroyEvent(back));
    OK(aclrtDestroyStream(first));
    OK(aclrtDestroyStream(second));
  }
};

// Numbers go to the device, through kernels of two streams in turns, and back.
void one_round(const Streams &s, int32_t *pinned) {
  void *block = nullptr;
  OK(aclrtMalloc(&block, BYTES, 0));
  for (size_t i = 0; i < COUNT; ++i) pinned[i] = static_cast<int32_t>(i);
  OK(aclrtMemcpyAsync(block, BYTES, pinned, BYTES, 1, s.first));
  OK(sim::enqueue(s.first, adding(block, COUNT, 3)));
  OK(aclrtRecordEvent(s.there, s.first));
  OK(aclrtStreamWaitEvent(s.second, s.there));
  OK(sim::enqueue(s.second, adding(block, COUNT, 4)));
  OK(aclrtRecordEvent(s.back, s.second));
  OK(aclrtStreamWaitEvent(s.first, s.back));
  OK(aclrtMemcpyAsync(pinned, BYTES, block, BYTES, 2, s.first));
  OK(aclrtSynchronizeStream(s.first));
  for (size_t i = 0; i < COUNT; ++i) CHECK(pinned[i] == static_cast<int32_t>(i) + 7);
  float ms = -1;
  OK(aclrtEventElapsedTime(&ms, s.there, s.back));
  CHECK(ms >= 0);
  OK(aclrtFree(block));
}

void work(int device) {
  OK(aclrtSetDevice(device));
  void *pinned = nullptr;
  OK(aclrtMallocHost(&pinned, BYTES));
  {
    const Streams streams;
    for (int i = 0; i < ROUNDS; ++i) one_round(streams, static_cast<int32_t *>(pinned));
  }
  OK(aclrtFreeHost(pinned));
  OK(aclrtResetDevice(device));
}

void ask(const bool *over) {
  while (!__atomic_load_n(over, __ATOMIC_ACQUIRE)) {
    CHECK(simCounters() != nullptr);
    CHECK(simLog(1) != nullptr);
    std::this_thread::yield();
  }
}

// Whoever has seen the last event of a stream passed finds the stream idle.
void look_at_marks() {
  OK(aclrtSetDevice(0));
  {
    const Streams streams;
    for (int i = 0; i < MARKS; ++i) {
      OK(aclrtRecordEvent(streams.there, streams.first));
      int32_t passed = 0;
      while (passed == 0) OK(aclrtQueryEventStatus(streams.there, &passed));
      int32_t working = 1;
      OK(aclrtStreamQuery(streams.first, &working));
      CHECK(working == 0);
    }
  }
  OK(aclrtResetDevice(0));
}

}  // namespace

int main() {
  OK(aclInit(nullptr));
  look_at_marks();
  bool over = false;
  std::thread asking(ask, &over);
  std::vector<std::thread> threads;
  for (int i = 0; i < THREADS; ++i) threads.emplace_back(work, i % 2);
  for (std::thread &thread : threads) thread.join();
  __atomic_store_n(&over, true, __ATOMIC_RELEASE);
  asking.join();
  OK(aclFinalize());
  CHECK(no_findings());
  return 0;
}
