#include "core/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sim {
namespace {

constexpr uint64_t SPAN = uint64_t{128} << 30;  // addresses, not memory
constexpr uint64_t PAGE = uint64_t{64} << 10;  // a multiple of the page size of every Linux

uint64_t pages(uint64_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

char *map(int file, int access) {
  void *at = ::mmap(nullptr, SPAN, access, MAP_SHARED | MAP_NORESERVE, file, 0);
  return at == MAP_FAILED ? nullptr : static_cast<char *>(at);
}

}  // namespace

Arena::Arena() {
  file_ = ::memfd_create("npu-simulator", MFD_CLOEXEC);
  if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(SPAN)) != 0) return;
  shadow_ = map(file_, PROT_READ | PROT_WRITE);
  if (shadow_ != nullptr) device_ = map(file_, PROT_NONE);
}

bool Arena::holds(uint64_t address) const {
  const auto base = reinterpret_cast<uint64_t>(device_);
  return device_ != nullptr && address >= base && address < base + SPAN;
}

char *Arena::shadow(uint64_t address) const {
  return shadow_ + (address - reinterpret_cast<uint64_t>(device_));
}

uint64_t Arena::place(uint64_t bytes) {
  // A page is left free behind each block: what runs over its end lies in none.
  const uint64_t size = pages(bytes) + PAGE;
  for (const uint64_t start : {next_, uint64_t{0}}) {
    uint64_t at = start;
    for (auto it = used_.lower_bound(start); at + size <= SPAN; ++it) {
      if (it == used_.end() || at + size <= it->first) {
        used_.emplace(at, size);
        next_ = at + size;
        return reinterpret_cast<uint64_t>(device_) + at;
      }
      at = it->first + it->second;
    }
  }
  return 0;
}

void Arena::drop(uint64_t address, bool busy) {
  const auto found = used_.find(address - reinterpret_cast<uint64_t>(device_));
  if (found == used_.end()) return;
  if (!busy) {
    ::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(found->first), static_cast<off_t>(found->second));
  }
  used_.erase(found);
}

}  // namespace sim
