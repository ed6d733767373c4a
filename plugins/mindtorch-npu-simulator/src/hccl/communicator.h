// A communicator as one rank of this process has it: whose turn it is, and how it waits for others.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/core.h"
#include "core/handles.h"
#include "hccl/segment.h"
#include "hccl/types.h"

namespace sim::hccl {

class Communicator {
 public:
  Communicator(std::shared_ptr<Segment> shared, uint32_t own, int device, std::string name);

  const std::shared_ptr<Segment> segment;
  const uint32_t rank;
  const uint32_t size;
  const int device;  // physical
  const std::string name;

  // Take the rank's seat; HCCL_E_PARA, with a text, if somebody has it or the device.
  HcclResult sit(const char *symbol);
  // Wait until all ranks have come: HCCL_CONNECT_TIMEOUT seconds at most.
  HcclResult await_all(const char *symbol);
  // No more operations; tasks that wait give up. False if some were queued and nothing had failed.
  bool leave();

  // ---- queuing -------------------------------------------------------------------------------------

  // The number of the collective operation that is being queued, from 1, or of the message to or from
  // a rank.
  uint64_t next_call();
  uint64_t next_message(uint32_t from, uint32_t to);
  // Why nothing can be queued any more, with a text for the thread; 0 if it can.
  HcclResult usable(const char *symbol);

  // ---- within tasks ----------------------------------------------------------------------------------

  // Wait until it is so; gives the code of the stream's failure if that will never be. `missing` says
  // who it is that has not done what, for the text.
  int32_t await(const std::string &what, const std::function<bool()> &reached,
                const std::function<bool(uint32_t)> &has_come);
  // Wait until the operations before have ended; then until all ranks have come to this barrier.
  int32_t take_turn(uint64_t call, const std::string &what);
  void end_turn(uint64_t call);
  int32_t barrier(const std::string &what);
  // A message's turn among those of its two ranks.
  bool message_turn(uint32_t from, uint32_t to, uint64_t number);
  void end_message(uint32_t from, uint32_t to, uint64_t number);

  // End the communicator for all ranks; gives the code of the stream's failure.
  int32_t fail(HcclResult code, const std::string &text);
  // The same, where the fault is this rank's: the others get HCCL_E_REMOTE.
  int32_t fail_here(const std::string &text);
  // HCCL's code for what has happened to it, 0 for nothing; looks for processes that have died.
  HcclResult error();

  HcclResult suspend();
  HcclResult resume(const char *symbol);

  uint64_t round = 0;  // of windows: all ranks count alike

 private:
  HcclResult ended(std::string &text);
  std::string gone(const std::function<bool(uint32_t)> &has_come);

  std::mutex lock_;
  std::condition_variable changed_;
  uint64_t calls_ = 0;     // queued
  uint64_t finished_ = 0;  // ended
  uint64_t phase_ = 0;
  uint64_t queued_ = 0;  // tasks that have not ended
  std::map<uint64_t, uint64_t> messages_, messages_ended_;
  HcclResult own_failure_ = 0;
  bool suspended_ = false;
  bool left_ = false;
  uint32_t resumed_ = 0;
};

Handles<Communicator> &communicators();
// That of a handle; HCCL_E_PTR or HCCL_E_PARA, with a text, if there is none.
HcclResult find(const char *symbol, HcclComm handle, std::shared_ptr<Communicator> &found);

// A failure of this thread's call, with a text.
inline HcclResult refused(HcclResult code, const char *symbol, const std::string &why) {
  sim::fail(code, std::string(symbol) + ": " + why);
  return code;
}

}  // namespace sim::hccl
