// Dropout and its masks: a bit an element, 1 where the element is kept.
#include "../moving.h"
#include "../philox.h"

using namespace sim;

namespace {

// The bytes of a mask: whole units of 128 elements.
int64_t mask_bytes(int64_t elements) { return (elements + 127) / 128 * 16; }

std::vector<uint8_t> random_mask(int64_t elements, double dropped, int64_t seed, int64_t offset) {
  Philox source(static_cast<uint64_t>(seed), static_cast<uint64_t>(offset));
  std::vector<uint8_t> mask(static_cast<size_t>(mask_bytes(elements)), 0);
  for (int64_t i = 0; i < elements; ++i) {
    if (source.uniform(32) >= dropped)
      mask[static_cast<size_t>(i / 8)] |= static_cast<uint8_t>(1u << (i % 8));
  }
  return mask;
}

// out = the kept elements of `from`, scaled.
void masked(const View &out, const View &from, const std::vector<uint8_t> &mask, double scale) {
  const auto by = static_cast<float>(scale);
  size_t i = 0;
  const auto kept = [&](float x) {
    const bool keep = (mask[i / 8] >> (i % 8) & 1) != 0;
    ++i;
    return keep ? x * by : 0.0f;
  };
  elementwise<float>(out, kept, from);
}

void check_probability(Call &call, const char *name, double p) {
  call.require(0 <= p && p <= 1, std::string(name) + " is not between 0 and 1");
}

void check_mask(Call &call, const Operand &mask, int64_t elements) {
  call.require(mask.numel() >= mask_bytes(elements),
               mask.name() + " has " + std::to_string(mask.numel()) + " bytes, " +
                   std::to_string(elements) + " elements need " +
                   std::to_string(mask_bytes(elements)));
}

void generate_mask(Call &call, const Dims &shape, double prob, int64_t seed, int64_t offset,
                   const Operand &out) {
  check_probability(call, "prob", prob);
  const int64_t elements = numel(shape);
  check_mask(call, out, elements);
  if (elements == 0) return;
  call.run([=](Launch &launch) {
    std::vector<uint8_t> mask = random_mask(elements, prob, seed, offset);
    mask.resize(static_cast<size_t>(out.numel()), 0);
    scattered(launch[out], mask);
  });
}

void apply_mask(Call &call, const Operand &from, const Operand &mask, double scale,
                const Operand &out) {
  call.shape_is(out, from.shape());
  call.dtype_is(out, from.dtype());
  check_mask(call, mask, from.numel());
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    masked(launch[out], launch[from], gathered<uint8_t>(launch[mask]), scale);
  });
}

// What is left when everything is dropped counts as 0, not as 0 / 0.
double kept_scale(double dropped) { return dropped == 1 ? 0 : 1 / (1 - dropped); }

}  // namespace

ACLNN(Dropout,
      (const aclTensor *input, double p, bool train, int64_t seed, int64_t offset, aclTensor *out,
       aclTensor *maskOut),
      (input, p, train, seed, offset, out, maskOut)) {
  const Operand from = call.in(input, "input", FLT3), to = call.out(out, "out", FLT3);
  const Operand mask = call.out(maskOut, "maskOut", U8);
  check_probability(call, "p", p);
  call.shape_is(to, from.shape());
  call.dtype_is(to, from.dtype());
  check_mask(call, mask, from.numel());
  if (to.numel() == 0) return;
  call.run([=](Launch &launch) {
    if (!train || p == 0) return move(launch[to], launch[from]);
    if (p == 1) return elementwise<float>(launch[to], [] { return 0.0f; });
    std::vector<uint8_t> kept = random_mask(from.numel(), p, seed, offset);
    masked(launch[to], launch[from], kept, kept_scale(p));
    kept.resize(static_cast<size_t>(mask.numel()), 0);
    scattered(launch[mask], kept);
  });
}

ACLNN(DropoutBackward,
      (const aclTensor *gradOutput, const aclTensor *mask, double scale, aclTensor *out),
      (gradOutput, mask, scale, out)) {
  const Operand from = call.in(gradOutput, "gradOutput", FLT3), bits = call.in(mask, "mask", U8);
  apply_mask(call, from, bits, scale, call.out(out, "out", FLT3));
}

ACLNN(DropoutGenMask,
      (const aclIntArray *shape, double prob, int64_t seed, int64_t offset, aclTensor *out),
      (shape, prob, seed, offset, out)) {
  generate_mask(call, call.ints(shape, "shape"), prob, seed, offset, call.out(out, "out", U8));
}

ACLNN(DropoutGenMaskV2,
      (const aclIntArray *shape, double prob, int64_t seed, int64_t offset,
       aclDataType probDataType, aclTensor *out),
      (shape, prob, seed, offset, probDataType, out)) {
  call.require(has(FLT3, probDataType), "probDataType is none of FLOAT, FLOAT16, BFLOAT16");
  generate_mask(call, call.ints(shape, "shape"), prob, seed, offset, call.out(out, "out", U8));
}

ACLNN(DropoutDoMask, (const aclTensor *self, const aclTensor *mask, double prob, aclTensor *out),
      (self, mask, prob, out)) {
  const Operand from = call.in(self, "self", FLT3), bits = call.in(mask, "mask", U8);
  check_probability(call, "prob", prob);
  apply_mask(call, from, bits, kept_scale(prob), call.out(out, "out", FLT3));
}
