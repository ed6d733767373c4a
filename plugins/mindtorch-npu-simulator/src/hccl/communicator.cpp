#include "hccl/communicator.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>
#include <vector>

namespace sim::hccl {
namespace {

using Time = std::chrono::steady_clock;

constexpr int32_t AICPU_TIMEOUT = 507017;
constexpr auto SLICE = std::chrono::milliseconds(5);
constexpr auto LOOK = std::chrono::milliseconds(20);  // how often it is looked who is alive
constexpr int BARRIERS_APART = 40;  // bits: phases after a resumption are above all before

uint64_t pair(uint32_t from, uint32_t to) { return (uint64_t{from} << 32) | to; }

// Seconds, as a variable says them; 0 means for ever.
uint64_t seconds(const char *text, uint64_t otherwise) {
  if (text == nullptr || *text == '\0') return otherwise;
  char *end = nullptr;
  const unsigned long long value = std::strtoull(text, &end, 10);
  return *end == '\0' ? value : otherwise;
}

uint64_t connect_seconds() { return seconds(std::getenv("HCCL_CONNECT_TIMEOUT"), 120); }
uint64_t execute_seconds() { return seconds(std::getenv("HCCL_EXEC_TIMEOUT"), 1836); }

bool over(Time::time_point began, uint64_t seconds) {
  return seconds > 0 && Time::now() - began > std::chrono::seconds(seconds);
}

}  // namespace

Communicator::Communicator(std::shared_ptr<Segment> shared, uint32_t own, int physical,
                           std::string called)
    : segment(std::move(shared)),
      rank(own),
      size(segment->size()),
      device(physical),
      name(std::move(called)) {}

HcclResult Communicator::sit(const char *symbol) {
  Seat &seat = segment->seat(rank);
  uint32_t nobody = 0;
  if (!seat.taken.compare_exchange_strong(nobody, static_cast<uint32_t>(::getpid()))) {
    return refused(HCCL_E_PARA, symbol, "rank " + std::to_string(rank) + " has joined already");
  }
  segment->hold(rank);
  seat.device = device;
  seat.joined = 1;
  segment->ring();
  return HCCL_SUCCESS;
}

HcclResult Communicator::await_all(const char *symbol) {
  const uint64_t limit = connect_seconds();
  const auto began = Time::now();
  for (;;) {
    const uint32_t bell = segment->bell();
    std::string missing;
    for (uint32_t r = 0; r < size; ++r) {
      if (segment->seat(r).joined == 0) missing += " " + std::to_string(r);
    }
    if (missing.empty()) break;
    if (over(began, limit)) {
      return refused(HCCL_E_TIMEOUT, symbol, "after " + std::to_string(limit) +
                                                 " s (HCCL_CONNECT_TIMEOUT) these ranks have not "
                                                 "come:" + missing);
    }
    segment->rest(bell);
  }
  for (uint32_t a = 0; a < size; ++a) {
    for (uint32_t b = a + 1; b < size; ++b) {
      const int shared = segment->seat(a).device;
      if (shared != segment->seat(b).device) continue;
      return refused(HCCL_E_PARA, symbol,
                     "ranks " + std::to_string(a) + " and " + std::to_string(b) +
                         " both use device " + std::to_string(shared) +
                         ": each needs one of its own (NPU_SIMULATOR_DEVICES says how many there "
                         "are)");
    }
  }
  return HCCL_SUCCESS;
}

bool Communicator::leave() {
  bool clean;
  {
    const std::lock_guard<std::mutex> hold(lock_);
    std::string text;
    clean = queued_ == 0 || own_failure_ != 0 || segment->failure(text) != 0;
    left_ = true;
    changed_.notify_all();
  }
  segment->seat(rank).left = 1;
  segment->ring();
  return clean;
}

// ---- queuing ---------------------------------------------------------------------------------------

uint64_t Communicator::next_call() {
  const std::lock_guard<std::mutex> hold(lock_);
  ++queued_;
  return ++calls_;
}

uint64_t Communicator::next_message(uint32_t from, uint32_t to) {
  const std::lock_guard<std::mutex> hold(lock_);
  ++queued_;
  return ++messages_[pair(from, to)];
}

HcclResult Communicator::ended(std::string &text) {
  const std::lock_guard<std::mutex> hold(lock_);
  if (left_) {
    text = "the communicator was destroyed";
    return HCCL_E_PTR;
  }
  if (suspended_) {
    text = "the communicator is suspended";
    return HCCL_E_SUSPENDING;
  }
  const HcclResult shared = segment->failure(text);
  if (shared != 0 && own_failure_ == 0) own_failure_ = shared;
  return shared;
}

HcclResult Communicator::usable(const char *symbol) {
  std::string text;
  const HcclResult code = ended(text);
  return code == 0 ? 0 : refused(code, symbol, text);
}

// ---- within tasks ----------------------------------------------------------------------------------

std::string Communicator::gone(const std::function<bool(uint32_t)> &has_come) {
  for (uint32_t r = 0; r < size; ++r) {
    if (r == rank || has_come(r)) continue;
    if (segment->seat(r).left != 0) {
      return "rank " + std::to_string(r) + " has destroyed the communicator";
    }
    if (!segment->alive(r)) return "the process of rank " + std::to_string(r) + " has died";
  }
  return "";
}

int32_t Communicator::await(const std::string &what, const std::function<bool()> &reached,
                            const std::function<bool(uint32_t)> &has_come) {
  const uint64_t limit = execute_seconds();
  const auto began = Time::now();
  auto looked = began;
  for (;;) {
    const uint32_t bell = segment->bell();
    if (reached()) return 0;
    std::string text;
    if (ended(text) != 0) return sim::fail(code::RT_AICPU_EXCEPTION, what + ": " + text);
    if (stopping()) return fail_here(what + ": its stream was aborted or closed");
    if (Time::now() - looked > LOOK) {
      looked = Time::now();
      text = gone(has_come);
      if (!text.empty()) return reached() ? 0 : fail(HCCL_E_REMOTE, what + ": " + text);
    }
    if (over(began, limit)) {
      text = what + ": after " + std::to_string(limit) + " s (HCCL_EXEC_TIMEOUT) missing:";
      for (uint32_t r = 0; r < size; ++r) {
        if (!has_come(r)) text += " rank " + std::to_string(r);
      }
      report("collective-timeout", text);
      fail(HCCL_E_TIMEOUT, text);
      return AICPU_TIMEOUT;
    }
    segment->rest(bell);
  }
}

int32_t Communicator::take_turn(uint64_t call, const std::string &what) {
  for (;;) {
    std::string text;
    if (ended(text) != 0) return sim::fail(code::RT_AICPU_EXCEPTION, what + ": " + text);
    if (stopping()) return fail_here(what + ": its stream was aborted or closed");
    std::unique_lock<std::mutex> hold(lock_);
    if (finished_ + 1 == call) return 0;
    changed_.wait_for(hold, SLICE);
  }
}

void Communicator::end_turn(uint64_t call) {
  const std::lock_guard<std::mutex> hold(lock_);
  --queued_;
  finished_ = std::max(finished_, call);
  changed_.notify_all();
}

int32_t Communicator::barrier(const std::string &what) {
  const uint64_t mine = ++phase_;
  segment->seat(rank).phase = mine;
  segment->ring();
  const auto come = [this, mine](uint32_t r) { return segment->seat(r).phase >= mine; };
  const auto all = [this, &come] {
    for (uint32_t r = 0; r < size; ++r) {
      if (!come(r)) return false;
    }
    return true;
  };
  return await(what, all, come);
}

bool Communicator::message_turn(uint32_t from, uint32_t to, uint64_t number) {
  const std::lock_guard<std::mutex> hold(lock_);
  return messages_ended_[pair(from, to)] + 1 == number;
}

void Communicator::end_message(uint32_t from, uint32_t to, uint64_t number) {
  const std::lock_guard<std::mutex> hold(lock_);
  --queued_;
  messages_ended_[pair(from, to)] = number;
  changed_.notify_all();
}

int32_t Communicator::fail(HcclResult code, const std::string &text) {
  {
    const std::lock_guard<std::mutex> hold(lock_);
    if (own_failure_ == 0) own_failure_ = code;
  }
  segment->fail(code, text);
  return sim::fail(code::RT_AICPU_EXCEPTION, text);
}

int32_t Communicator::fail_here(const std::string &text) {
  {
    const std::lock_guard<std::mutex> hold(lock_);
    if (own_failure_ == 0) own_failure_ = HCCL_E_INTERNAL;
  }
  return fail(HCCL_E_REMOTE, text);
}

HcclResult Communicator::error() {
  std::string text;
  ended(text);
  // Ranks that have let go may end.
  const std::string dead = gone([this](uint32_t r) { return segment->seat(r).left != 0; });
  const std::lock_guard<std::mutex> hold(lock_);
  if (own_failure_ != 0) return own_failure_;
  return dead.empty() ? HCCL_SUCCESS : HCCL_E_REMOTE;
}

// ---- suspending ------------------------------------------------------------------------------------

HcclResult Communicator::suspend() {
  const std::lock_guard<std::mutex> hold(lock_);
  suspended_ = true;
  changed_.notify_all();
  segment->ring();
  return HCCL_SUCCESS;
}

HcclResult Communicator::resume(const char *symbol) {
  {
    const std::lock_guard<std::mutex> hold(lock_);
    if (!suspended_) return refused(HCCL_E_PARA, symbol, "the communicator is not suspended");
    if (queued_ > 0) {
      return refused(HCCL_E_UNAVAIL, symbol, "operations are on their way: synchronise the streams");
    }
    calls_ = finished_ = round = 0;
    messages_.clear();
    messages_ended_.clear();
    own_failure_ = 0;
  }
  for (uint32_t r = 0; r < size; ++r) {
    Mailbox &out = segment->mailbox(rank, r), &in = segment->mailbox(r, rank);
    out.sends = out.send_checked = out.produced = 0;
    in.receives = in.receive_checked = in.consumed = 0;
  }
  phase_ = uint64_t{++resumed_} << BARRIERS_APART;
  segment->mend();
  segment->seat(rank).phase = phase_;
  segment->seat(rank).resumed = resumed_;
  segment->ring();
  const uint64_t limit = connect_seconds();
  const auto began = Time::now();
  for (uint32_t r = 0; r < size;) {
    const uint32_t bell = segment->bell();
    if (segment->seat(r).resumed >= resumed_) {
      ++r;
    } else if (over(began, limit)) {
      return refused(HCCL_E_TIMEOUT, symbol, "rank " + std::to_string(r) + " does not resume");
    } else {
      segment->rest(bell);
    }
  }
  const std::lock_guard<std::mutex> hold(lock_);
  suspended_ = false;
  return HCCL_SUCCESS;
}

// ---- handles ---------------------------------------------------------------------------------------

Handles<Communicator> &communicators() {
  static Handles<Communicator> &value = *new Handles<Communicator>(0x54);
  return value;
}

HcclResult find(const char *symbol, HcclComm handle, std::shared_ptr<Communicator> &found) {
  if (handle == nullptr) return refused(HCCL_E_PTR, symbol, "the communicator is NULL");
  found = communicators().find(handle);
  if (found) return HCCL_SUCCESS;
  const bool was = communicators().known(handle);
  const std::string text = was ? "a destroyed communicator" : "a value that is no communicator";
  report("unknown-handle", std::string(symbol) + " was given " + text);
  return refused(HCCL_E_PARA, symbol, "it was given " + text);
}

}  // namespace sim::hccl
