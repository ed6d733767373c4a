#include "views.h"

#include <algorithm>

namespace sim {

int64_t numel(const Dims &shape) {
  int64_t n = 1;
  for (const int64_t size : shape) {
    if (size == 0) return 0;
    // Shapes that arguments ask for may have more elements than there are numbers.
    if (__builtin_mul_overflow(n, size, &n)) n = INT64_MAX;
  }
  return n;
}

Dims contiguous_strides(const Dims &shape) {
  Dims strides(shape.size());
  int64_t step = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    if (__builtin_mul_overflow(step, std::max<int64_t>(shape[d], 1), &step)) step = INT64_MAX;
  }
  return strides;
}

bool broadcast(const Dims &a, const Dims &b, Dims &result) {
  const Dims &longer = a.size() >= b.size() ? a : b;
  const Dims &shorter = a.size() >= b.size() ? b : a;
  result = longer;
  const size_t missing = longer.size() - shorter.size();
  for (size_t d = 0; d < shorter.size(); ++d) {
    int64_t &size = result[d + missing];
    if (size == 1) {
      size = shorter[d];
    } else if (shorter[d] != 1 && shorter[d] != size) {
      return false;
    }
  }
  return true;
}

bool View::contiguous() const {
  if (numel() == 0) return true;
  const Dims packed = contiguous_strides(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1 && strides[d] != packed[d]) return false;
  }
  return true;
}

View View::expand(const Dims &to) const {
  View wide{dtype, to, Dims(to.size(), 0), data};
  const size_t missing = to.size() - shape.size();
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == to[d + missing]) wide.strides[d + missing] = strides[d];
  }
  return wide;
}

View View::permute(const std::vector<size_t> &order) const {
  View turned{dtype, {}, {}, data};
  for (const size_t d : order) {
    turned.shape.push_back(shape[d]);
    turned.strides.push_back(strides[d]);
  }
  return turned;
}

View View::select(size_t dim, int64_t index) const {
  View rest = *this;
  rest.data += index * strides[dim] * static_cast<int64_t>(item_size(dtype));
  rest.shape.erase(rest.shape.begin() + static_cast<std::ptrdiff_t>(dim));
  rest.strides.erase(rest.strides.begin() + static_cast<std::ptrdiff_t>(dim));
  return rest;
}

View View::narrow(size_t dim, int64_t start, int64_t length) const {
  View part = *this;
  part.data += start * strides[dim] * static_cast<int64_t>(item_size(dtype));
  part.shape[dim] = length;
  return part;
}

View View::with_dtype(aclDataType d) const {
  View other = *this;
  other.dtype = d;
  return other;
}

}  // namespace sim
