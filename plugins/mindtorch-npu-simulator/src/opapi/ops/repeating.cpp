// Elements repeated one by one (repeat_interleave); the caller says how many there will be.
#include "../indexed.h"
#include "../sizes.h"

using namespace sim;

namespace {

constexpr DTypes REPEATED = REAL10 & ~F64;

// For each result which element it is: 0, 0, 1, 2, 2, 2 for repeats of 2, 1, 3.
std::vector<int64_t> sources_of(const Launch &launch, const std::vector<int64_t> &repeats,
                                int64_t size, int64_t expected) {
  std::vector<int64_t> sources;
  for (int64_t i = 0; i < size; ++i) {
    const int64_t times = repeats[repeats.size() == 1 ? 0 : static_cast<size_t>(i)];
    if (times < 0) launch.fault("repeats has a negative element");
    if (static_cast<int64_t>(sources.size()) + times > expected) {
      launch.fault("repeats make more than outputSize elements");
    }
    sources.insert(sources.end(), static_cast<size_t>(times), i);
  }
  if (static_cast<int64_t>(sources.size()) != expected) {
    launch.fault("repeats make fewer than outputSize elements");
  }
  return sources;
}

// Repeats along a dim, or of all elements in row-major order; `repeats` gives the numbers when the
// kernel runs.
template <class Repeats>
void repeated(Call &call, const Operand &self, bool flat, int64_t dim, int64_t output_size,
              const Operand &out, Repeats repeats) {
  const size_t along = flat ? 0 : static_cast<size_t>(call.axis(dim, self));
  call.require(output_size >= 0, "outputSize is negative");
  call.dtype_is(out, self.dtype());
  Dims shape = flat || self.dim() == 0 ? Dims{1} : self.shape();
  shape[along] = output_size;
  call.shape_is(out, shape);
  if (out.numel() == 0) return;
  call.workspace(packed_bytes(self));
  call.run([=](Launch &launch) {
    const Buffer copy(self.dtype(), self.shape());
    move(copy.view(), launch[self]);
    View from = with_a_dim(copy.view());
    if (flat) {
      from.shape = {self.numel()};
      from.strides = {1};
    }
    std::vector<int64_t> sources =
        sources_of(launch, repeats(launch), from.shape[along], output_size);
    const View list = view_of(sources, {output_size});
    fetch(launch[out], select_lines(launch, from, along, list, false));
  });
}

void repeated_by(Call &call, const Operand &self, bool flat, int64_t dim, const Operand &repeats,
                 int64_t output_size, const Operand &out) {
  const size_t along = flat ? 0 : static_cast<size_t>(call.axis(dim, self));
  const int64_t size = flat ? self.numel() : self.dim() == 0 ? 1 : self.shape()[along];
  call.require(repeats.dim() <= 1 && (repeats.numel() == 1 || repeats.numel() == size),
               "repeats must have one element, or one for each that is repeated");
  repeated(call, self, flat, dim, output_size, out,
           [=](Launch &launch) { return gathered<int64_t>(launch[repeats]); });
}

void repeated_by(Call &call, const Operand &self, bool flat, int64_t dim, int64_t repeats,
                 int64_t output_size, const Operand &out) {
  call.require(repeats >= 0, "repeats is negative");
  size_is_possible(call, repeats, "repeats");
  const size_t along = flat ? 0 : static_cast<size_t>(call.axis(dim, self));
  const int64_t size = flat ? self.numel() : self.dim() == 0 ? 1 : self.shape()[along];
  call.require(output_size == size * repeats, "outputSize is not what repeats make");
  repeated(call, self, flat, dim, output_size, out,
           [=](Launch &) { return std::vector<int64_t>{repeats}; });
}

}  // namespace

ACLNN(RepeatInterleave,
      (const aclTensor *self, const aclTensor *repeats, int64_t outputSize, aclTensor *out),
      (self, repeats, outputSize, out)) {
  const Operand from = call.in(self, "self", REPEATED), times = call.in(repeats, "repeats", IDX);
  repeated_by(call, from, true, 0, times, outputSize, call.out(out, "out", REPEATED));
}

ACLNN(RepeatInterleaveInt,
      (const aclTensor *self, int64_t repeats, int64_t outputSize, aclTensor *out),
      (self, repeats, outputSize, out)) {
  const Operand from = call.in(self, "self", REPEATED);
  repeated_by(call, from, true, 0, repeats, outputSize, call.out(out, "out", REPEATED));
}

ACLNN(RepeatInterleaveWithDim,
      (const aclTensor *self, const aclTensor *repeats, int64_t dim, int64_t outputSize,
       aclTensor *out),
      (self, repeats, dim, outputSize, out)) {
  const Operand from = call.in(self, "self", REPEATED), times = call.in(repeats, "repeats", IDX);
  repeated_by(call, from, false, dim, times, outputSize, call.out(out, "out", REPEATED));
}

ACLNN(RepeatInterleaveIntWithDim,
      (const aclTensor *self, int64_t repeats, int64_t dim, int64_t outputSize, aclTensor *out),
      (self, repeats, dim, outputSize, out)) {
  const Operand from = call.in(self, "self", REPEATED);
  repeated_by(call, from, false, dim, repeats, outputSize, call.out(out, "out", REPEATED));
}

ACLNN(RepeatInterleaveTensor, (const aclTensor *repeats, int64_t outputSize, aclTensor *out),
      (repeats, outputSize, out)) {
  const Operand times = call.in(repeats, "repeats", IDX), to = call.out(out, "out", IDX);
  call.require(times.dim() == 1, "repeats must have 1 dimension");
  call.require(outputSize >= 0, "outputSize is negative");
  call.shape_is(to, {outputSize});
  if (to.numel() == 0) return;
  call.run([=](Launch &launch) {
    const std::vector<int64_t> counts = gathered<int64_t>(launch[times]);
    scattered(launch[to], sources_of(launch, counts, times.numel(), outputSize));
  });
}
