// The greater and the smaller of two, and bounds. NaN wins.
#include <cmath>

#include "../elementwise.h"

using namespace sim;

namespace {

constexpr DTypes BOUNDED = REAL9;

const auto greater = [](auto a, auto b) { return a != a || a > b ? a : b; };
const auto smaller = [](auto a, auto b) { return a != a || a < b ? a : b; };
// A bound counts where an element lies beyond it, or it is NaN: of zeros of both signs the element stays.
const auto from = [](auto x, auto low) { return x < low || low != low ? low : x; };
const auto up_to = [](auto x, auto high) { return x > high || high != high ? high : x; };

// A bound that may be left out.
struct Bound {
  bool given = false;
  Number number;
};

Bound bound(Call &call, const aclScalar *scalar, const char *name) {
  if (scalar == nullptr) return {};
  return {true, call.scalar(scalar, name)};
}

void between(Call &call, const Operand &self, const Bound &low, const Bound &high,
             const Operand &out) {
  aclDataType as = self.dtype();
  for (const Bound *bound : {&low, &high}) {
    if (bound->given) as = promote_scalar(as, bound->number.dtype);
    call.require(as != ACL_DT_UNDEFINED, "self and a bound do not combine");
  }
  unary<REALS | WHOLE>(call, self, out, as, [=](auto x) {
    using C = decltype(x);
    if (low.given) x = from(x, low.number.as<C>());
    if (high.given) x = up_to(x, high.number.as<C>());
    return x;
  });
}

}  // namespace

#define EXTREME(Name, F)                                                                   \
  ACLNN(Name, (const aclTensor *self, const aclTensor *other, aclTensor *out),             \
        (self, other, out)) {                                                              \
    const Operand a = call.in(self, "self", REAL10), b = call.in(other, "other", REAL10);  \
    binary<REALS | WHOLE>(call, a, b, call.out(out, "out", REAL10), call.common(a, b), F); \
  }
EXTREME(Maximum, greater)
EXTREME(Minimum, smaller)

// ---- clamp --------------------------------------------------------------------------------------

ACLNN(Clamp,
      (const aclTensor *self, const aclScalar *clipValueMin, const aclScalar *clipValueMax,
       aclTensor *out),
      (self, clipValueMin, clipValueMax, out)) {
  const Operand x = call.in(self, "self", REAL10), result = call.out(out, "out", REAL10);
  if (clipValueMin == nullptr && clipValueMax == nullptr)
    call.scalar(nullptr, "clipValueMin and clipValueMax");
  between(call, x, bound(call, clipValueMin, "clipValueMin"),
          bound(call, clipValueMax, "clipValueMax"), result);
}

ACLNN(ClampMin, (const aclTensor *self, const aclScalar *clipValueMin, aclTensor *out),
      (self, clipValueMin, out)) {
  const Operand x = call.in(self, "self", BOUNDED);
  between(call, x, {true, call.scalar(clipValueMin, "clipValueMin")}, {},
          call.out(out, "out", BOUNDED));
}

ACLNN(ClampMax, (const aclTensor *self, const aclScalar *clipValueMax, aclTensor *out),
      (self, clipValueMax, out)) {
  const Operand x = call.in(self, "self", BOUNDED);
  between(call, x, {}, {true, call.scalar(clipValueMax, "clipValueMax")},
          call.out(out, "out", BOUNDED));
}

ACLNN(InplaceClampMax, (aclTensor *selfRef, const aclScalar *clipValueMax),
      (selfRef, clipValueMax)) {
  const Operand x = call.inout(selfRef, "selfRef", BOUNDED);
  between(call, x, {}, {true, call.scalar(clipValueMax, "clipValueMax")}, x);
}

#define CLAMP_TENSOR(Name, bound, F)                                                            \
  ACLNN(Name, (const aclTensor *self, const aclTensor *bound, aclTensor *out),                  \
        (self, bound, out)) {                                                                   \
    const Operand x = call.in(self, "self", BOUNDED), limit = call.in(bound, #bound, REAL10);   \
    binary<REALS | WHOLE>(call, x, limit, call.out(out, "out", BOUNDED), call.common(x, limit), \
                          F);                                                                   \
  }
CLAMP_TENSOR(ClampMinTensor, clipValueMin, from)
CLAMP_TENSOR(ClampMaxTensor, max, up_to)

#define INPLACE_CLAMP_TENSOR(Name, bound, F)                                     \
  ACLNN(Name, (aclTensor *selfRef, const aclTensor *bound), (selfRef, bound)) {  \
    const Operand x = call.inout(selfRef, "selfRef", BOUNDED),                   \
                  limit = call.in(bound, #bound, REAL10);                        \
    binary<REALS | WHOLE>(call, x, limit, x, call.common(x, limit), F);          \
  }
INPLACE_CLAMP_TENSOR(InplaceClampMinTensor, clipValueMin, from)
INPLACE_CLAMP_TENSOR(InplaceClampMaxTensor, max, up_to)

ACLNN(ClampTensor,
      (const aclTensor *self, const aclTensor *clipValueMin, const aclTensor *clipValueMax,
       aclTensor *out),
      (self, clipValueMin, clipValueMax, out)) {
  const Operand x = call.in(self, "self", BOUNDED),
                low = call.in(clipValueMin, "clipValueMin", REAL10);
  const Operand high = call.in(clipValueMax, "clipValueMax", REAL10),
                result = call.out(out, "out", BOUNDED);
  broadcast_to(call, result, x, low, high);
  const aclDataType as = promote(call.common(x, low), high.dtype());
  mapped<REALS | WHOLE>(
      call, result, as, [](auto v, auto l, auto h) { return up_to(from(v, l), h); }, x, low,
      high);
}

// ---- hardtanh and threshold ---------------------------------------------------------------------

ACLNN(Hardtanh,
      (const aclTensor *self, const aclScalar *clipValueMin, const aclScalar *clipValueMax,
       aclTensor *out),
      (self, clipValueMin, clipValueMax, out)) {
  const Operand x = call.in(self, "self", REAL9), result = call.out(out, "out", REAL9);
  between(call, x, {true, call.scalar(clipValueMin, "clipValueMin")},
          {true, call.scalar(clipValueMax, "clipValueMax")}, result);
}

ACLNN(InplaceHardtanh,
      (aclTensor *selfRef, const aclScalar *clipValueMin, const aclScalar *clipValueMax),
      (selfRef, clipValueMin, clipValueMax)) {
  const Operand x = call.inout(selfRef, "selfRef", REAL9);
  between(call, x, {true, call.scalar(clipValueMin, "clipValueMin")},
          {true, call.scalar(clipValueMax, "clipValueMax")}, x);
}

namespace {

constexpr DTypes THRESHOLDED = REAL10 & ~(F64 | BOOL);

void threshold_of(Call &call, const Operand &self, const aclScalar *threshold,
                  const aclScalar *value, const Operand &out) {
  const Number limit = call.scalar(threshold, "threshold"), otherwise = call.scalar(value, "value");
  unary<REALS | WHOLE>(call, self, out, self.dtype(), [=](auto x) {
    using C = decltype(x);
    return x <= limit.as<C>() ? otherwise.as<C>() : x;
  });
}

}  // namespace

ACLNN(Threshold,
      (const aclTensor *self, const aclScalar *threshold, const aclScalar *value, aclTensor *out),
      (self, threshold, value, out)) {
  const Operand x = call.in(self, "self", THRESHOLDED);
  threshold_of(call, x, threshold, value, call.out(out, "out", THRESHOLDED));
}

ACLNN(InplaceThreshold, (aclTensor *selfRef, const aclScalar *threshold, const aclScalar *value),
      (selfRef, threshold, value)) {
  const Operand x = call.inout(selfRef, "selfRef", THRESHOLDED);
  threshold_of(call, x, threshold, value, x);
}
