#include "core/stream.h"

#include <atomic>
#include <chrono>
#include <exception>

#include "core/calls.h"
#include "core/faults.h"
#include "core/gate.h"
#include "core/journal.h"

namespace sim {
namespace {

constexpr uint64_t CLOSING_US = 5000000;  // how long a closing stream waits for other processes

std::atomic<int32_t> stream_numbers{0};
thread_local const Stream *running = nullptr;  // whose tasks this thread runs

template <class Done>
bool wait_until(std::unique_lock<std::mutex> &hold, std::condition_variable &changed, int timeout,
                Done done) {
  if (timeout != FOREVER) {
    return changed.wait_for(hold, std::chrono::milliseconds(timeout), done);
  }
  changed.wait(hold, done);
  return true;
}

}  // namespace

// ---- records ------------------------------------------------------------------------------------

void Record::complete() {
  const std::lock_guard<std::mutex> hold(lock_);
  stamp_ = now_us();
  done_ = true;
  changed_.notify_all();
}

bool Record::done() const {
  const std::lock_guard<std::mutex> hold(lock_);
  return done_;
}

void Record::bind(const std::shared_ptr<Stream> &stream, const Clock &clock) {
  const std::lock_guard<std::mutex> hold(lock_);
  bound_ = true;
  stream_ = stream;
  clock_ = clock;
}

bool Record::bound() const {
  const std::lock_guard<std::mutex> hold(lock_);
  return bound_;
}

uint64_t Record::stamp() const {
  const std::lock_guard<std::mutex> hold(lock_);
  return stamp_;
}

Clock Record::clock() const {
  const std::lock_guard<std::mutex> hold(lock_);
  return clock_;
}

std::shared_ptr<Stream> Record::stream() const {
  const std::lock_guard<std::mutex> hold(lock_);
  return stream_.lock();
}

bool Record::wait(int timeout) const {
  std::unique_lock<std::mutex> hold(lock_);
  return wait_until(hold, changed_, timeout, [this] { return done_; });
}

// ---- streams ------------------------------------------------------------------------------------

Stream::Stream(uint64_t context_number, int physical, uint32_t flag_bits)
    : context(context_number), device(physical), flags(flag_bits), number(++stream_numbers) {
  const std::lock_guard<std::mutex> hold(submission());
  agent = new_agent(clock);
}

Stream::~Stream() {
  close(true);
  const std::lock_guard<std::mutex> hold(submission());
  retire(agent, clock);
}

void Stream::push(Queued queued) {
  const std::lock_guard<std::mutex> hold(lock_);
  if (closing_) {  // another thread destroys the stream at this moment
    for (const auto &block : queued.blocks) --block->uses;
    return;
  }
  if (!worker_.joinable()) worker_ = std::thread([this] { work(); });
  queue_.push_back(std::move(queued));
  ++pushed_;
  changed_.notify_all();
}

void Stream::work() {
  running = this;
  std::unique_lock<std::mutex> hold(lock_);
  for (;;) {
    changed_.wait(hold, [this] { return !queue_.empty() || closing_; });
    if (queue_.empty()) return;
    Queued queued = std::move(queue_.front());
    queue_.pop_front();
    const std::shared_ptr<Record> record = queued.record;
    const bool skip = !record && (dropping_ || (stops_ && failure_ != 0));
    hold.unlock();
    if (!skip) run(queued);
    for (const auto &block : queued.blocks) --block->uses;
    queued = Queued();  // what the task holds is gone before the stream counts as idle
    hold.lock();
    ++finished_;
    if (record) record->complete();  // under the lock: then the stream is seen idle as well
    changed_.notify_all();
  }
}

void Stream::run(Queued &queued) {
  const std::string name = queued.task.name;
  const auto id = static_cast<uint64_t>(number);
  note("run", name, id);
  const uint64_t us = delay_of_task(name);
  if (us > 0) std::this_thread::sleep_for(std::chrono::microseconds(us));
  while (!may_start(name, SLICE_MS) && !dropping()) {
  }
  const int32_t code = execute(queued);
  note("done", name, id, code);
}

int32_t Stream::execute(Queued &queued) {
  Task &task = queued.task;
  const std::string where = task.name + " on stream " + std::to_string(number);
  const int32_t injected = queued.record ? 0 : fault_of_task(task.name);
  if (injected != 0) {
    set_failure(injected, where + " failed: the code was injected");
    return injected;
  }
  for (const auto &block : queued.blocks) {
    if (block->live) continue;
    queued.doomed = true;
    report("use-after-free", where + " runs on " + describe(block->address));
  }
  if (queued.doomed) {
    set_failure(code::RT_AICORE_EXCEPTION, where + " uses memory that is not allocated");
    return code::RT_AICORE_EXCEPTION;
  }
  int32_t code = code::RT_AICPU_EXCEPTION;
  std::string text = "it failed";
  try {
    code = task.run ? task.run() : 0;
  } catch (const std::exception &error) {
    text = error.what();
  }
  const char *kept = take_message();  // what the task said by `fail`
  if (code != 0) set_failure(code, where + ": " + (kept != nullptr ? kept : text));
  return code;
}

void Stream::set_failure(int32_t code, const std::string &text) {
  const std::lock_guard<std::mutex> hold(lock_);
  if (failure_ != 0) return;  // the first one is the cause
  failure_ = code;
  failure_text_ = text;
}

int32_t Stream::synchronize(int timeout) {
  std::unique_lock<std::mutex> hold(lock_);
  const uint64_t wanted = pushed_;
  const auto reached = [this, wanted] { return finished_ >= wanted; };
  if (!wait_until(hold, changed_, timeout, reached)) return NOT_IN_TIME;
  hold.unlock();
  return take_failure();
}

bool Stream::idle() const {
  const std::lock_guard<std::mutex> hold(lock_);
  return finished_ == pushed_;
}

int32_t Stream::take_failure() {
  const std::lock_guard<std::mutex> hold(lock_);
  if (failure_ == 0) return 0;
  const int32_t code = fail(failure_, failure_text_);
  // A stream that stops keeps its failure: only its end, or the device's, removes it.
  if (!stops_ && !dropping_) failure_ = 0;
  return code;
}

int32_t Stream::kept_failure() const {
  const std::lock_guard<std::mutex> hold(lock_);
  const bool kept = failure_ != 0 && (stops_ || dropping_);
  return kept ? fail(failure_, failure_text_) : 0;
}

void Stream::stop_on_failure(bool stop) {
  const std::lock_guard<std::mutex> hold(lock_);
  stops_ = stop;
}

void Stream::abort(int32_t code) {
  const std::lock_guard<std::mutex> hold(lock_);
  dropping_ = true;
  failure_ = code;
  failure_text_ = "stream " + std::to_string(number) + " was aborted";
  changed_.notify_all();
}

bool Stream::dropping() const {
  const std::lock_guard<std::mutex> hold(lock_);
  return dropping_;
}

bool Stream::stopping() const {
  const std::lock_guard<std::mutex> hold(lock_);
  return dropping_ || (closing_ && now_us() - closing_since_ > CLOSING_US);
}

bool stopping() { return running != nullptr && running->stopping(); }

void Stream::close(bool drop) {
  std::thread worker;
  {
    const std::lock_guard<std::mutex> hold(lock_);
    if (!closing_) closing_since_ = now_us();
    closing_ = true;
    dropping_ = dropping_ || drop;
    worker = std::move(worker_);
    changed_.notify_all();
  }
  if (worker.joinable()) worker.join();
}

bool Stream::runs_here() const {
  const std::lock_guard<std::mutex> hold(lock_);
  return worker_.get_id() == std::this_thread::get_id();
}

Handles<Stream> &streams() {
  static Handles<Stream> &value = *new Handles<Stream>(0x51);
  return value;
}

Handles<Event> &events() {
  static Handles<Event> &value = *new Handles<Event>(0x52);
  return value;
}

}  // namespace sim
