// Signs, absolute values, rounding, and what is left of numbers, element by element.
#include <cmath>

#include "../unary.h"

using namespace sim;

namespace {

constexpr DTypes NEGATABLE = FLT4 | I8 | I32 | I64 | COMPLEX;
constexpr DTypes FLOORABLE = F32 | F16 | F64 | INT5 | WIDE_UNSIGNED;
constexpr DTypes ROUNDABLE = FLT4 | IDX;
constexpr DTypes FRACTIONAL = REAL10 & ~(F64 | BOOL);

template <class C>
C negated(C x) {
  if constexpr (std::is_integral_v<C>) return static_cast<C>(0 - static_cast<uint64_t>(x));
  else return -x;
}

template <class C>
C sign(C x) {
  if constexpr (std::is_arithmetic_v<C>) {
    return static_cast<C>((C{0} < x) - (x < C{0}));
  } else {
    const auto length = std::abs(x);
    return length == 0 ? C{} : x / length;
  }
}

template <class C>
C fraction(C x) {
  if constexpr (std::is_integral_v<C>) return 0;
  else return x - std::trunc(x);
}

// Rounding functions leave integers as they are.
#define ROUNDING(name, function)                   \
  template <class C>                               \
  C name(C x) {                                    \
    if constexpr (std::is_integral_v<C>) return x; \
    else return function(x);                       \
  }
ROUNDING(rounded_down, std::floor)
ROUNDING(rounded_up, std::ceil)
ROUNDING(rounded_even, std::nearbyint)
ROUNDING(cut, std::trunc)

const auto negated_of = [](auto x) { return negated(x); };
const auto floor_of = [](auto x) { return rounded_down(x); };
const auto ceil_of = [](auto x) { return rounded_up(x); };
const auto round_of = [](auto x) { return rounded_even(x); };
const auto trunc_of = [](auto x) { return cut(x); };
const auto fraction_of = [](auto x) { return fraction(x); };

// To the nearest multiple of a power of ten, halves to the even one.
template <class C>
C rounded_at(C x, int64_t decimals) {
  if constexpr (std::is_integral_v<C>) {
    if (decimals >= 0) return x;
    if (decimals < -18) return 0;
    C unit = 1;
    for (int64_t i = decimals; i < 0; ++i) unit *= 10;
    const C rest = x % unit, below = x - rest;
    const C twice = (rest < 0 ? -rest : rest) * 2;  // at most 2 * 10^18
    const bool away = twice > unit || (twice == unit && below / unit % 2 != 0);
    const C step = rest < 0 ? -unit : unit;
    return away ? static_cast<C>(static_cast<uint64_t>(below) + static_cast<uint64_t>(step))
                : below;
  } else {
    const C unit = std::pow(C{10}, std::abs(static_cast<C>(decimals)));
    return decimals < 0 ? std::nearbyint(x / unit) * unit : std::nearbyint(x * unit) / unit;
  }
}

void round_decimals(Call &call, const Operand &self, int64_t decimals, const Operand &out) {
  unary<REALS | WHOLE>(call, self, out, self.dtype(),
                       [decimals](auto x) { return rounded_at(x, decimals); });
}

void replace_specials(Call &call, const Operand &self, float nan, float above, float below,
                      const Operand &out) {
  unary<REALS | WHOLE>(call, self, out, self.dtype(), [=](auto x) {
    using C = decltype(x);
    if constexpr (std::is_integral_v<C>) {
      return x;
    } else {
      if (std::isnan(x)) return static_cast<C>(nan);
      return std::isinf(x) ? static_cast<C>(x > 0 ? above : below) : x;
    }
  });
}

}  // namespace

SAME_UNARY(Neg, self, NEGATABLE, out, NEGATABLE, ALL_NUMBERS, negated_of)
INPLACE_SAME_UNARY(InplaceNeg, selfRef, NEGATABLE, ALL_NUMBERS, negated_of)
SAME_UNARY(Sign, self, FLT4 | IDX | BOOL | COMPLEX, result, FLT4 | IDX | BOOL | COMPLEX,
           ALL_NUMBERS, [](auto x) { return sign(x); })
SAME_UNARY(Square, self, FLT3 | IDX, out, FLT3 | IDX, REALS | WHOLE, [](auto x) {
  using C = decltype(x);
  if constexpr (std::is_integral_v<C>)
    return static_cast<C>(static_cast<uint64_t>(x) * static_cast<uint64_t>(x));
  else return x * x;
})

ACLNN(Abs, (const aclTensor *self, aclTensor *out), (self, out)) {
  const Operand x = call.in(self, "self", REAL10 | C64), y = call.out(out, "out", REAL10);
  if (x.dtype() != ACL_COMPLEX64) {
    return unary<REALS | WHOLE>(call, x, y, x.dtype(),
                                [](auto v) { return v < 0 ? negated(v) : v + 0; });
  }
  call.shape_is(y, x.shape());
  call.writes(ACL_FLOAT, y);
  if (x.numel() == 0) return;
  call.run([=](Launch &launch) {
    elementwise<std::complex<float>, float>(
        launch[y], [](auto v) { return std::abs(v); }, launch[x]);
  });
}

ACLNN(Signbit, (const aclTensor *self, aclTensor *out), (self, out)) {
  const Operand x = call.in(self, "self", REAL10 | WIDE_UNSIGNED);
  predicate<REALS | WHOLE>(call, x, call.out(out, "out", BOOL), [](auto v) {
    if constexpr (std::is_integral_v<decltype(v)>) return v < decltype(v){0};
    else return std::signbit(v);
  });
}

SAME_UNARY(Floor, self, FLOORABLE, out, FLOORABLE, REALS | WHOLE, floor_of)
INPLACE_SAME_UNARY(InplaceFloor, selfRef, FLOORABLE, REALS | WHOLE, floor_of)
SAME_UNARY(Ceil, self, FLT4, out, FLT4, REALS, ceil_of)
INPLACE_SAME_UNARY(InplaceCeil, selfRef, FLT4, REALS, ceil_of)
SAME_UNARY(Round, self, ROUNDABLE, out, ROUNDABLE, REALS | WHOLE, round_of)
INPLACE_SAME_UNARY(InplaceRound, selfRef, ROUNDABLE, REALS | WHOLE, round_of)
SAME_UNARY(Trunc, self, FLT3, out, FLT3, REALS, trunc_of)
INPLACE_SAME_UNARY(InplaceTrunc, selfRef, FLT3, REALS, trunc_of)
SAME_UNARY(Frac, input, FRACTIONAL, out, FRACTIONAL, REALS | WHOLE, fraction_of)
INPLACE_SAME_UNARY(InplaceFrac, inputRef, FRACTIONAL, REALS | WHOLE, fraction_of)

ACLNN(RoundDecimals, (const aclTensor *self, int64_t decimals, aclTensor *out),
      (self, decimals, out)) {
  round_decimals(call, call.in(self, "self", ROUNDABLE), decimals, call.out(out, "out", ROUNDABLE));
}

ACLNN(InplaceRoundDecimals, (aclTensor *selfRef, int64_t decimals), (selfRef, decimals)) {
  const Operand x = call.inout(selfRef, "selfRef", ROUNDABLE);
  round_decimals(call, x, decimals, x);
}

ACLNN(NanToNum, (const aclTensor *self, float nan, float posinf, float neginf, aclTensor *out),
      (self, nan, posinf, neginf, out)) {
  const Operand x = call.in(self, "self", REAL10 & ~F64);
  replace_specials(call, x, nan, posinf, neginf, call.out(out, "out", REAL10 & ~F64));
}

ACLNN(InplaceNanToNum, (aclTensor *selfRef, float nan, float posinf, float neginf),
      (selfRef, nan, posinf, neginf)) {
  const Operand x = call.inout(selfRef, "selfRef", REAL10 & ~F64);
  replace_specials(call, x, nan, posinf, neginf, x);
}
