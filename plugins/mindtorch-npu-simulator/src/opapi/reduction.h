// Reductions: one number from each group of elements.
#pragma once

#include "gathering.h"

namespace sim {

// A list of dims that may be left out; both ways of leaving it out mean all dims.
inline Dims dims_or_all(Call &call, const aclIntArray *dims, const char *name) {
  return dims == nullptr ? Dims{} : call.ints(dims, name);
}

// Which dims go, checked against out.
inline std::vector<bool> reduced_dims(const Call &call, const Operand &self, const Dims &dims,
                                      bool keep, const Operand &out) {
  const std::vector<bool> chosen = call.axes(dims, self);
  call.shape_is(out, reduced_shape(self.shape(), chosen, keep));
  return chosen;
}

// All dims go; the documents give such a result no dims or a single one of size 1.
inline std::vector<bool> all_dims(const Call &call, const Operand &self, const Operand &out) {
  call.require(out.shape().empty() || out.shape() == Dims{1},
               out.name() + " must have the shape [] or [1]");
  return std::vector<bool>(self.shape().size(), true);
}

// Extremes of nothing do not exist.
inline void not_empty(const Call &call, const Operand &self, const std::vector<bool> &chosen) {
  for (size_t d = 0; d < chosen.size(); ++d) {
    call.require(!chosen[d] || self.shape()[d] != 0,
                 "self has no elements in a dim that is reduced");
  }
}

// out = f(elements of a group, how many), computed in the numbers of `as`; the results are of f's
// type.
template <unsigned Kinds, class F>
void reduce(Call &call, const Operand &self, const std::vector<bool> &chosen, aclDataType as,
            const Operand &out, F f) {
  call.workspace(scratch_bytes(self));
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<Kinds>(as, [&](auto zero) {
      using C = wide<decltype(zero)>;
      const Groups<C> groups = grouped<C>(launch[self], chosen);
      std::vector<std::decay_t<decltype(f(groups.begin(0), size_t{}))>> results(groups.count);
      for (size_t k = 0; k < groups.count; ++k) results[k] = f(groups.begin(k), groups.length);
      scattered(launch[out], results);
    });
  });
}

}  // namespace sim
