// Remainders with the sign of the divisor (Remainder) and of the dividend (Fmod), and divisors.
#include <cmath>

#include "../elementwise.h"

using namespace sim;

namespace {

constexpr DTypes DIVIDED = FLT4 | IDX, CUT = FLT4 | I8 | I32 | I64 | U8;
constexpr DTypes REMAINDERS = REAL9 | COMPLEX;

// Of whole numbers by 0: 0, as vector units give without a trap.
const auto fmod_of = [](auto a, auto b) {
  using C = decltype(a);
  if constexpr (std::is_integral_v<C>) {
    return b == 0 || (std::is_signed_v<C> && b == static_cast<C>(-1)) ? C{0}
                                                                      : static_cast<C>(a % b);
  } else {
    return std::fmod(a, b);
  }
};

const auto remainder_of = [](auto a, auto b) {
  const auto rest = fmod_of(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? decltype(a)(rest + b) : rest;
};

template <class F>
void of_tensors(Call &call, const Operand &self, const Operand &other, const Operand &out, F f) {
  binary<REALS | WHOLE>(call, self, other, out, call.common(self, other), f);
}

template <class F>
void of_number(Call &call, const Operand &self, const aclScalar *other, const Operand &out, F f,
               const char *name = "other") {
  const Number number = call.scalar(other, name);
  with_scalar<REALS | WHOLE>(call, self, number, out, promote_scalar(self.dtype(), number.dtype),
                             f);
}

}  // namespace

ACLNN(RemainderTensorTensor, (const aclTensor *self, const aclTensor *other, aclTensor *out),
      (self, other, out)) {
  const Operand a = call.in(self, "self", REMAINDERS & ~COMPLEX);
  const Operand b = call.in(other, "other", REMAINDERS & ~COMPLEX);
  of_tensors(call, a, b, call.out(out, "out", REMAINDERS), remainder_of);
}

ACLNN(InplaceRemainderTensorTensor, (aclTensor *selfRef, const aclTensor *other),
      (selfRef, other)) {
  const Operand a = call.inout(selfRef, "selfRef", DIVIDED);
  of_tensors(call, a, call.in(other, "other", DIVIDED), a, remainder_of);
}

ACLNN(RemainderTensorScalar, (const aclTensor *self, const aclScalar *other, aclTensor *out),
      (self, other, out)) {
  const Operand a = call.in(self, "self", DIVIDED);
  of_number(call, a, other, call.out(out, "out", REMAINDERS), remainder_of);
}

ACLNN(InplaceRemainderTensorScalar, (aclTensor *selfRef, const aclScalar *other),
      (selfRef, other)) {
  const Operand a = call.inout(selfRef, "selfRef", DIVIDED);
  of_number(call, a, other, a, remainder_of);
}

ACLNN(RemainderScalarTensor, (const aclScalar *self, const aclTensor *other, aclTensor *out),
      (self, other, out)) {
  const Operand b = call.in(other, "other", DIVIDED);
  of_number(
      call, b, self, call.out(out, "out", DIVIDED),
      [](auto b, auto a) { return remainder_of(a, b); }, "self");
}

ACLNN(FmodTensor, (const aclTensor *self, const aclTensor *other, aclTensor *out),
      (self, other, out)) {
  const Operand a = call.in(self, "self", CUT), b = call.in(other, "other", CUT);
  of_tensors(call, a, b, call.out(out, "out", CUT), fmod_of);
}

ACLNN(InplaceFmodTensor, (aclTensor *selfRef, const aclTensor *other), (selfRef, other)) {
  const Operand a = call.inout(selfRef, "selfRef", CUT);
  of_tensors(call, a, call.in(other, "other", CUT), a, fmod_of);
}

ACLNN(FmodScalar, (const aclTensor *self, const aclScalar *other, aclTensor *out),
      (self, other, out)) {
  const Operand a = call.in(self, "self", CUT);
  of_number(call, a, other, call.out(out, "out", CUT), fmod_of);
}

ACLNN(InplaceFmodScalar, (aclTensor *selfRef, const aclScalar *other), (selfRef, other)) {
  const Operand a = call.inout(selfRef, "selfRef", CUT);
  of_number(call, a, other, a, fmod_of);
}

ACLNN(Gcd, (const aclTensor *self, const aclTensor *other, aclTensor *out), (self, other, out)) {
  const Operand a = call.in(self, "self", INT5), b = call.in(other, "other", INT5);
  const auto divisor = [](auto x, auto y) {
    while (y != 0) {
      const auto rest = fmod_of(x, y);
      x = y;
      y = rest;
    }
    return x < 0 ? static_cast<decltype(x)>(0 - static_cast<uint64_t>(x)) : x;
  };
  binary<WHOLE>(call, a, b, call.out(out, "out", INT5 | WIDE_UNSIGNED), call.common(a, b), divisor);
}
