// Copies, casts and fills.
#include "../moving.h"

using namespace sim;

namespace {

void filled(Call &call, const Operand &target, const Number &number) {
  if (target.numel() == 0) return;
  call.run([=](Launch &launch) { fill(launch[target], number); });
}

// A number that the program did not give.
Number whole(int64_t value) {
  Number number;
  number.dtype = ACL_INT64;
  number.value = static_cast<double>(value);
  number.whole = value;
  return number;
}

}  // namespace

ACLNN(InplaceCopy, (aclTensor * selfRef, const aclTensor *src), (selfRef, src)) {
  const Operand target = call.inout(selfRef, "selfRef"), source = call.in(src, "src");
  Dims shape;
  const bool fits = broadcast(source.shape(), target.shape(), shape) && shape == target.shape();
  call.require(fits, "src does not broadcast to the shape of selfRef");
  if (target.numel() == 0) return;
  call.workspace(std::max(packed_bytes(source), packed_bytes(target)));
  call.run([=](Launch &launch) { convert_overlapping(launch[target], launch[source]); });
}

ACLNN(Cast, (const aclTensor *self, aclDataType dtype, aclTensor *out), (self, dtype, out)) {
  const Operand from = call.in(self, "self"), to = call.out(out, "out");
  call.dtype_is(to, dtype);
  call.shape_is(to, from.shape());
  if (to.numel() == 0) return;
  call.run([=](Launch &launch) { convert(launch[to], launch[from]); });
}

ACLNN(InplaceFillScalar, (aclTensor * selfRef, const aclScalar *value), (selfRef, value)) {
  const Operand target = call.inout(selfRef, "selfRef");
  filled(call, target, call.scalar(value, "value"));
}

ACLNN(InplaceFillTensor, (aclTensor * selfRef, const aclTensor *value), (selfRef, value)) {
  const Operand target = call.inout(selfRef, "selfRef", REAL10 | WIDE_UNSIGNED);
  const Operand number = call.in(value, "value");
  call.require(number.numel() == 1, "value must have one element");
  call.dtype_is(number, target.dtype());
  if (target.numel() == 0) return;
  call.run([=](Launch &launch) {
    View one = launch[number];
    one.shape = one.strides = {};
    move(launch[target], one);
  });
}

ACLNN(InplaceZero, (aclTensor * selfRef), (selfRef)) {
  filled(call, call.inout(selfRef, "selfRef", NUM12 | U16), whole(0));
}

ACLNN(InplaceOne, (aclTensor * selfRef), (selfRef)) {
  filled(call, call.inout(selfRef, "selfRef", REAL10 | U16), whole(1));
}

ACLNN(InplaceFillDiagonal, (aclTensor * selfRef, const aclScalar *fillValue, bool wrap),
      (selfRef, fillValue, wrap)) {
  const Operand target = call.inout(selfRef, "selfRef", REAL10 | C64);
  const Number number = call.scalar(fillValue, "fillValue");
  call.require(target.dim() >= 2, "selfRef has fewer than 2 dimensions");
  const Dims &shape = target.shape();
  const bool square =
      std::all_of(shape.begin(), shape.end(), [&](int64_t size) { return size == shape[0]; });
  call.require(target.dim() == 2 || square,
               "selfRef of more than 2 dimensions must have equal sizes");
  if (target.numel() == 0) return;
  call.run([=](Launch &launch) {
    const View &all = launch[target];
    const int64_t rows = all.shape[0], columns = all.shape[1];
    int64_t step = 0;
    for (const int64_t stride : all.strides) step += stride;
    View diagonal{
        all.dtype, {*std::min_element(all.shape.begin(), all.shape.end())}, {step}, all.data};
    fill(diagonal, number);
    // A tall matrix goes on after one row without an element.
    const int64_t period = columns + 1;
    for (int64_t first = period; wrap && all.dim() == 2 && first < rows; first += period) {
      const View rest = all.narrow(0, first, rows - first);
      diagonal.data = rest.data;
      diagonal.shape[0] = std::min(rows - first, columns);
      fill(diagonal, number);
    }
  });
}
