// Order along a dim: sort, topk, kthvalue.
#include <cmath>
#include <numeric>

#include "../moving.h"

using namespace sim;

namespace {

constexpr DTypes SORTED = (REAL9 & ~F64) | WIDE_UNSIGNED;

// Whether a comes before b; NaN counts as the largest number.
template <class C>
bool less(C a, C b) {
  if constexpr (std::is_floating_point_v<C>) {
    if (std::isnan(b)) return !std::isnan(a);
  }
  return a < b;
}

// The order of a line's elements, equal ones as they stand.
template <class C>
std::vector<int64_t> order_of(const std::vector<C> &line, bool descending) {
  std::vector<int64_t> order(line.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const C x = line[static_cast<size_t>(a)], y = line[static_cast<size_t>(b)];
    return descending ? less(y, x) : less(x, y);
  });
  return order;
}

// Which of the places of a sorted line are wanted.
struct Wanted {
  int64_t first, count;
  bool descending;
};

// Writes the wanted elements of every line along a dim, and where they were.
void write_sorted(const View &self, size_t dim, const Wanted &wanted, const View *values,
                  const View *indices) {
  const int64_t size = self.shape[dim], step = self.strides[dim];
  const std::array<const View *, 3> views{&self, values == nullptr ? &self : values,
                                          indices == nullptr ? &self : indices};
  with_number<REALS | WHOLE>(self.dtype, [&](auto zero) {
    using C = decltype(zero);
    std::vector<C> line(static_cast<size_t>(size)), picked(static_cast<size_t>(wanted.count));
    for_lines(views, dim, [&](const auto &starts) {
      load<C>(self.dtype, starts[0], step, size, line.data());
      const std::vector<int64_t> order = order_of(line, wanted.descending);
      const int64_t *places = order.data() + wanted.first;
      for (int64_t i = 0; i < wanted.count; ++i)
        picked[static_cast<size_t>(i)] = line[static_cast<size_t>(places[i])];
      if (values != nullptr)
        store(values->dtype, starts[1], values->strides[dim], wanted.count, picked.data());
      if (indices != nullptr)
        store(indices->dtype, starts[2], indices->strides[dim], wanted.count, places);
    });
  });
}

// A result that was given without the reduced dim gets it back.
View with_dim(View view, size_t dim, bool kept) {
  if (kept || view.shape.empty()) return with_a_dim(view);
  view.shape.insert(view.shape.begin() + static_cast<ptrdiff_t>(dim), 1);
  view.strides.insert(view.strides.begin() + static_cast<ptrdiff_t>(dim), 1);
  return view;
}

}  // namespace

ACLNN(Sort,
      (const aclTensor *self, bool stable, int64_t dim, bool descending, aclTensor *valuesOut,
       aclTensor *indicesOut),
      (self, stable, dim, descending, valuesOut, indicesOut)) {
  (void)stable;  // always is
  const Operand from = call.in(self, "self", SORTED | BOOL);
  const Operand values = call.out(valuesOut, "valuesOut", REAL10 | WIDE_UNSIGNED);
  const Operand indices = call.out(indicesOut, "indicesOut", I64);
  const auto along = static_cast<size_t>(call.axis(dim, from));
  call.dtype_is(values, from.dtype());
  call.shape_is(values, from.shape());
  call.shape_is(indices, from.shape());
  if (from.numel() == 0) return;
  call.run([=](Launch &launch) {
    const View source = with_a_dim(launch[from]), to = with_a_dim(launch[values]),
               at = with_a_dim(launch[indices]);
    write_sorted(source, along, {0, source.shape[along], descending}, &to, &at);
  });
}

ACLNN(Argsort, (const aclTensor *self, int64_t dim, bool descending, aclTensor *out),
      (self, dim, descending, out)) {
  const Operand from = call.in(self, "self", SORTED), to = call.out(out, "out", I64);
  const auto along = static_cast<size_t>(call.axis(dim, from));
  call.shape_is(to, from.shape());
  if (from.numel() == 0) return;
  call.run([=](Launch &launch) {
    const View source = with_a_dim(launch[from]), at = with_a_dim(launch[to]);
    write_sorted(source, along, {0, source.shape[along], descending}, nullptr, &at);
  });
}

ACLNN(Topk,
      (const aclTensor *self, int64_t k, int64_t dim, bool largest, bool sorted,
       aclTensor *valuesOut, aclTensor *indicesOut),
      (self, k, dim, largest, sorted, valuesOut, indicesOut)) {
  const Operand from = call.in(self, "self", REAL9 | WIDE_UNSIGNED);
  const Operand values = call.out(valuesOut, "valuesOut", REAL9 | WIDE_UNSIGNED);
  const Operand indices = call.out(indicesOut, "indicesOut", I64);
  const auto along = static_cast<size_t>(call.axis(dim, from));
  call.require(sorted, "sorted must be true");
  call.require(0 <= k && k <= (from.dim() == 0 ? 1 : from.shape()[along]),
               "k is out of range for dim");
  Dims shape = from.shape();
  if (!shape.empty()) shape[along] = k;
  call.dtype_is(values, from.dtype());
  call.shape_is(values, shape);
  call.shape_is(indices, shape);
  if (values.numel() == 0) return;
  call.run([=](Launch &launch) {
    const View to = with_a_dim(launch[values]), at = with_a_dim(launch[indices]);
    write_sorted(with_a_dim(launch[from]), along, {0, to.shape[along], largest}, &to, &at);
  });
}

ACLNN(Kthvalue,
      (const aclTensor *self, int64_t k, int64_t dim, bool keepdim, aclTensor *valuesOut,
       aclTensor *indicesOut),
      (self, k, dim, keepdim, valuesOut, indicesOut)) {
  const Operand from = call.in(self, "self", SORTED), values = call.out(valuesOut, "valuesOut");
  const Operand indices = call.out(indicesOut, "indicesOut", I64);
  const auto along = static_cast<size_t>(call.axis(dim, from));
  call.require(1 <= k && k <= (from.dim() == 0 ? 1 : from.shape()[along]),
               "k is out of range for dim");
  Dims shape = from.shape();
  if (!shape.empty()) shape[along] = 1;
  if (!shape.empty() && !keepdim) shape.erase(shape.begin() + static_cast<ptrdiff_t>(along));
  call.dtype_is(values, from.dtype());
  call.shape_is(values, shape);
  call.shape_is(indices, shape);
  if (values.numel() == 0) return;
  call.run([=](Launch &launch) {
    const bool kept = keepdim || from.dim() == 0;
    const View to = with_dim(launch[values], along, kept),
               at = with_dim(launch[indices], along, kept);
    write_sorted(with_a_dim(launch[from]), along, {k - 1, 1, false}, &to, &at);
  });
}
