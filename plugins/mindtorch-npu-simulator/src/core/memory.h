// Blocks of device memory and of pinned host memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "core/order.h"

namespace sim {

constexpr int ON_HOST = -1;

struct Block {
  uint64_t serial = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;     // as asked for
  uint64_t charged = 0;   // what the device counts
  int device = ON_HOST;   // physical id
  bool registered = false;  // memory of the program, pinned by aclrtHostRegister
  char *memory = nullptr;   // where kernels find it
  std::atomic<bool> live{true};
  std::atomic<int> uses{0};  // tasks that wait or run
  std::string user;          // the last such task; guarded by submission()
  History history;           // guarded by submission()
};

// Reserve memory of a physical device; RT_MEMORY_ALLOCATION above its limit.
int32_t allocate(int device, uint64_t bytes, uint64_t charged, void **address);
int32_t allocate_pinned(uint64_t bytes, void **address);
int32_t register_pinned(void *address, uint64_t bytes);

// Release what `symbol` was given; reports what is wrong with it.
int32_t release(const char *symbol, void *address);
int32_t release_pinned(const char *symbol, void *address, bool registered);
// Release all memory of a device and say how much there was.
void release_all(int device);

// The live block in which all the bytes lie; nullptr if there is none.
std::shared_ptr<Block> block_at(uint64_t address, uint64_t bytes);
// Whether the address belongs to a device, allocated or not.
bool on_device(uint64_t address);
// "block #3 (512 bytes, device 0) at 0x...", or what is known about an address in no live block.
std::string describe(uint64_t address);
// The same for a range, and how it lies to that block.
std::string describe(uint64_t address, uint64_t bytes);
// "use-after-free" or "unknown-address": how an address without a live block is to be called.
const char *kind_of_miss(uint64_t address);

struct Usage {
  uint64_t used = 0;
  uint64_t limit = 0;
};

Usage usage(int device);
void set_limit(int device, uint64_t bytes);
// `{"blocks":2,"bytes":1024,"pinned_bytes":0}` of all devices.
std::string memory_json();

}  // namespace sim
