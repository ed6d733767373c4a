// What goes wrong on streams: failing and throwing kernels, memory that is gone, aborts, streams
// that are destroyed while they wait, callbacks.
#include <atomic>
#include <stdexcept>
#include <thread>

#include "acl.h"

namespace {

constexpr size_t COUNT = 64;
constexpr size_t BYTES = COUNT * sizeof(int32_t);
constexpr uint32_t SYNC = 1;

aclrtStream new_stream() {
  aclrtStream stream = nullptr;
  OK(aclrtCreateStream(&stream));
  return stream;
}

sim::Task task(std::function<int32_t()> run) { return {"task", {}, std::move(run)}; }

// Holds a stream up until it is let go.
struct Gate {
  std::atomic<bool> open{false};

  sim::Task wait() {
    return task([this] {
      while (!open) std::this_thread::yield();
      return 0;
    });
  }
};

bool found(const char *kind) {
  return std::strstr(simFindings(0), ("\"" + std::string(kind) + "\"").c_str()) != nullptr;
}

void failures_are_delivered_once() {
  const aclrtStream stream = new_stream();
  OK(sim::enqueue(stream, task([] { return code::RT_AICPU_EXCEPTION; })));
  OK(sim::enqueue(stream, task([] { return code::RT_AICORE_EXCEPTION; })));
  CHECK(sim::drain(stream) == code::RT_AICPU_EXCEPTION);  // the first one is the cause
  OK(sim::drain(stream));
  OK(sim::enqueue(stream, task([]() -> int32_t { throw std::runtime_error("thrown"); })));
  CHECK(aclrtSynchronizeStream(stream) == code::RT_AICPU_EXCEPTION);
  CHECK(std::strstr(aclGetRecentErrMsg(), "thrown") != nullptr);
  OK(simInject("kernel:task:2=507015") == nullptr ? 0 : 1);
  for (int i = 0; i < 3; ++i) OK(sim::enqueue(stream, task([] { return 0; })));
  CHECK(sim::drain(stream) == code::RT_AICORE_EXCEPTION);
  OK(aclrtDestroyStream(stream));
  CHECK(no_findings());
}

void memory_may_be_gone() {
  const aclrtStream stream = new_stream();
  void *block = nullptr;
  OK(aclrtMalloc(&block, BYTES, 0));
  Gate gate;
  OK(sim::enqueue(stream, gate.wait()));
  OK(sim::enqueue(stream, adding(block, COUNT, 1)));
  OK(aclrtFree(block));
  CHECK(found("free-while-in-use"));
  gate.open = true;
  CHECK(sim::drain(stream) == code::RT_AICORE_EXCEPTION);
  CHECK(found("use-after-free"));
  simReset();
  OK(sim::enqueue(stream, adding(block, COUNT, 1)));  // gone already when it is queued
  CHECK(found("use-after-free"));
  CHECK(sim::drain(stream) == code::RT_AICORE_EXCEPTION);
  OK(aclrtDestroyStream(stream));
  simReset();
}

void reach_finds_whole_ranges_only() {
  void *block = nullptr;
  OK(aclrtMalloc(&block, BYTES, 0));
  const auto at = reinterpret_cast<uint64_t>(block);
  CHECK(sim::reach(at, BYTES) != nullptr);
  CHECK(sim::reach(at + 4, BYTES - 4) == sim::reach(at, 1) + 4);
  CHECK(sim::reach(at, BYTES + 1) == nullptr);
  CHECK(sim::reach(at + 4, BYTES) == nullptr);
  CHECK(sim::reach(at - 1, 4) == nullptr);
  CHECK(sim::reach(at, ~uint64_t{0}) == nullptr);
  OK(aclrtFree(block));
  CHECK(sim::reach(at, 1) == nullptr);
}

void streams_end_while_they_wait() {
  const aclrtStream first = new_stream();
  const aclrtStream second = new_stream();
  aclrtEvent event = nullptr;
  OK(aclrtCreateEventExWithFlag(&event, SYNC));
  Gate gate;
  OK(sim::enqueue(first, gate.wait()));
  OK(aclrtRecordEvent(event, first));
  OK(aclrtStreamWaitEvent(second, event));
  OK(sim::enqueue(second, task([] { return 0; })));
  OK(aclrtDestroyEvent(event));
  OK(aclrtDestroyStreamForce(second));
  gate.open = true;
  OK(aclrtStreamAbort(first));
  CHECK(aclrtSynchronizeStream(first) == code::RT_STREAM_ABORT);
  OK(aclrtDestroyStream(first));
}

void callbacks_run_in_order() {
  const aclrtStream stream = new_stream();
  int32_t value = 0;
  const auto twice = [](void *argument) { *static_cast<int32_t *>(argument) *= 2; };
  OK(sim::enqueue(stream, task([&value] { return value = 5, 0; })));
  OK(aclrtLaunchHostFunc(stream, twice, &value));
  OK(aclrtSynchronizeStream(stream));
  CHECK(value == 10);
  OK(aclrtDestroyStream(stream));
}

void enqueue_needs_a_context() {
  std::thread([] {
    CHECK(sim::enqueue(nullptr, task([] { return 0; })) == code::RT_CONTEXT_NULL);
    CHECK(sim::drain(nullptr) == code::RT_CONTEXT_NULL);
  }).join();
  OK(sim::enqueue(nullptr, task([] { return 0; })));
  OK(sim::drain(nullptr));
}

}  // namespace

int main() {
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  failures_are_delivered_once();
  memory_may_be_gone();
  reach_finds_whole_ranges_only();
  streams_end_while_they_wait();
  callbacks_run_in_order();
  enqueue_needs_a_context();
  CHECK(no_findings());
  OK(aclrtResetDevice(0));
  OK(aclFinalize());
  CHECK(no_findings());
  return 0;
}
