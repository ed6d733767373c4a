// Sums and extremes over a list of tensors, element by element.
#include "../elementwise.h"
#include "../gathering.h"

using namespace sim;

namespace {

// out = f(f(first, second), third)...; `same` demands one shape of all.
template <class F>
void folded(Call &call, const std::vector<Operand> &tensors, const Operand &out, bool same, F f) {
  call.require(!tensors.empty(), "tensors is an empty list");
  aclDataType as = tensors[0].dtype();
  Dims shape = tensors[0].shape();
  for (const Operand &tensor : tensors) {
    if (same) call.shape_is(tensor, shape);
    Dims joined;
    call.require(broadcast(shape, tensor.shape(), joined), "tensors do not broadcast");
    shape = joined;
    as = promote(as, tensor.dtype());
    call.require(as != ACL_DT_UNDEFINED, "the dtypes of tensors do not combine");
  }
  call.shape_is(out, shape);
  call.writes(as, out);
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<REALS | WHOLE>(as, [&](auto zero) {
      using C = decltype(zero);
      auto total = gathered<C>(launch[tensors[0]].expand(shape));
      for (size_t k = 1; k < tensors.size(); ++k) {
        const auto next = gathered<C>(launch[tensors[k]].expand(shape));
        for (size_t i = 0; i < total.size(); ++i) total[i] = f(total[i], next[i]);
      }
      scattered(launch[out], total);
    });
  });
}

const auto sum = [](auto a, auto b) { return plus(a, b); };
const auto greater = [](auto a, auto b) { return a != a || a > b ? a : b; };
const auto smaller = [](auto a, auto b) { return a != a || a < b ? a : b; };

constexpr DTypes SUMMED = F32 | F16 | I8 | I32 | U8;

}  // namespace

ACLNN(Sum, (const aclTensorList *tensors, aclTensor *out), (tensors, out)) {
  const auto members = call.list(tensors, "tensors", SUMMED);
  folded(call, members, call.out(out, "out", SUMMED), false, sum);
}

ACLNN(AddN, (const aclTensorList *tensors, aclTensor *out), (tensors, out)) {
  const auto members = call.list(tensors, "tensors", FLT3 | IDX);
  const Operand result = call.out(out, "out", FLT3 | IDX);
  for (const Operand &member : members) call.dtype_is(member, result.dtype());
  folded(call, members, result, true, sum);
}

ACLNN(MaxN, (const aclTensorList *tensors, aclTensor *out), (tensors, out)) {
  const auto members = call.list(tensors, "tensors");
  folded(call, members, call.out(out, "out", FLT3 | I8 | I32 | I64), false, greater);
}

ACLNN(MinN, (const aclTensorList *tensors, aclTensor *out), (tensors, out)) {
  constexpr DTypes ALLOWED = FLT3 | I8 | I32 | I64 | U8;
  const auto members = call.list(tensors, "tensors", ALLOWED);
  folded(call, members, call.out(out, "out", ALLOWED), false, smaller);
}
