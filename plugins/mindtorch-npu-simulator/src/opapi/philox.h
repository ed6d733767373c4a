// Random numbers by counting: Philox 4x32-10 of Salmon, Moraes, Dror and Shaw (SC11).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace sim {

// The numbers of one seed and offset. Sequences of two offsets have no block in common, however
// long they are, because the offset is a part of the counter that the index of a block never
// reaches.
class Philox {
 public:
  Philox(uint64_t seed, uint64_t offset) : seed_(seed), offset_(offset) {}

  uint32_t next() {
    if (used_ == block_.size()) {
      block_ = block(index_++);
      used_ = 0;
    }
    return block_[used_++];
  }

  uint64_t next64() {
    const uint64_t low = next();
    return uint64_t{next()} << 32 | low;
  }

  // In [0, 1), with so many bits that the type of the result holds every one.
  double uniform(int bits) {
    return bits > 32 ? std::ldexp(static_cast<double>(next64() >> (64 - bits)), -bits)
                     : std::ldexp(static_cast<double>(next() >> (32 - bits)), -bits);
  }

  // Two independent ones of the standard normal distribution (Box and Muller).
  std::array<double, 2> normals() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform(53)));
    const double angle = 6.283185307179586 * uniform(53);
    return {radius * std::cos(angle), radius * std::sin(angle)};
  }

 private:
  std::array<uint32_t, 4> block(uint64_t index) const {
    std::array<uint32_t, 4> c = {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                                 static_cast<uint32_t>(offset_),
                                 static_cast<uint32_t>(offset_ >> 32)};
    auto low_key = static_cast<uint32_t>(seed_), high_key = static_cast<uint32_t>(seed_ >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t a = uint64_t{0xd2511f53u} * c[0], b = uint64_t{0xcd9e8d57u} * c[2];
      c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ low_key, static_cast<uint32_t>(b),
           static_cast<uint32_t>(a >> 32) ^ c[3] ^ high_key, static_cast<uint32_t>(a)};
      low_key += 0x9e3779b9u;
      high_key += 0xbb67ae85u;
    }
    return c;
  }

  uint64_t seed_, offset_, index_ = 0;
  std::array<uint32_t, 4> block_{};
  size_t used_ = 4;
};

}  // namespace sim
