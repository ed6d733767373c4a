#include "products.h"

#include <algorithm>
#include <cstring>

#include "../nnopbase/dtypes.h"

namespace sim {
namespace {

// The block that stays in registers: ROWS rows of two vectors.
constexpr int64_t ROWS = 4, COLUMNS = 8;

using Vector = float __attribute__((vector_size(16)));

struct Row {
  Vector low{}, high{};

  void add(float a, const Vector &b_low, const Vector &b_high) {
    low += a * b_low;
    high += a * b_high;
  }
  void store(float *to) const {
    std::memcpy(to, &low, sizeof low);
    std::memcpy(to + 4, &high, sizeof high);
  }
};

// block = a @ b for ROWS x COLUMNS, both packed so that a step of k reads neighbours.
void multiply_block(int64_t k, const float *a, const float *b, float *block) {
  Row r0, r1, r2, r3;
  for (int64_t i = 0; i < k; ++i, a += ROWS, b += COLUMNS) {
    Vector low, high;
    std::memcpy(&low, b, sizeof low);
    std::memcpy(&high, b + 4, sizeof high);
    r0.add(a[0], low, high);
    r1.add(a[1], low, high);
    r2.add(a[2], low, high);
    r3.add(a[3], low, high);
  }
  r0.store(block);
  r1.store(block + COLUMNS);
  r2.store(block + 2 * COLUMNS);
  r3.store(block + 3 * COLUMNS);
}

// Panels of `width` lines, the elements of one step of k together; lines that are missing are 0.
std::vector<float> packed(const float *data, int64_t lines, int64_t line_step, int64_t k,
                          int64_t k_step, int64_t width) {
  const int64_t panels = (lines + width - 1) / width;
  std::vector<float> result(static_cast<size_t>(panels * k * width), 0.0f);
  for (int64_t line = 0; line < lines; ++line) {
    float *to = result.data() + line / width * k * width + line % width;
    const float *from = data + line * line_step;
    for (int64_t i = 0; i < k; ++i) to[i * width] = from[i * k_step];
  }
  return result;
}

float as_half(float value) { return to_float(to_half(value)); }

// HF32 keeps 11 bits of float32's fraction.
float as_hf32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7f800000u) != 0x7f800000u) bits = (bits + 0x7ffu + ((bits >> 12) & 1)) & ~0xfffu;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

}  // namespace

void multiply(int64_t m, int64_t n, int64_t k, Matrix a, Matrix b, float *c) {
  if (m == 0 || n == 0 || k == 0) return;
  const std::vector<float> rows = packed(a.data, m, a.row, k, a.column, ROWS);
  const std::vector<float> columns = packed(b.data, n, b.column, k, b.row, COLUMNS);
  float block[ROWS * COLUMNS];
  for (int64_t j = 0; j < n; j += COLUMNS) {
    for (int64_t i = 0; i < m; i += ROWS) {
      multiply_block(k, rows.data() + i * k, columns.data() + j * k, block);
      const int64_t height = std::min(ROWS, m - i), width = std::min(COLUMNS, n - j);
      for (int64_t y = 0; y < height; ++y) {
        float *to = c + (i + y) * n + j;
        for (int64_t x = 0; x < width; ++x) to[x] += block[y * COLUMNS + x];
      }
    }
  }
}

void round_for_cube(std::vector<float> &values, int8_t type) {
  if (type == USE_FP16) std::transform(values.begin(), values.end(), values.begin(), as_half);
  if (type == USE_HF32) std::transform(values.begin(), values.end(), values.begin(), as_hf32);
}

}  // namespace sim
