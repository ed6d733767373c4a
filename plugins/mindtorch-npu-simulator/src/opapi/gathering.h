// Tensors read group by group: what reductions and scans do along some of the dims.
#pragma once

#include "operator.h"

namespace sim {

// Elements as numbers, the groups one after the other, each in row-major order of the chosen dims.
template <class C>
struct Groups {
  std::vector<C> values;
  size_t count = 1, length = 1;  // groups, elements in each

  const C *begin(size_t group) const { return values.data() + group * length; }
};

// The dims in the order of groups: those that tell groups apart, then the chosen ones.
std::vector<size_t> order_of(const std::vector<bool> &chosen);

// The elements of a view; those of a group differ in the chosen dims only.
template <class C>
Groups<C> grouped(const View &view, const std::vector<bool> &chosen) {
  Groups<C> groups;
  for (size_t d = 0; d < chosen.size(); ++d) {
    (chosen[d] ? groups.length : groups.count) *= static_cast<size_t>(view.shape[d]);
  }
  groups.values = gathered<C>(view.permute(order_of(chosen)));
  return groups;
}

// Writes what `grouped` gave, or as many numbers in the same order, into a view.
template <class C>
void ungrouped(const View &view, const std::vector<bool> &chosen, const std::vector<C> &values) {
  scattered<C>(view.permute(order_of(chosen)), values);
}

// The flags of one dim; none for a tensor without dims.
std::vector<bool> only(const Call &call, int64_t dim, const Operand &of);

// The type in which sums of numbers are kept.
template <class C>
using wide = std::conditional_t<
    std::is_same_v<C, float>, double,
    std::conditional_t<std::is_same_v<C, std::complex<float>>, std::complex<double>, C>>;

// A shape without the chosen dims, or with 1 in their place.
Dims reduced_shape(const Dims &shape, const std::vector<bool> &chosen, bool keep);

// Scratch memory for a copy of a tensor that is worked on: whole blocks of 512 bytes, none if
// empty.
uint64_t scratch_bytes(const Operand &operand);

}  // namespace sim
