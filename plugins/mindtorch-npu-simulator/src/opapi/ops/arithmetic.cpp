// Sums, products and quotients of two operands.
#include <cmath>

#include "../elementwise.h"
#include "../gathering.h"

using namespace sim;

namespace {

// Integers wrap around where a result does not fit, as those of the hardware do.
template <class C>
C difference(C a, C b) {
  if constexpr (std::is_integral_v<C>)
    return static_cast<C>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  else return a - b;
}

// Two operands joined after the second is scaled: f(a, alpha * b), or f(alpha * a, b) if `first`.
template <class F>
void scaled(Call &call, const Operand &self, const Operand &other, const aclScalar *alpha,
            const Operand &out, bool first, F f) {
  const Number factor = call.scalar(alpha, "alpha");
  const aclDataType as = call.common(self, other);
  binary<ALL_NUMBERS>(call, self, other, out, as, [=](auto a, auto b) {
    using C = decltype(a);
    const C by = factor.as<C>();
    return first ? f(times(by, a), b) : f(a, times(by, b));
  });
}

template <class F>
void scaled_number(Call &call, const Operand &self, const aclScalar *other, const aclScalar *alpha,
                   const Operand &out, F f) {
  const Number number = call.scalar(other, "other");
  const Number factor = call.scalar(alpha, "alpha");
  const aclDataType as = promote_scalar(self.dtype(), number.dtype);
  with_scalar<ALL_NUMBERS>(call, self, number, out, as,
                           [=](auto a, auto b) { return f(a, b, factor.as<decltype(a)>()); });
}

const auto sum = [](auto a, auto b) { return plus(a, b); };
const auto minus = [](auto a, auto b) { return difference(a, b); };
const auto product = [](auto a, auto b) { return times(a, b); };
const auto over = [](auto a, auto b) { return a / b; };
const auto reversed_minus = [](auto a, auto b) { return difference(b, a); };

// Quotients of whole numbers: 0 where there is none, as vector units give without a trap.
template <class C>
C floor_quotient(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    if (b == 0) return 0;
    if (std::is_signed_v<C> && b == static_cast<C>(-1)) return difference(C{0}, a);
    const C q = a / b;
    return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
  } else {
    if (b == 0) return a / b;
    const C rest = std::fmod(a, b);
    C q = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) q -= 1;
    const C whole = std::floor(q);
    return q == 0 ? std::copysign(C{0}, a / b) : (q - whole > C{0.5} ? whole + 1 : whole);
  }
}

template <class C>
C cut_quotient(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    if (b == 0) return 0;
    if (std::is_signed_v<C> && b == static_cast<C>(-1)) return difference(C{0}, a);
    return a / b;
  } else {
    return std::trunc(a / b);
  }
}

// Mode of aclnnDivMod: 0 a plain quotient, 1 cut towards zero, 2 rounded down.
void divided(Call &call, const Operand &self, const Operand &other, int32_t mode,
             const Operand &out) {
  call.require(0 <= mode && mode <= 2, "mode is none of 0, 1, 2");
  const aclDataType both = call.common(self, other);
  if (mode == 0) return binary<REALS | COMPLEXES>(call, self, other, out, floating(both), over);
  call.require(!has(COMPLEX, both), "complex quotients are not rounded");
  if (mode == 1) {
    return binary<REALS | WHOLE>(call, self, other, out, both,
                                 [](auto a, auto b) { return cut_quotient(a, b); });
  }
  binary<REALS | WHOLE>(call, self, other, out, both,
                        [](auto a, auto b) { return floor_quotient(a, b); });
}

void divided_by_number(Call &call, const Operand &self, const aclScalar *other, int32_t mode,
                       const Operand &out) {
  call.require(0 <= mode && mode <= 2, "mode is none of 0, 1, 2");
  const Number number = call.scalar(other, "other");
  const aclDataType both = promote_scalar(self.dtype(), number.dtype);
  if (mode == 0)
    return with_scalar<REALS | COMPLEXES>(call, self, number, out, floating(both), over);
  call.require(!has(COMPLEX, both), "complex quotients are not rounded");
  if (mode == 1) {
    return with_scalar<REALS | WHOLE>(call, self, number, out, both,
                                      [](auto a, auto b) { return cut_quotient(a, b); });
  }
  with_scalar<REALS | WHOLE>(call, self, number, out, both,
                             [](auto a, auto b) { return floor_quotient(a, b); });
}

}  // namespace

// ---- sums and differences -----------------------------------------------------------------------

#define SUM_FAMILY(Name, ALLOWED, FIRST, F)                                                      \
  ACLNN(Name,                                                                                    \
        (const aclTensor *self, const aclTensor *other, const aclScalar *alpha, aclTensor *out), \
        (self, other, alpha, out)) {                                                             \
    scaled(call, call.in(self, "self", ALLOWED), call.in(other, "other", ALLOWED), alpha,        \
           call.out(out, "out", ALLOWED), FIRST, F);                                             \
  }
SUM_FAMILY(Add, NUM12, false, sum)
SUM_FAMILY(Sub, NUM12, false, minus)
SUM_FAMILY(Rsub, NUM12 & ~BOOL, true, reversed_minus)

#define INPLACE_SUM_FAMILY(Name, F)                                                  \
  ACLNN(Name, (aclTensor * selfRef, const aclTensor *other, const aclScalar *alpha), \
        (selfRef, other, alpha)) {                                                   \
    const Operand self = call.inout(selfRef, "selfRef", NUM12);                      \
    scaled(call, self, call.in(other, "other", NUM12), alpha, self, false, F);       \
  }
INPLACE_SUM_FAMILY(InplaceAdd, sum)
INPLACE_SUM_FAMILY(InplaceSub, minus)

#define SUM_WITH_NUMBER(Name, ALLOWED, F)                                                        \
  ACLNN(Name,                                                                                    \
        (const aclTensor *self, const aclScalar *other, const aclScalar *alpha, aclTensor *out), \
        (self, other, alpha, out)) {                                                             \
    scaled_number(call, call.in(self, "self", ALLOWED), other, alpha,                            \
                  call.out(out, "out", ALLOWED), F);                                             \
  }
SUM_WITH_NUMBER(Adds, NUM12, [](auto a, auto b, auto by) { return plus(a, times(b, by)); })
SUM_WITH_NUMBER(Subs, NUM12, [](auto a, auto b, auto by) { return difference(a, times(b, by)); })
SUM_WITH_NUMBER(Rsubs, NUM12 & ~BOOL,
                [](auto a, auto b, auto by) { return difference(b, times(a, by)); })

#define INPLACE_SUM_WITH_NUMBER(Name, ALLOWED, F)                                    \
  ACLNN(Name, (aclTensor * selfRef, const aclScalar *other, const aclScalar *alpha), \
        (selfRef, other, alpha)) {                                                   \
    const Operand self = call.inout(selfRef, "selfRef", ALLOWED);                    \
    scaled_number(call, self, other, alpha, self, F);                                \
  }
INPLACE_SUM_WITH_NUMBER(InplaceAdds, REAL10,
                        [](auto a, auto b, auto by) { return plus(a, times(b, by)); })
INPLACE_SUM_WITH_NUMBER(InplaceSubs, NUM12,
                        [](auto a, auto b, auto by) { return difference(a, times(b, by)); })

// ---- products and quotients ---------------------------------------------------------------------

ACLNN(Mul, (const aclTensor *self, const aclTensor *other, aclTensor *out), (self, other, out)) {
  const Operand a = call.in(self, "self", NUM12), b = call.in(other, "other", NUM12);
  binary<ALL_NUMBERS>(call, a, b, call.out(out, "out", NUM12), call.common(a, b), product);
}

ACLNN(InplaceMul, (aclTensor * selfRef, const aclTensor *other), (selfRef, other)) {
  const Operand a = call.inout(selfRef, "selfRef", NUM12), b = call.in(other, "other", NUM12);
  binary<ALL_NUMBERS>(call, a, b, a, call.common(a, b), product);
}

ACLNN(Muls, (const aclTensor *self, const aclScalar *other, aclTensor *out), (self, other, out)) {
  const Operand a = call.in(self, "self", NUM12);
  const Number b = call.scalar(other, "other");
  with_scalar<ALL_NUMBERS>(call, a, b, call.out(out, "out", NUM12),
                           promote_scalar(a.dtype(), b.dtype), product);
}

ACLNN(InplaceMuls, (aclTensor * selfRef, const aclScalar *other), (selfRef, other)) {
  const Operand a = call.inout(selfRef, "selfRef", NUM12);
  const Number b = call.scalar(other, "other");
  with_scalar<ALL_NUMBERS>(call, a, b, a, promote_scalar(a.dtype(), b.dtype), product);
}

ACLNN(Div, (const aclTensor *self, const aclTensor *other, aclTensor *out), (self, other, out)) {
  divided(call, call.in(self, "self", NUM12), call.in(other, "other", NUM12), 0,
          call.out(out, "out", NUM12));
}

ACLNN(InplaceDiv, (aclTensor * selfRef, const aclTensor *other), (selfRef, other)) {
  const Operand a = call.inout(selfRef, "selfRef", NUM12);
  divided(call, a, call.in(other, "other", NUM12), 0, a);
}

ACLNN(Divs, (const aclTensor *self, const aclScalar *other, aclTensor *out), (self, other, out)) {
  divided_by_number(call, call.in(self, "self", NUM12), other, 0, call.out(out, "out", NUM12));
}

ACLNN(InplaceDivs, (aclTensor * selfRef, const aclScalar *other), (selfRef, other)) {
  const Operand a = call.inout(selfRef, "selfRef", NUM12);
  divided_by_number(call, a, other, 0, a);
}

ACLNN(DivMod, (const aclTensor *self, const aclTensor *other, int32_t mode, aclTensor *out),
      (self, other, mode, out)) {
  divided(call, call.in(self, "self", NUM12), call.in(other, "other", NUM12), mode,
          call.out(out, "out", NUM12));
}

ACLNN(InplaceDivMod, (aclTensor * selfRef, const aclTensor *other, int32_t mode),
      (selfRef, other, mode)) {
  const Operand a = call.inout(selfRef, "selfRef", NUM12 & ~BF16);
  divided(call, a, call.in(other, "other", REAL10 & ~BF16), mode, a);
}

ACLNN(DivMods, (const aclTensor *self, const aclScalar *other, int32_t mode, aclTensor *out),
      (self, other, mode, out)) {
  divided_by_number(call, call.in(self, "self", NUM12), other, mode,
                    call.out(out, "out", NUM12 & ~BF16));
}

ACLNN(FloorDivide, (const aclTensor *self, const aclTensor *other, aclTensor *out),
      (self, other, out)) {
  divided(call, call.in(self, "self", REAL10 & ~BF16), call.in(other, "other", REAL10 & ~BF16), 2,
          call.out(out, "out", NUM12 & ~(BF16 | BOOL)));
}

ACLNN(FloorDivides, (const aclTensor *self, const aclScalar *other, aclTensor *out),
      (self, other, out)) {
  divided_by_number(call, call.in(self, "self", REAL10 & ~BF16), other, 2,
                    call.out(out, "out", REAL10 & ~BF16));
}

ACLNN(InplaceDivMods, (aclTensor * selfRef, const aclScalar *other, int32_t mode),
      (selfRef, other, mode)) {
  const Operand a = call.inout(selfRef, "selfRef", NUM12);
  divided_by_number(call, a, other, mode, a);
}

ACLNN(InplaceFloorDivide, (aclTensor * selfRef, const aclTensor *other), (selfRef, other)) {
  const Operand a = call.inout(selfRef, "selfRef", REAL10 & ~BF16);
  divided(call, a, call.in(other, "other", REAL10 & ~BF16), 2, a);
}

ACLNN(InplaceFloorDivides, (aclTensor * selfRef, const aclScalar *other), (selfRef, other)) {
  const Operand a = call.inout(selfRef, "selfRef", REAL10 & ~BF16);
  divided_by_number(call, a, other, 2, a);
}
