#include "core/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <shared_mutex>
#include <sstream>
#include <vector>

#include "core/arena.h"
#include "core/core.h"
#include "core/json.h"
#include "core/settings.h"
#include "core/trap.h"

namespace sim {
namespace {

// A byte that makes NaN of every kind of float: memory that nobody has written should show.
constexpr int POISON = 0xff;
constexpr uint64_t MOST_POISONED = uint64_t{64} << 20;
constexpr size_t KEPT = 4096;         // freed blocks that are remembered
constexpr size_t PINNED_KEPT = 64;    // freed host blocks whose addresses stay reserved

using BlockPtr = std::shared_ptr<Block>;

struct Memory {
  std::shared_mutex lock;
  std::map<int, std::unique_ptr<Arena>> arenas;
  std::map<int, Usage> usage;
  std::map<uint64_t, BlockPtr> live;
  std::map<uint64_t, BlockPtr> freed;
  std::deque<uint64_t> freed_order;
  std::deque<BlockPtr> retained;  // freed host memory, not accessible but not given back yet
  uint64_t serial = 0;
};

Memory &memory() {
  static Memory &value = *new Memory;
  return value;
}

const Arena *arena_of(const Memory &m, uint64_t address) {
  for (const auto &entry : m.arenas) {
    if (entry.second->holds(address)) return entry.second.get();
  }
  return nullptr;
}

Arena *arena(Memory &m, int device) {
  std::unique_ptr<Arena> &slot = m.arenas[device];
  if (!slot) slot = std::make_unique<Arena>();
  return slot.get();
}

Usage &usage_of(Memory &m, int device) {
  const auto found = m.usage.find(device);
  if (found != m.usage.end()) return found->second;
  return m.usage.emplace(device, Usage{0, settings().memory}).first->second;
}

template <class Map>
BlockPtr at_or_before(const Map &blocks, uint64_t address) {
  auto it = blocks.upper_bound(address);
  if (it == blocks.begin()) return nullptr;
  --it;
  const BlockPtr &block = it->second;
  return address < block->address + std::max<uint64_t>(block->bytes, 1) ? block : nullptr;
}

void keep(Memory &m, BlockPtr block) {
  block->serial = ++m.serial;
  // The addresses of a freed block are in use again: what is known about it would mislead.
  auto it = m.freed.lower_bound(block->address);
  while (it != m.freed.end() && it->first < block->address + block->bytes) it = m.freed.erase(it);
  m.live.emplace(block->address, std::move(block));
}

void forget(Memory &m, const BlockPtr &block) {
  m.live.erase(block->address);
  block->live = false;
  if (block->registered) return;  // the program's own memory goes on living
  if (m.freed.emplace(block->address, block).second) m.freed_order.push_back(block->address);
  while (m.freed_order.size() > KEPT) {
    m.freed.erase(m.freed_order.front());
    m.freed_order.pop_front();
  }
}

uint64_t mapped(const Block &block) {
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return (block.bytes + page - 1) / page * page;
}

// Freed host memory stays reserved and without access for a while: a late access is a fault that
// the trap can name, not the corruption of something else.
void retain(Memory &m, const BlockPtr &block) {
  ::mprotect(block->memory, mapped(*block), PROT_NONE);
  ::madvise(block->memory, mapped(*block), MADV_DONTNEED);
  m.retained.push_back(block);
  if (m.retained.size() <= PINNED_KEPT) return;
  m.freed.erase(m.retained.front()->address);
  ::munmap(m.retained.front()->memory, mapped(*m.retained.front()));
  m.retained.pop_front();
}

std::string name_of(const Block &block) {
  std::ostringstream out;
  out << "block #" << block.serial << " (" << block.bytes << " bytes, ";
  if (block.device == ON_HOST) {
    out << "pinned host memory";
  } else {
    out << "device " << block.device;
  }
  out << ") at 0x" << std::hex << block.address;
  return out.str();
}

void poison(const Block &block) {
  std::memset(block.memory, POISON, std::min(block.bytes, MOST_POISONED));
}

// Freeing is an access of the host: what the host has not waited for may still be at work, even if
// it happens to have finished.
void check_unused(const char *symbol, Block &block) {
  std::string user;
  {
    const std::lock_guard<std::mutex> hold(submission());
    Clock &clock = host_clock();
    ++clock[HOST];
    const uint64_t end = std::max<uint64_t>(block.bytes, 1);
    user = block.history.touch(0, end, true, HOST, clock, symbol);
    if (user.empty() && block.uses > 0) user = block.user;
  }
  if (user.empty()) return;
  report("free-while-in-use", std::string(symbol) + " frees " + name_of(block) +
                                  " but nothing has waited for its last use: " + user);
}

int32_t wrong_free(const char *symbol, void *address, const BlockPtr &live) {
  const auto at = reinterpret_cast<uint64_t>(address);
  const std::string what = describe(at);
  if (live) {
    report("invalid-free", std::string(symbol) + " was given what it cannot free: " + what);
  } else if (std::strcmp(kind_of_miss(at), "use-after-free") == 0) {
    report("double-free", std::string(symbol) + " was given " + what);
  } else {
    report("unknown-address", std::string(symbol) + " was given " + what);
  }
  return fail(code::RT_PARAM_INVALID, std::string(symbol) + " was given " + what);
}

void drop(Memory &m, const BlockPtr &block) {
  const bool busy = block->uses > 0;
  if (busy && !block->registered) poison(*block);
  forget(m, block);
  if (block->device != ON_HOST) {
    usage_of(m, block->device).used -= block->charged;
    arena(m, block->device)->drop(block->address, busy);
  } else if (!block->registered && !busy) {
    retain(m, block);
  }
}

// Take a block that starts at the address and is of the wanted kind out of the live ones.
int32_t remove(const char *symbol, void *address, bool device, bool registered) {
  Memory &m = memory();
  const auto at = reinterpret_cast<uint64_t>(address);
  const BlockPtr block = block_at(at, 1);
  const bool right = block && block->address == at && (block->device != ON_HOST) == device &&
                     block->registered == registered;
  if (!right) return wrong_free(symbol, address, block);
  check_unused(symbol, *block);
  {
    const std::lock_guard<std::shared_mutex> hold(m.lock);
    if (block->live) {
      drop(m, block);
      gone(device ? "device memory" : "pinned memory");
      return 0;
    }
  }
  return wrong_free(symbol, address, nullptr);  // another thread was faster
}

int32_t out_of_memory(int device, uint64_t bytes, const Usage &u) {
  return fail(code::RT_MEMORY_ALLOCATION,
              "out of memory: device " + std::to_string(device) + " has " +
                  std::to_string(u.limit > u.used ? u.limit - u.used : 0) + " of " +
                  std::to_string(u.limit) + " bytes free, " + std::to_string(bytes) +
                  " bytes were asked for");
}

}  // namespace

int32_t allocate(int device, uint64_t bytes, uint64_t charged, void **address) {
  watch_accesses();
  Memory &m = memory();
  auto block = std::make_shared<Block>();
  {
    const std::lock_guard<std::shared_mutex> hold(m.lock);
    Usage &u = usage_of(m, device);
    if (u.used > u.limit || charged > u.limit - u.used) return out_of_memory(device, bytes, u);
    Arena *range = arena(m, device);
    const uint64_t at = range->usable() ? range->place(bytes) : 0;
    if (at == 0) {
      return fail(code::RT_MEMORY_ALLOCATION,
                  "the simulator finds no addresses for the device: is address space limited?");
    }
    u.used += charged;
    block->address = at;
    block->bytes = bytes;
    block->charged = charged;
    block->device = device;
    block->memory = range->shadow(at);
    keep(m, block);
  }
  poison(*block);
  made("device memory");
  *address = reinterpret_cast<void *>(block->address);
  return 0;
}

int32_t allocate_pinned(uint64_t bytes, void **address) {
  watch_accesses();
  Memory &m = memory();
  auto block = std::make_shared<Block>();
  block->bytes = bytes;
  void *at = ::mmap(nullptr, mapped(*block), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                    -1, 0);
  if (at == MAP_FAILED) return fail(code::RT_MEMORY_ALLOCATION, "out of pinned host memory");
  block->memory = static_cast<char *>(at);
  block->address = reinterpret_cast<uint64_t>(at);
  poison(*block);
  made("pinned memory");
  const std::lock_guard<std::shared_mutex> hold(m.lock);
  keep(m, std::move(block));
  *address = at;
  return 0;
}

int32_t register_pinned(void *address, uint64_t bytes) {
  Memory &m = memory();
  auto block = std::make_shared<Block>();
  block->bytes = bytes;
  block->registered = true;
  block->memory = static_cast<char *>(address);
  block->address = reinterpret_cast<uint64_t>(address);
  const std::lock_guard<std::shared_mutex> hold(m.lock);
  if (at_or_before(m.live, block->address)) {
    return fail(code::RT_PARAM_INVALID, "aclrtHostRegister: the memory is registered already");
  }
  keep(m, std::move(block));
  made("pinned memory");
  return 0;
}

int32_t release(const char *symbol, void *address) { return remove(symbol, address, true, false); }

int32_t release_pinned(const char *symbol, void *address, bool registered) {
  return remove(symbol, address, false, registered);
}

void release_all(int device) {
  Memory &m = memory();
  std::vector<BlockPtr> blocks;
  {
    const std::lock_guard<std::shared_mutex> hold(m.lock);
    for (const auto &entry : m.live) {
      if (entry.second->device == device) blocks.push_back(entry.second);
    }
    for (const BlockPtr &block : blocks) drop(m, block);
  }
  if (blocks.empty()) return;
  for (size_t i = 0; i < blocks.size(); ++i) gone("device memory");
  report("leak", std::to_string(blocks.size()) + " blocks of device " + std::to_string(device) +
                     " were not freed before it was reset, the first one: " + name_of(*blocks[0]));
}

BlockPtr block_at(uint64_t address, uint64_t bytes) {
  Memory &m = memory();
  const std::shared_lock<std::shared_mutex> hold(m.lock);
  BlockPtr block = at_or_before(m.live, address);
  if (!block || bytes > block->bytes || address - block->address > block->bytes - bytes) {
    return nullptr;
  }
  return block;
}

bool on_device(uint64_t address) {
  Memory &m = memory();
  const std::shared_lock<std::shared_mutex> hold(m.lock);
  return arena_of(m, address) != nullptr;
}

const char *kind_of_miss(uint64_t address) {
  Memory &m = memory();
  const std::shared_lock<std::shared_mutex> hold(m.lock);
  if (at_or_before(m.live, address)) return "out-of-bounds";
  return at_or_before(m.freed, address) ? "use-after-free" : "unknown-address";
}

std::string describe(uint64_t address) {
  Memory &m = memory();
  const std::shared_lock<std::shared_mutex> hold(m.lock);
  if (const BlockPtr block = at_or_before(m.live, address)) {
    const uint64_t inside = address - block->address;
    return (inside == 0 ? "" : "byte " + std::to_string(inside) + " of ") + name_of(*block);
  }
  if (const BlockPtr block = at_or_before(m.freed, address)) {
    return "memory that was freed: " + name_of(*block);
  }
  std::ostringstream out;
  out << "0x" << std::hex << address;
  if (arena_of(m, address) != nullptr) {
    out << ", an address of a device in no block";
  } else {
    out << ", which is no address of a device";
  }
  return out.str();
}

std::string describe(uint64_t address, uint64_t bytes) {
  return std::to_string(bytes) + " bytes at " + describe(address);
}

Usage usage(int device) {
  Memory &m = memory();
  const std::lock_guard<std::shared_mutex> hold(m.lock);
  return usage_of(m, device);
}

void set_limit(int device, uint64_t bytes) {
  Memory &m = memory();
  const std::lock_guard<std::shared_mutex> hold(m.lock);
  usage_of(m, device).limit = bytes;
}

std::string memory_json() {
  Memory &m = memory();
  const std::shared_lock<std::shared_mutex> hold(m.lock);
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  uint64_t pinned = 0;
  for (const auto &entry : m.live) {
    const bool device = entry.second->device != ON_HOST;
    blocks += device ? 1 : 0;
    (device ? bytes : pinned) += entry.second->bytes;
  }
  return "{" + member("blocks", std::to_string(blocks)) + "," +
         member("bytes", std::to_string(bytes)) + "," +
         member("pinned_bytes", std::to_string(pinned)) + "}";
}

char *reach(uint64_t address, uint64_t bytes) {
  const BlockPtr block = block_at(address, bytes);
  return block ? block->memory + (address - block->address) : nullptr;
}

}  // namespace sim
