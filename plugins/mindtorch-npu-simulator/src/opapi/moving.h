// Elements moved as they are: copies, conversions, and access through computed offsets.
#pragma once

#include <memory>

#include "elementwise.h"

namespace sim {

struct Cell16 {
  uint64_t low, high;
};

// Calls f with a value of a plain type as large as an element, for kernels that only move elements.
template <class F>
void with_cell(aclDataType d, F &&f) {
  switch (item_size(d)) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(Cell16{});
  }
}

// The type in which elements stored as T are computed.
template <class T>
using number_of = std::conditional_t<
    std::is_same_v<T, half> || std::is_same_v<T, bfloat>, float,
    std::conditional_t<std::is_same_v<T, truth> ||
                           (std::is_integral_v<T> && !std::is_same_v<T, uint64_t>),
                       int64_t, T>>;

// Host memory of a tensor's form, for copies that a kernel needs while it runs.
class Buffer {
 public:
  Buffer(aclDataType d, const Dims &shape);
  const View &view() const { return view_; }

 private:
  std::vector<Cell16> memory_;
  View view_;
};

// to = from, of one dtype; `from` broadcasts.
void move(const View &to, const View &from);

// to = from, converted; `from` broadcasts.
void convert(const View &to, const View &from);

// The same, correct also where the two share memory.
void convert_overlapping(const View &to, const View &from);

// Every element becomes the number.
void fill(const View &to, const Number &number);

// A tensor without dims as one with a single element.
View with_a_dim(const View &view);

// A view of int64 host memory, contiguous.
View view_of(std::vector<int64_t> &values, const Dims &shape);

// Bytes of a contiguous copy, 0 for what is contiguous: the scratch memory of operators that pack.
uint64_t packed_bytes(const Operand &operand);

// Indices of a dim of `size` elements as offsets of `stride` each. Out of range the stream fails;
// negative ones count from the end where `negative` says so.
std::vector<int64_t> offsets_of(const Launch &launch, const View &index, int64_t size,
                                int64_t stride, bool negative);

// f(element, value) for every value of `values`, and the element of `base` that its offset leads
// to. `offsets` holds int64; `base` and `offsets` have the shape of `values`, with strides of 0
// where they do not depend on a dim.
template <class T, class F>
void through(const View &values, const View &offsets, const View &base, F f) {
  const std::array<const View *, 3> views{&values, &offsets, &base};
  for_rows(views, [&](int64_t n, const auto &starts, const auto &strides) {
    auto *value = reinterpret_cast<T *>(starts[0]);
    const auto *offset = reinterpret_cast<const int64_t *>(starts[1]);
    auto *element = reinterpret_cast<T *>(starts[2]);
    for (int64_t i = 0; i < n; ++i) {
      f(element[i * strides[2] + offset[i * strides[1]]], value[i * strides[0]]);
    }
  });
}

// f(starts) for every line along a dim of views that have the same shape otherwise: `starts` are
// the addresses of the lines' first elements.
template <size_t N, class F>
void for_lines(const std::array<const View *, N> &views, size_t dim, F &&f) {
  std::array<View, N> first;
  std::array<const View *, N> rest;
  for (size_t k = 0; k < N; ++k) {
    first[k] = views[k]->select(dim, 0);
    rest[k] = &first[k];
  }
  std::array<int64_t, N> sizes;
  for (size_t k = 0; k < N; ++k) sizes[k] = static_cast<int64_t>(item_size(views[k]->dtype));
  for_rows(rest, [&](int64_t n, const auto &starts, const auto &strides) {
    std::array<char *, N> line = starts;
    for (int64_t i = 0; i < n; ++i) {
      f(line);
      for (size_t k = 0; k < N; ++k) line[k] += strides[k] * sizes[k];
    }
  });
}

}  // namespace sim
