// Memory that the processes of a communicator share: who is there, what each calls, and windows for
// data. It has no name in the file system: others find it by the descriptor of the process that made
// it, and it is gone with the last process that uses it, however that ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "hccl/types.h"

namespace sim::hccl {

constexpr uint64_t WINDOW = uint64_t{1} << 20;       // bytes of a rank's window, of which it has two
constexpr uint64_t MESSAGE_WINDOW = uint64_t{1} << 16;
constexpr uint32_t MOST_RANKS = 256;

// What a rank calls: all ranks of a collective operation must have it alike.
struct Record {
  char op[32];
  uint64_t count;
  int32_t dtype;
  int32_t reduction;  // -1: none
  int32_t root;       // -1: none
};

// How a segment is found: by the descriptor of a process, and a number that tells it from others.
struct Address {
  uint64_t magic;
  uint64_t token;
  int32_t pid;
  int32_t descriptor;
};

// One rank, as all see it.
struct Seat {
  std::atomic<uint32_t> taken;
  std::atomic<uint32_t> joined;
  std::atomic<uint32_t> left;
  std::atomic<uint32_t> resumed;
  int32_t device;
  std::atomic<uint64_t> phase;  // barriers that it has come to
  Record records[2];            // by the parity of the call
  std::atomic<uint64_t> offered;  // the part (HcclCreateSubCommConfig) whose address follows, plus 1
  Address offer;
};

// Messages from one rank to another. The first half is the sender's, the second the receiver's.
struct Mailbox {
  std::atomic<uint64_t> sends, send_checked, produced;
  Record sent;
  std::atomic<uint64_t> receives, receive_checked, consumed;
  Record wanted;
};

class Segment {
 public:
  // A new one; nullptr, with a text for the thread, if there is no memory.
  static std::shared_ptr<Segment> create(Address &address);
  // That of an address; nullptr, with a text and a code, if it is gone, or was of use already.
  static std::shared_ptr<Segment> open(const Address &address, HcclResult &code);
  ~Segment();

  // Say how many ranks there are: false if another rank has said something else.
  bool size_to(uint32_t ranks);
  uint32_t size() const { return ranks_; }

  Seat &seat(uint32_t rank) const;
  Mailbox &mailbox(uint32_t from, uint32_t to) const;
  char *window(uint32_t rank, uint64_t round) const;
  char *message_window(uint32_t from, uint32_t to) const;
  // A row of numbers of a rank, for operations whose parts differ: what it sends to each, then what
  // it expects of each.
  uint64_t *numbers(uint32_t rank, uint64_t call) const;

  // A rank of this process is there as long as the process is, or until it leaves.
  bool hold(uint32_t rank);
  bool alive(uint32_t rank) const;

  // Wake all that wait.
  void ring() const;
  // Wait until somebody rings, a few milliseconds at most; `before` is what `bell` gave.
  uint32_t bell() const;
  void rest(uint32_t before) const;

  // The failure that ends the communicator for all ranks: the first one stays.
  void fail(HcclResult code, const std::string &text);
  HcclResult failure(std::string &text) const;
  void mend();

  uint64_t token() const;

 private:
  explicit Segment(int descriptor);
  struct Header;
  Header &header() const;
  bool map(uint64_t bytes);

  int descriptor_;
  uint32_t ranks_ = 0;
  char *memory_ = nullptr;
  uint64_t mapped_ = 0;
};

}  // namespace sim::hccl
