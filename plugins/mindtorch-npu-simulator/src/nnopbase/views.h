// Strided views of device memory, and walking over several of them at once.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "dtypes.h"

namespace sim {

using Dims = std::vector<int64_t>;

SIM_API int64_t numel(const Dims &shape);
SIM_API Dims contiguous_strides(const Dims &shape);

// The shape that two broadcast to; false if they do not.
SIM_API bool broadcast(const Dims &a, const Dims &b, Dims &result);

// Elements of a tensor while a kernel runs. `data` points at the element with index 0, 0, ...
struct SIM_API View {
  aclDataType dtype = ACL_DT_UNDEFINED;
  Dims shape, strides;  // strides in elements
  char *data = nullptr;

  int64_t numel() const { return sim::numel(shape); }
  int64_t dim() const { return static_cast<int64_t>(shape.size()); }
  bool contiguous() const;

  // The same elements seen in another way.
  View expand(const Dims &to) const;                     // broadcast
  View permute(const std::vector<size_t> &order) const;  // dim i of the result is dim order[i]
  View select(size_t dim, int64_t index) const;          // without that dim
  View narrow(size_t dim, int64_t start, int64_t length) const;
  View with_dtype(aclDataType d) const;  // reinterpret contiguous scratch memory

  // Address of an element, by its offset in elements.
  template <class T>
  T *at(int64_t offset) const {
    return reinterpret_cast<T *>(data) + offset;
  }
};

// Read or write n elements a stride apart as numbers of type C.
template <class C>
void load(aclDataType d, const char *from, int64_t stride, int64_t n, C *to) {
  with_storage(d, [&](auto element) {
    const auto *source = reinterpret_cast<const decltype(element) *>(from);
    for (int64_t i = 0; i < n; ++i) to[i] = convert<C>(source[i * stride]);
  });
}

template <class C>
void store(aclDataType d, char *to, int64_t stride, int64_t n, const C *from) {
  with_storage(d, [&](auto element) {
    auto *target = reinterpret_cast<decltype(element) *>(to);
    for (int64_t i = 0; i < n; ++i) target[i * stride] = convert<decltype(element)>(from[i]);
  });
}

// All elements of a view, row-major, as numbers of type C; and back.
template <class C>
std::vector<C> gathered(const View &view);
template <class C>
void scattered(const View &view, const std::vector<C> &values);

// Goes over views of one shape row by row: f(n, starts, strides) gets the address of each view's
// first element of a row of n elements and each view's stride in elements. Adjacent dims are
// merged.
template <size_t N, class F>
void for_rows(const std::array<const View *, N> &views, F &&f) {
  const Dims &shape = views[0]->shape;
  Dims sizes;
  std::array<Dims, N> steps;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return;
    if (shape[d] == 1) continue;
    bool merges = !sizes.empty();
    for (size_t k = 0; k < N && merges; ++k) {
      merges = steps[k].back() == views[k]->strides[d] * shape[d];
    }
    if (merges) {
      sizes.back() *= shape[d];
      for (size_t k = 0; k < N; ++k) steps[k].back() = views[k]->strides[d];
    } else {
      sizes.push_back(shape[d]);
      for (size_t k = 0; k < N; ++k) steps[k].push_back(views[k]->strides[d]);
    }
  }
  if (sizes.empty()) {
    sizes.push_back(1);
    for (auto &s : steps) s.push_back(0);
  }
  std::array<char *, N> starts;
  std::array<int64_t, N> inner, bytes;
  for (size_t k = 0; k < N; ++k) {
    starts[k] = views[k]->data;
    inner[k] = steps[k].back();
    bytes[k] = static_cast<int64_t>(item_size(views[k]->dtype));
  }
  const int64_t n = sizes.back();
  Dims index(sizes.size() - 1, 0);
  for (;;) {
    f(n, starts, inner);
    size_t d = index.size();
    for (;;) {
      if (d == 0) return;
      --d;
      for (size_t k = 0; k < N; ++k) starts[k] += steps[k][d] * bytes[k];
      if (++index[d] < sizes[d]) break;
      for (size_t k = 0; k < N; ++k) starts[k] -= steps[k][d] * bytes[k] * sizes[d];
      index[d] = 0;
    }
  }
}

template <class C>
std::vector<C> gathered(const View &view) {
  std::vector<C> values(static_cast<size_t>(view.numel()));
  C *next = values.data();
  const std::array<const View *, 1> one{&view};
  for_rows(one, [&](int64_t n, const auto &starts, const auto &strides) {
    load<C>(view.dtype, starts[0], strides[0], n, next);
    next += n;
  });
  return values;
}

template <class C>
void scattered(const View &view, const std::vector<C> &values) {
  const C *next = values.data();
  const std::array<const View *, 1> one{&view};
  for_rows(one, [&](int64_t n, const auto &starts, const auto &strides) {
    store<C>(view.dtype, starts[0], strides[0], n, next);
    next += n;
  });
}

}  // namespace sim
