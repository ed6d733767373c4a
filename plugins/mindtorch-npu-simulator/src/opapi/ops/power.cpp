// Powers.
#include <cmath>

#include "../elementwise.h"

using namespace sim;

namespace {

constexpr DTypes BASES = NUM12 & ~BOOL, RESULTS = NUM12 | WIDE_UNSIGNED;

// By squaring, wrapping around as integers of the hardware do. Of the negative exponents only bases
// 1 and -1 have whole powers; the others give 0.
template <class C>
C whole_power(C base, C exponent) {
  if (exponent < C{0}) {
    if (base == C{1}) return 1;
    if (base == static_cast<C>(-1)) return exponent % 2 == 0 ? C{1} : base;
    return 0;
  }
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (auto left = static_cast<uint64_t>(exponent); left != 0; left >>= 1) {
    if ((left & 1) != 0) result *= square;
    square *= square;
  }
  return static_cast<C>(result);
}

const auto power = [](auto base, auto exponent) {
  using C = decltype(base);
  if constexpr (std::is_integral_v<C>) {
    return whole_power(base, exponent);
  } else if constexpr (std::is_floating_point_v<C>) {
    return std::pow(base, exponent);
  } else {
    if (exponent == C{}) return C{1};
    if (base == C{} && exponent.imag() == 0 && exponent.real() > 0) return C{};
    return std::pow(base, exponent);
  }
};

void tensor_to_tensor(Call &call, const Operand &self, const Operand &exponent,
                      const Operand &out) {
  const aclDataType as = call.common(self, exponent);
  call.require(as != ACL_BOOL, "self and exponent are both bool");
  binary<ALL_NUMBERS>(call, self, exponent, out, as, power);
}

void tensor_to_number(Call &call, const Operand &self, const aclScalar *exponent,
                      const Operand &out) {
  const Number number = call.scalar(exponent, "exponent");
  const aclDataType as = promote_scalar(self.dtype(), number.dtype);
  call.require(as != ACL_BOOL, "self and exponent are both bool");
  call.require(!has(INTEGRAL, as) || number.as<int64_t>() >= 0,
               "integers have no negative powers; convert self to a floating dtype");
  // Roots are what they are of -inf and -0.0 as well, where pow differs.
  const auto by = has(FLOATING, as) ? number.as<double>() : 0;
  if (by == 0.5) return unary<REALS>(call, self, out, as, [](auto x) { return std::sqrt(x); });
  if (by == -0.5) return unary<REALS>(call, self, out, as, [](auto x) { return 1 / std::sqrt(x); });
  with_scalar<ALL_NUMBERS>(call, self, number, out, as, power);
}

}  // namespace

ACLNN(PowTensorTensor, (const aclTensor *self, const aclTensor *exponent, aclTensor *out),
      (self, exponent, out)) {
  const Operand a = call.in(self, "self", NUM12), b = call.in(exponent, "exponent", NUM12);
  tensor_to_tensor(call, a, b, call.out(out, "out", RESULTS));
}

ACLNN(InplacePowTensorTensor, (aclTensor *self, const aclTensor *exponent), (self, exponent)) {
  const Operand a = call.inout(self, "self", BASES);
  tensor_to_tensor(call, a, call.in(exponent, "exponent", BASES), a);
}

ACLNN(PowTensorScalar, (const aclTensor *self, const aclScalar *exponent, aclTensor *out),
      (self, exponent, out)) {
  const Operand a = call.in(self, "self", NUM12);
  tensor_to_number(call, a, exponent, call.out(out, "out", RESULTS));
}

ACLNN(InplacePowTensorScalar, (aclTensor *self, const aclScalar *exponent), (self, exponent)) {
  const Operand a = call.inout(self, "self", BASES);
  tensor_to_number(call, a, exponent, a);
}

ACLNN(PowScalarTensor, (const aclScalar *self, const aclTensor *exponent, aclTensor *out),
      (self, exponent, out)) {
  const Number number = call.scalar(self, "self");
  const Operand b = call.in(exponent, "exponent", BASES),
                result = call.out(out, "out", RESULTS & ~BOOL);
  with_scalar<ALL_NUMBERS>(call, b, number, result, promote_scalar(b.dtype(), number.dtype),
                           [](auto exponent, auto base) { return power(base, exponent); });
}
