// Padding with a number, with what lies next to the border, and the gradients.
#include "../gathering.h"
#include "../sizes.h"

using namespace sim;

namespace {

constexpr DTypes PADDED = NUM12 | WIDE_UNSIGNED;

// How many elements are put before and after a dim; negative ones take elements away.
struct Border {
  int64_t before = 0, after = 0;
};

// What lies at index i outside of 0 <= i < n: an index inside, or -1 for none.
using Outside = int64_t (*)(int64_t i, int64_t n);

int64_t nothing(int64_t, int64_t) { return -1; }
int64_t mirrored(int64_t i, int64_t n) { return i < 0 ? -i : 2 * (n - 1) - i; }
int64_t repeated(int64_t i, int64_t n) { return i < 0 ? 0 : n - 1; }
int64_t wrapped(int64_t i, int64_t n) { return i < 0 ? i + n : i - n; }

// The borders of all dims from a list that begins with the last dim.
std::vector<Border> borders(const Call &call, const Dims &pad, const Operand &self) {
  const size_t rank = self.shape().size();
  call.require(pad.size() % 2 == 0 && pad.size() / 2 <= rank,
               "the padding must have two numbers for each padded dim");
  for (const int64_t border : pad) size_is_possible(call, border, "an element of the padding");
  std::vector<Border> all(rank);
  for (size_t k = 0; k < pad.size() / 2; ++k) all[rank - 1 - k] = {pad[2 * k], pad[2 * k + 1]};
  return all;
}

Dims padded_shape(const Call &call, const Dims &shape, const std::vector<Border> &all) {
  Dims padded = shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    padded[d] += all[d].before + all[d].after;
    call.require(padded[d] >= 0, "the padding takes more than there is");
  }
  return padded;
}

// For every element of the padded tensor in order, where in the other one it comes from.
std::vector<int64_t> sources(const Dims &shape, const std::vector<Border> &all, Outside outside) {
  std::vector<int64_t> found{0};
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t n = shape[d];
    std::vector<int64_t> next;
    for (const int64_t start : found) {
      for (int64_t i = -all[d].before; i < n + all[d].after; ++i) {
        const int64_t at = 0 <= i && i < n ? i : outside(i, n);
        next.push_back(start < 0 || at < 0 ? -1 : start * n + at);
      }
    }
    found = std::move(next);
  }
  return found;
}

void pad(Call &call, const Operand &self, const std::vector<Border> &all, Outside outside,
         const Number &value, const Operand &out) {
  call.shape_is(out, padded_shape(call, self.shape(), all));
  call.dtype_is(out, self.dtype());
  call.workspace(scratch_bytes(self));
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    const auto places = sources(self.shape(), all, outside);
    with_number<ALL_NUMBERS>(self.dtype(), [&](auto zero) {
      using C = decltype(zero);
      const auto values = gathered<C>(launch[self]);
      std::vector<C> padded(places.size(), value.as<C>());
      for (size_t i = 0; i < places.size(); ++i) {
        if (places[i] >= 0) padded[i] = values[static_cast<size_t>(places[i])];
      }
      scattered(launch[out], padded);
    });
  });
}

// What the documents of the padding of 1, 2 or 3 dims ask for.
std::vector<Border> spatial(Call &call, const Operand &self, const aclIntArray *padding,
                            size_t dims, Outside outside) {
  const Dims pairs = call.ints(padding, "padding");
  call.require(pairs.size() == 2 * dims, "padding must have two numbers for each padded dim");
  const size_t rank = self.shape().size();
  call.require(rank == dims + 1 || rank == dims + 2, "self has a wrong number of dims");
  const auto all = borders(call, pairs, self);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t most = outside == repeated ? INT64_MAX : self.shape()[d] - (outside == mirrored);
    call.require(all[d].before <= most && all[d].after <= most,
                 "padding is larger than self allows");
    call.require(self.shape()[d] > 0 || d < rank - dims, "self has no elements to pad with");
  }
  return all;
}

void pad_gradient(Call &call, const Operand &grad, const Operand &self,
                  const std::vector<Border> &all, Outside outside, const Operand &out) {
  call.shape_is(grad, padded_shape(call, self.shape(), all));
  call.shape_is(out, self.shape());
  for (const Operand *other : {&grad, &out}) call.dtype_is(*other, self.dtype());
  call.workspace(scratch_bytes(grad));
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    const auto places = sources(self.shape(), all, outside);
    with_number<REALS | COMPLEXES>(self.dtype(), [&](auto zero) {
      using C = wide<decltype(zero)>;
      const auto gradients = gathered<C>(launch[grad]);
      std::vector<C> sums(static_cast<size_t>(launch[out].numel()));
      for (size_t i = 0; i < places.size(); ++i) {
        sums[static_cast<size_t>(places[i])] += gradients[i];
      }
      scattered(launch[out], sums);
    });
  });
}

}  // namespace

ACLNN(ConstantPadNd,
      (const aclTensor *self, const aclIntArray *pad, const aclScalar *value, aclTensor *out),
      (self, pad, value, out)) {
  const Operand x = call.in(self, "self", PADDED), y = call.out(out, "out");
  const auto all = borders(call, call.ints(pad, "pad"), x);
  ::pad(call, x, all, nothing, call.scalar(value, "value"), y);
}

#define PADDING(Name, DIMS, ALLOWED, OUTSIDE)                                            \
  ACLNN(Name, (const aclTensor *self, const aclIntArray *padding, aclTensor *out),       \
        (self, padding, out)) {                                                          \
    const Operand x = call.in(self, "self", ALLOWED), y = call.out(out, "out", ALLOWED); \
    pad(call, x, spatial(call, x, padding, DIMS, OUTSIDE), OUTSIDE, {}, y);              \
  }

#define PADDING_GRADIENT(Name, DIMS, ALLOWED, OUTSIDE)                                   \
  ACLNN(Name,                                                                            \
        (const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *padding, \
         aclTensor *gradInput),                                                          \
        (gradOutput, self, padding, gradInput)) {                                        \
    const Operand g = call.in(gradOutput, "gradOutput", ALLOWED);                        \
    const Operand x = call.in(self, "self", ALLOWED);                                    \
    const Operand y = call.out(gradInput, "gradInput", ALLOWED);                         \
    pad_gradient(call, g, x, spatial(call, x, padding, DIMS, OUTSIDE), OUTSIDE, y);      \
  }

PADDING(ReflectionPad1d, 1, PADDED, mirrored)
PADDING(ReflectionPad2d, 2, PADDED, mirrored)
PADDING(ReflectionPad3d, 3, PADDED, mirrored)
PADDING(ReplicationPad1d, 1, PADDED, repeated)
PADDING(ReplicationPad2d, 2, PADDED, repeated)
PADDING(ReplicationPad3d, 3, PADDED, repeated)
PADDING(CircularPad2d, 2, FLT3 | I8 | I32, wrapped)
PADDING_GRADIENT(ReflectionPad1dBackward, 1, FLTC6, mirrored)
PADDING_GRADIENT(ReflectionPad2dBackward, 2, FLTC6, mirrored)
PADDING_GRADIENT(ReflectionPad3dBackward, 3, FLTC6, mirrored)
PADDING_GRADIENT(ReplicationPad1dBackward, 1, FLTC6, repeated)
PADDING_GRADIENT(ReplicationPad2dBackward, 2, FLTC6, repeated)
PADDING_GRADIENT(ReplicationPad3dBackward, 3, FLTC6, repeated)
PADDING_GRADIENT(CircularPad2dBackward, 2, FLT3, wrapped)
