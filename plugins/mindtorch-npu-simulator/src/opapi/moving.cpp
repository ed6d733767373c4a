#include "moving.h"

namespace sim {
namespace {

// The addresses that a view touches, as [first, last).
std::pair<const char *, const char *> memory_of(const View &view) {
  int64_t first = 0, last = 0;
  for (size_t d = 0; d < view.shape.size(); ++d) {
    const int64_t reach = (view.shape[d] - 1) * view.strides[d];
    (reach < 0 ? first : last) += reach;
  }
  const auto size = static_cast<int64_t>(item_size(view.dtype));
  return {view.data + first * size, view.data + (last + 1) * size};
}

bool overlap(const View &a, const View &b) {
  if (a.numel() == 0 || b.numel() == 0) return false;
  const auto [a_first, a_last] = memory_of(a);
  const auto [b_first, b_last] = memory_of(b);
  return a_first < b_last && b_first < a_last;
}

}  // namespace

Buffer::Buffer(aclDataType d, const Dims &shape)
    : memory_(static_cast<size_t>(sim::numel(shape)) * item_size(d) / sizeof(Cell16) + 1),
      view_{d, shape, contiguous_strides(shape), reinterpret_cast<char *>(memory_.data())} {}

void move(const View &to, const View &from) {
  const View wide = from.expand(to.shape);
  const std::array<const View *, 2> views{&to, &wide};
  with_cell(to.dtype, [&](auto cell) {
    using T = decltype(cell);
    for_rows(views, [](int64_t n, const auto &starts, const auto &strides) {
      if (strides[0] == 1 && strides[1] == 1) {
        std::memcpy(starts[0], starts[1], static_cast<size_t>(n) * sizeof(T));
        return;
      }
      auto *target = reinterpret_cast<T *>(starts[0]);
      const auto *source = reinterpret_cast<const T *>(starts[1]);
      for (int64_t i = 0; i < n; ++i) target[i * strides[0]] = source[i * strides[1]];
    });
  });
}

void convert(const View &to, const View &from) {
  if (to.dtype == from.dtype) return move(to, from);
  with_number<ALL_NUMBERS>(from.dtype, [&](auto zero) {
    using C = decltype(zero);
    elementwise<C>(to, [](C x) { return x; }, from);
  });
}

void convert_overlapping(const View &to, const View &from) {
  if (!overlap(to, from)) return convert(to, from);
  const Buffer copy(from.dtype, from.shape);
  move(copy.view(), from);
  convert(to, copy.view());
}

void fill(const View &to, const Number &number) {
  with_number<ALL_NUMBERS>(to.dtype, [&](auto zero) {
    using C = decltype(zero);
    const C value = to.dtype == ACL_BOOL ? C(number.as<bool>()) : number.as<C>();
    elementwise<C>(to, [=] { return value; });
  });
}

View with_a_dim(const View &view) {
  return view.shape.empty() ? View{view.dtype, {1}, {1}, view.data} : view;
}

View view_of(std::vector<int64_t> &values, const Dims &shape) {
  return {ACL_INT64, shape, contiguous_strides(shape), reinterpret_cast<char *>(values.data())};
}

uint64_t packed_bytes(const Operand &operand) {
  if (!operand || operand.contiguous()) return 0;
  return static_cast<uint64_t>(operand.numel()) * item_size(operand.dtype());
}

std::vector<int64_t> offsets_of(const Launch &launch, const View &index, int64_t size,
                                int64_t stride, bool negative) {
  std::vector<int64_t> offsets = gathered<int64_t>(index);
  for (int64_t &offset : offsets) {
    const int64_t at = negative && offset < 0 ? offset + size : offset;
    if (at < 0 || at >= size) {
      launch.fault("index " + std::to_string(offset) + " is out of range for a dim of " +
                   std::to_string(size) + " elements");
    }
    offset = at * stride;
  }
  return offsets;
}

}  // namespace sim
