// Messages between two ranks. Both say what they call before data moves; the messages of one rank to
// another go in order, those of a batch side by side.
#include <algorithm>
#include <cstring>

#include "hccl/dtypes.h"
#include "hccl/operation.h"

namespace sim::hccl {
namespace {

constexpr int32_t SENDS = 0, RECEIVES = 1;

// One message, as one of its two ranks moves it on.
class Transfer {
 public:
  Transfer(Communicator &comm, bool sends, uint32_t peer, const void *buffer, const Record &record)
      : comm_(comm),
        sends_(sends),
        peer_(peer),
        from_(sends ? comm.rank : peer),
        to_(sends ? peer : comm.rank),
        buffer_(buffer),
        record_(record),
        bytes_(record.count * item_size(record.dtype)),
        number_(comm.next_message(from_, to_)) {}

  uint32_t peer() const { return peer_; }
  bool done() const { return stage_ == Stage::DONE; }
  void end() { comm_.end_message(from_, to_, number_); }

  // Go on as far as the other rank lets it; whether anything has changed. `problem` is what is wrong.
  bool step(std::string &problem) {
    const Stage before = stage_;
    const uint64_t moved = moved_;
    if (stage_ == Stage::WAITS && comm_.message_turn(from_, to_, number_)) announce();
    if (stage_ == Stage::ANNOUNCED) compare(problem);
    if (stage_ == Stage::MOVES) sends_ ? give() : take();
    if (stage_ == Stage::MOVED && other_has_checked()) finish();
    if (stage_ == before && moved_ == moved) return false;
    comm_.segment->ring();
    return true;
  }

 private:
  enum class Stage { WAITS, ANNOUNCED, MOVES, MOVED, DONE };

  Mailbox &box() { return comm_.segment->mailbox(from_, to_); }

  void announce() {
    Mailbox &b = box();
    (sends_ ? b.sent : b.wanted) = record_;
    start_ = sends_ ? b.produced : b.consumed;
    (sends_ ? b.sends : b.receives) = number_;
    stage_ = Stage::ANNOUNCED;
  }

  void compare(std::string &problem) {
    Mailbox &b = box();
    if ((sends_ ? b.receives : b.sends) < number_) return;
    if (b.sent.count != b.wanted.count || b.sent.dtype != b.wanted.dtype) {
      problem = "rank " + std::to_string(from_) + " sends " + text_of(b.sent) + ", and rank " +
                std::to_string(to_) + " expects " + text_of(b.wanted);
      return;
    }
    (sends_ ? b.send_checked : b.receive_checked) = number_;
    memory_ = bytes_ == 0 ? nullptr : reach(reinterpret_cast<uint64_t>(buffer_), bytes_);
    stage_ = Stage::MOVES;
  }

  // The window is a ring: places go round it.
  char *place(uint64_t at, uint64_t &bytes) {
    const uint64_t within = at % MESSAGE_WINDOW;
    bytes = std::min(bytes, MESSAGE_WINDOW - within);
    return comm_.segment->message_window(from_, to_) + within;
  }

  void give() {
    Mailbox &b = box();
    while (moved_ < bytes_) {
      const uint64_t at = start_ + moved_;
      uint64_t n = std::min(bytes_ - moved_, MESSAGE_WINDOW - (at - b.consumed));
      if (n == 0) return;
      char *into = place(at, n);
      std::memcpy(into, memory_ + moved_, n);
      moved_ += n;
      b.produced = start_ + moved_;
    }
    stage_ = Stage::MOVED;
  }

  void take() {
    Mailbox &b = box();
    while (moved_ < bytes_) {
      const uint64_t at = start_ + moved_;
      uint64_t n = std::min(bytes_ - moved_, b.produced - at);
      if (n == 0) return;
      const char *from = place(at, n);
      std::memcpy(memory_ + moved_, from, n);
      moved_ += n;
      b.consumed = start_ + moved_;
    }
    stage_ = Stage::MOVED;
  }

  bool other_has_checked() {
    Mailbox &b = box();
    return (sends_ ? b.receive_checked : b.send_checked) >= number_;
  }

  void finish() {
    stage_ = Stage::DONE;
    end();
  }

  Communicator &comm_;
  const bool sends_;
  const uint32_t peer_, from_, to_;
  const void *buffer_;
  const Record record_;
  const uint64_t bytes_, number_;
  Stage stage_ = Stage::WAITS;
  char *memory_ = nullptr;
  uint64_t start_ = 0, moved_ = 0;
};

using Transfers = std::vector<std::shared_ptr<Transfer>>;

int32_t move(Communicator &comm, const std::string &what, const Transfers &transfers) {
  std::string problem;
  const auto all = [&] {
    bool moving = true;
    while (moving && problem.empty()) {
      moving = false;
      for (const auto &each : transfers) {
        if (!each->done() && problem.empty()) moving = each->step(problem) || moving;
      }
    }
    return !problem.empty() || std::all_of(transfers.begin(), transfers.end(),
                                           [](const auto &each) { return each->done(); });
  };
  const auto has_come = [&transfers](uint32_t rank) {
    return std::none_of(transfers.begin(), transfers.end(), [rank](const auto &each) {
      return !each->done() && each->peer() == rank;
    });
  };
  if (const int32_t code = comm.await(what, all, has_come)) return code;
  if (problem.empty()) return 0;
  report("collective-mismatch", what + ": " + problem);
  return comm.fail(HCCL_E_PARA, what + ": " + problem);
}

HcclResult queue_messages(Operation &o, Transfers transfers) {
  const std::shared_ptr<Communicator> comm = o.comm;
  const std::string what = std::string(o.symbol) + " of rank " + std::to_string(comm->rank) +
                           " in " + comm->name;
  return queue_task(
      o, [comm, what, transfers] { return move(*comm, what, transfers); },
      [comm, what, transfers](bool ran) {
        if (!ran) comm->fail_here(what + " did not run");
        for (const auto &each : transfers) {
          if (!each->done()) each->end();
        }
      });
}

// A message with its arguments checked; its buffer is among what the operation uses then.
HcclResult check(Operation &o, bool sends, const void *buffer, uint64_t count, int32_t dtype,
                 uint32_t peer) {
  o.record = record_of(o.symbol, count, dtype);
  if (processor_name().rfind("Ascend310", 0) == 0) {
    return refused(HCCL_E_NOT_SUPPORT, o.symbol, processor_name() + " sends no messages");
  }
  if (const HcclResult code = o.check_moved()) return code;
  if (const HcclResult code = o.check_root(peer)) return code;
  if (peer == o.comm->rank) return refused(HCCL_E_PARA, o.symbol, "the other rank is this one");
  return o.use("the buffer", buffer, count * item_size(dtype), !sends);
}

HcclResult single(const char *symbol, bool sends, const void *buffer, uint64_t count, int32_t dtype,
                  uint32_t peer, HcclComm comm, aclrtStream stream) {
  Operation o{symbol, comm, stream, {}, {}};
  if (const HcclResult code = o.check()) return code;
  if (const HcclResult code = check(o, sends, buffer, count, dtype, peer)) return code;
  return queue_messages(o, {std::make_shared<Transfer>(*o.comm, sends, peer, buffer, o.record)});
}

}  // namespace

CANN_EXPORT HcclResult HcclSend(void *sendBuf, uint64_t count, int32_t dataType, uint32_t destRank,
                                HcclComm comm, aclrtStream stream) {
  if (const HcclResult code = enter(__func__)) return code;
  return single(__func__, true, sendBuf, count, dataType, destRank, comm, stream);
}

CANN_EXPORT HcclResult HcclRecv(void *recvBuf, uint64_t count, int32_t dataType, uint32_t srcRank,
                                HcclComm comm, aclrtStream stream) {
  if (const HcclResult code = enter(__func__)) return code;
  return single(__func__, false, recvBuf, count, dataType, srcRank, comm, stream);
}

CANN_EXPORT HcclResult HcclBatchSendRecv(HcclSendRecvItem *items, uint32_t itemNum, HcclComm comm,
                                         aclrtStream stream) {
  if (const HcclResult code = enter(__func__)) return code;
  Operation o{__func__, comm, stream, {}, {}};
  if (const HcclResult code = o.check()) return code;
  if (itemNum == 0) return HCCL_SUCCESS;
  if (items == nullptr) return refused(HCCL_E_PTR, __func__, "sendRecvInfo is NULL");
  for (uint32_t i = 0; i < itemNum; ++i) {
    const HcclSendRecvItem &item = items[i];
    if (item.type != SENDS && item.type != RECEIVES) {
      return refused(HCCL_E_PARA, __func__, "there is no type " + std::to_string(item.type));
    }
    const bool sends = item.type == SENDS;
    if (const HcclResult code = check(o, sends, item.buf, item.count, item.dtype, item.remote)) {
      return code;
    }
  }
  Transfers transfers;
  for (uint32_t i = 0; i < itemNum; ++i) {
    const HcclSendRecvItem &item = items[i];
    transfers.push_back(std::make_shared<Transfer>(
        *o.comm, item.type == SENDS, item.remote, item.buf,
        record_of(__func__, item.count, item.dtype)));
  }
  return queue_messages(o, transfers);
}

}  // namespace sim::hccl
