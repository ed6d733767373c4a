// Logical and bitwise operators, and shifts.
#include <functional>

#include "../elementwise.h"

using namespace sim;

namespace {

constexpr DTypes BITS = INTB6 | WIDE_UNSIGNED, SOME_BITS = INTB6 | U16,
                 SHIFTED = INT5 | WIDE_UNSIGNED;

const auto both = [](auto a, auto b) { return a != decltype(a)(0) && b != decltype(b)(0); };
const auto any = [](auto a, auto b) { return a != decltype(a)(0) || b != decltype(b)(0); };
const auto one = [](auto a, auto b) { return (a != decltype(a)(0)) != (b != decltype(b)(0)); };
const auto none = [](auto a) { return a == decltype(a)(0); };

void with_whole_scalar(Call &call, const Operand &self, const aclScalar *other, const Operand &out,
                       const std::function<uint64_t(uint64_t, uint64_t)> &f) {
  const Number number = call.scalar(other, "other");
  call.require(has(INTEGRAL | BOOL, number.dtype), "other must be an integer or bool");
  const aclDataType as = promote_scalar(self.dtype(), number.dtype);
  with_scalar<WHOLE>(call, self, number, out, as, [=](auto a, auto b) {
    return static_cast<decltype(a)>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  });
}

int64_t bits_of(aclDataType d) { return static_cast<int64_t>(item_size(d)) * 8; }

// What is shifted out is gone; a negative number of places is one that is too large.
template <class C>
C shifted_left(C a, C by, int64_t bits) {
  if (by < C{0} || by >= static_cast<C>(bits)) return 0;
  return static_cast<C>(static_cast<uint64_t>(a) << by);
}

template <class C>
C shifted_right(C a, C by, int64_t bits) {
  const bool all = by < C{0} || by >= static_cast<C>(bits);
  if (all) return a < C{0} ? static_cast<C>(-1) : C{0};
  return a >> by;
}

}  // namespace

#define LOGICAL(Name, OUTPUT, F)                                                        \
  ACLNN(Name, (const aclTensor *self, const aclTensor *other, aclTensor *out),          \
        (self, other, out)) {                                                           \
    const Operand a = call.in(self, "self", NUM12), b = call.in(other, "other", NUM12); \
    comparison<ALL_NUMBERS>(call, a, b, call.out(out, "out", OUTPUT), F);               \
  }
LOGICAL(LogicalAnd, NUM12, both)
LOGICAL(LogicalOr, ANY, any)
LOGICAL(LogicalXor, NUM12, one)

#define INPLACE_LOGICAL(Name, F)                                                 \
  ACLNN(Name, (aclTensor *selfRef, const aclTensor *other), (selfRef, other)) {  \
    const Operand a = call.inout(selfRef, "selfRef", NUM12);                     \
    comparison<ALL_NUMBERS>(call, a, call.in(other, "other", NUM12), a, F);      \
  }
INPLACE_LOGICAL(InplaceLogicalAnd, both)
INPLACE_LOGICAL(InplaceLogicalOr, any)

ACLNN(LogicalNot, (const aclTensor *self, aclTensor *out), (self, out)) {
  const Operand a = call.in(self, "self", REAL10);
  predicate<REALS | WHOLE>(call, a, call.out(out, "out", REAL10), none);
}

ACLNN(InplaceLogicalNot, (aclTensor *selfRef), (selfRef)) {
  const Operand a = call.inout(selfRef, "selfRef", REAL10);
  predicate<REALS | WHOLE>(call, a, a, none);
}

#define BITWISE(Name, INPUT, OUTPUT, SCALAR_OUTPUT, F)                                            \
  ACLNN(Name##Tensor, (const aclTensor *self, const aclTensor *other, aclTensor *out),            \
        (self, other, out)) {                                                                     \
    const Operand a = call.in(self, "self", INPUT), b = call.in(other, "other", INPUT);           \
    binary<WHOLE>(call, a, b, call.out(out, "out", OUTPUT), call.common(a, b), F);                \
  }                                                                                               \
  ACLNN(Inplace##Name##Tensor, (aclTensor *selfRef, const aclTensor *other), (selfRef, other)) {  \
    const Operand a = call.inout(selfRef, "selfRef", INPUT), b = call.in(other, "other", INPUT);  \
    binary<WHOLE>(call, a, b, a, call.common(a, b), F);                                           \
  }                                                                                               \
  ACLNN(Name##Scalar, (const aclTensor *self, const aclScalar *other, aclTensor *out),            \
        (self, other, out)) {                                                                     \
    const Operand a = call.in(self, "self", INPUT);                                               \
    with_whole_scalar(call, a, other, call.out(out, "out", SCALAR_OUTPUT), F);                    \
  }                                                                                               \
  ACLNN(Inplace##Name##Scalar, (aclTensor *selfRef, const aclScalar *other), (selfRef, other)) {  \
    const Operand a = call.inout(selfRef, "selfRef", INPUT);                                      \
    with_whole_scalar(call, a, other, a, F);                                                      \
  }
BITWISE(BitwiseAnd, SOME_BITS, BITS, REAL10 | U16, std::bit_and<>{})
BITWISE(BitwiseOr, BITS, BITS, ANY, std::bit_or<>{})
BITWISE(BitwiseXor, BITS, ANY, ANY, std::bit_xor<>{})

ACLNN(BitwiseNot, (const aclTensor *self, aclTensor *out), (self, out)) {
  const Operand a = call.in(self, "self", INTB6), result = call.out(out, "out", INTB6);
  const bool logical = a.dtype() == ACL_BOOL;
  unary<WHOLE>(call, a, result, a.dtype(), [=](auto x) {
    return logical ? decltype(x)(x == 0) : static_cast<decltype(x)>(~x);
  });
}

#define SHIFT(Name, SELF, F)                                                       \
  ACLNN(Name, (const aclTensor *SELF, const aclTensor *shiftBits, aclTensor *out), \
        (SELF, shiftBits, out)) {                                                  \
    const Operand a = call.in(SELF, #SELF, SHIFTED);                               \
    const Operand by = call.in(shiftBits, "shiftBits", SHIFTED);                   \
    const aclDataType as = call.common(a, by);                                     \
    binary<WHOLE>(call, a, by, call.out(out, "out", SHIFTED), as,                  \
                  [bits = bits_of(as)](auto x, auto n) { return F(x, n, bits); }); \
  }
SHIFT(LeftShift, self, shifted_left)
SHIFT(RightShift, input, shifted_right)

ACLNN(LeftShifts, (const aclTensor *self, const aclScalar *shiftBits, aclTensor *out),
      (self, shiftBits, out)) {
  const Operand a = call.in(self, "self", SHIFTED);
  const Number by = call.scalar(shiftBits, "shiftBits");
  call.require(has(INTEGRAL | BOOL, by.dtype), "shiftBits must be an integer");
  with_scalar<WHOLE>(
      call, a, by, call.out(out, "out", SHIFTED), a.dtype(),
      [bits = bits_of(a.dtype())](auto x, auto n) { return shifted_left(x, n, bits); });
}
