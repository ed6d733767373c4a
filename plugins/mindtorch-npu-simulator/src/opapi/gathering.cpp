#include "gathering.h"

namespace sim {

std::vector<size_t> order_of(const std::vector<bool> &chosen) {
  std::vector<size_t> order;
  for (const bool inside : {false, true}) {
    for (size_t d = 0; d < chosen.size(); ++d) {
      if (chosen[d] == inside) order.push_back(d);
    }
  }
  return order;
}

std::vector<bool> only(const Call &call, int64_t dim, const Operand &of) {
  const auto d = static_cast<size_t>(call.axis(dim, of));
  std::vector<bool> chosen(of.shape().size(), false);
  if (!chosen.empty()) chosen[d] = true;
  return chosen;
}

Dims reduced_shape(const Dims &shape, const std::vector<bool> &chosen, bool keep) {
  Dims rest;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!chosen[d]) rest.push_back(shape[d]);
    else if (keep) rest.push_back(1);
  }
  return rest;
}

uint64_t scratch_bytes(const Operand &operand) {
  constexpr uint64_t BLOCK = 512;
  const auto bytes = static_cast<uint64_t>(operand.numel()) * item_size(operand.dtype());
  return (bytes + BLOCK - 1) / BLOCK * BLOCK;
}

}  // namespace sim
