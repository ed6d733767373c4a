// Losses: what they share in reducing, and in the gradients of the reductions.
#pragma once

#include "moving.h"

namespace sim {

enum Reduction : int64_t { NONE, MEAN, SUM, BATCH_MEAN };

// Refuses other numbers; `most` is the last that the operator knows.
inline void check_reduction(const Call &call, int64_t reduction, int64_t most = SUM) {
  call.require(NONE <= reduction && reduction <= most,
               "reduction " + std::to_string(reduction) + " is not known");
}

// A reduced result has no dims; one element in one dim is taken too.
inline void check_reduced(const Call &call, const Operand &out, int64_t reduction,
                          const Dims &unreduced) {
  if (reduction == NONE) return call.shape_is(out, unreduced);
  call.require(out.dim() <= 1 && out.numel() == 1, out.name() + " must have one element");
}

// The elements as doubles, broadcast; ones for an optional tensor that was left out.
inline std::vector<double> broadcast_values(const Launch &launch, const Operand &operand,
                                            const Dims &shape) {
  if (!operand) return std::vector<double>(static_cast<size_t>(numel(shape)), 1.0);
  return gathered<double>(launch[operand].expand(shape));
}

// What the sum of the elements is divided by.
inline double divisor_of(int64_t reduction, const Dims &shape) {
  if (reduction == MEAN) return static_cast<double>(numel(shape));
  if (reduction == BATCH_MEAN) return shape.empty() ? 1.0 : static_cast<double>(shape[0]);
  return 1;
}

inline void store_reduced(const View &out, std::vector<double> values, int64_t reduction,
                          double divisor) {
  if (reduction == NONE) return scattered(out, values);
  double sum = 0;
  for (const double value : values) sum += value;
  scattered<double>(out, {sum / divisor});
}

}  // namespace sim
