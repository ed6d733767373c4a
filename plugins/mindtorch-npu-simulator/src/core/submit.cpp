// Queuing: the memory that tasks use is checked, and clocks move (order.h).
#include <atomic>

#include "core/context.h"
#include "core/journal.h"
#include "core/stream.h"

namespace sim {
namespace {

std::atomic<uint32_t> wait_seconds{0};
std::atomic<uint64_t> launches{0};
std::atomic<uint64_t> copies{0};
std::atomic<uint64_t> synchronizations{0};

std::string title(const std::string &name, const Stream &stream) {
  return name + " on stream " + std::to_string(stream.number);
}

const char *verb(const Range &range) { return range.written ? " writes " : " reads "; }

// The block of a range, nullptr (and a finding) if the stream must not use it.
std::shared_ptr<Block> usable(const Stream &stream, const std::string &name, const Range &range) {
  auto block = block_at(range.address, range.bytes);
  if (!block) {
    report(kind_of_miss(range.address), title(name, stream) + verb(range) +
                                            describe(range.address, range.bytes));
    return nullptr;
  }
  if (block->device == ON_HOST || reachable(stream.device, block->device)) return block;
  report("wrong-device", title(name, stream) + " of device " + std::to_string(stream.device) +
                             " uses " + describe(range.address, range.bytes));
  return nullptr;
}

std::string race(const std::string &now, const std::string &then, const Range &range) {
  return now + verb(range) + describe(range.address, range.bytes) + ", which " + then +
         " uses in no order with it";
}

// Wait in a stream, in slices so that the stream can be aborted.
int32_t wait_in(const Stream *stream, const std::shared_ptr<Record> &record) {
  const uint64_t start = now_us();
  while (!record->wait(SLICE_MS)) {
    if (stream->dropping()) return 0;
    const uint64_t limit = wait_seconds;
    if (limit > 0 && now_us() - start > limit * 1000000) return code::RT_WAIT_TIMEOUT;
  }
  return 0;
}

}  // namespace

void submit(const std::shared_ptr<Stream> &stream, Task task) {
  Queued queued;
  std::vector<Range> uses;
  for (const Range &range : task.uses) {
    if (range.bytes == 0) continue;
    auto block = usable(*stream, task.name, range);
    queued.doomed = queued.doomed || !block;
    if (!block) continue;
    queued.blocks.push_back(std::move(block));
    uses.push_back(range);
  }
  std::vector<std::string> races;
  note("queue", task.name, static_cast<uint64_t>(stream->number));
  const std::string self = title(task.name, *stream);
  {
    const std::lock_guard<std::mutex> hold(submission());
    join(stream->clock, host_clock());
    ++stream->clock[stream->agent];
    for (size_t i = 0; i < uses.size(); ++i) {
      Block &block = *queued.blocks[i];
      ++block.uses;
      block.user = self;
      const uint64_t begin = uses[i].address - block.address;
      const std::string other = block.history.touch(begin, begin + uses[i].bytes, uses[i].written,
                                                    stream->agent, stream->clock, self);
      if (!other.empty()) races.push_back(race(self, other, uses[i]));
    }
    queued.task = std::move(task);
    stream->push(std::move(queued));
  }
  for (const std::string &text : races) report("race", text);
}

void mark(const std::shared_ptr<Stream> &stream, const std::shared_ptr<Record> &record) {
  const std::lock_guard<std::mutex> hold(submission());
  join(stream->clock, host_clock());
  record->bind(stream, stream->clock);
  Queued queued;
  queued.task = {"aclrtRecordEvent", {}, nullptr};
  queued.record = record;
  stream->push(std::move(queued));
}

void record(const std::shared_ptr<Stream> &stream, Event &event) {
  std::shared_ptr<Record> next;
  {
    const std::lock_guard<std::mutex> hold(event.lock);
    const bool awaited = event.record && !event.record->bound();
    if (!awaited) event.record = std::make_shared<Record>();
    next = event.record;
  }
  mark(stream, next);
}

void wait_for(const std::shared_ptr<Stream> &stream, const std::shared_ptr<Record> &record,
              const std::shared_ptr<void> &token) {
  const std::lock_guard<std::mutex> hold(submission());
  join(stream->clock, record->clock());
  Queued queued;
  const Stream *self = stream.get();  // the queue is part of the stream: it lives as long
  queued.task = {
      "aclrtStreamWaitEvent", {}, [self, record, token] { return wait_in(self, record); }};
  stream->push(std::move(queued));
}

void host_saw(const Clock &clock) {
  const std::lock_guard<std::mutex> hold(submission());
  join(host_clock(), clock);
}

void host_touches(const char *symbol, const std::vector<Range> &ranges) {
  std::vector<std::string> races;
  {
    const std::lock_guard<std::mutex> hold(submission());
    Clock &clock = host_clock();
    ++clock[HOST];
    for (const Range &range : ranges) {
      const auto block = block_at(range.address, range.bytes);
      if (!block || range.bytes == 0) continue;
      const uint64_t begin = range.address - block->address;
      const std::string other =
          block->history.touch(begin, begin + range.bytes, range.written, HOST, clock, symbol);
      if (!other.empty()) races.push_back(race(symbol, other, range));
    }
  }
  for (const std::string &text : races) report("race", text);
}

int32_t finish(const std::shared_ptr<Stream> &stream, int timeout) {
  Clock clock;
  {
    const std::lock_guard<std::mutex> hold(submission());
    clock = stream->clock;
  }
  const int32_t code = stream->synchronize(timeout);
  if (code != NOT_IN_TIME) host_saw(clock);
  return code;
}

int32_t enqueue(aclrtStream handle, Task task) {
  std::shared_ptr<Stream> stream;
  if (const int32_t code = stream_for_work(task.name.c_str(), handle, stream)) return code;
  ++launches;
  submit(stream, std::move(task));
  return 0;
}

int32_t drain(aclrtStream handle) {
  std::shared_ptr<Stream> stream;
  if (const int32_t code = any_stream("a synchronizing operator", handle, stream)) return code;
  count_synchronization("operator");
  return finish(stream, FOREVER);
}

void set_wait_limit(uint32_t seconds) { wait_seconds = seconds; }

Totals totals() { return {launches, copies, synchronizations}; }

void clear_totals() {
  launches = 0;
  copies = 0;
  synchronizations = 0;
}

void count_copy() { ++copies; }

void count_synchronization(const char *symbol) {
  ++synchronizations;
  note("sync", symbol);
}

}  // namespace sim
