// The address range of a device: one piece of memory that is mapped twice.
#pragma once

#include <cstdint>
#include <map>

namespace sim {

// Programs get addresses of a mapping without access; kernels use the other one. Addresses are used
// again as late as possible, so that a stale one stays recognisable.
class Arena {
 public:
  Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  bool usable() const { return device_ != nullptr; }
  bool holds(uint64_t address) const;
  char *shadow(uint64_t address) const;

  // An address for so many bytes, 0 if the range is exhausted.
  uint64_t place(uint64_t bytes);
  // Give a place back; its pages go back to the system unless a kernel is still at work on them.
  void drop(uint64_t address, bool busy);

 private:
  int file_ = -1;
  char *device_ = nullptr;
  char *shadow_ = nullptr;
  uint64_t next_ = 0;                     // offset from which the search for a place starts
  std::map<uint64_t, uint64_t> used_;     // offset to bytes
};

}  // namespace sim
