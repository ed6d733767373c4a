// Functions of two and three tensors that are neither plain arithmetic nor comparisons.
#include <cmath>
#include <limits>

#include "../elementwise.h"

using namespace sim;

namespace {

constexpr DTypes PRODUCTS = FLT4 | I8 | I32 | I64 | U8, QUOTIENTS = FLT4 | I64;

void add_product(Call &call, const Operand &self, const Operand &a, const Operand &b,
                 const aclScalar *value, const Operand &out) {
  const Number factor = call.scalar(value, "value");
  broadcast_to(call, out, self, a, b);
  const aclDataType as = promote(call.common(self, a), b.dtype());
  mapped<REALS | WHOLE>(
      call, out, as,
      [=](auto x, auto y, auto z) {
        using C = decltype(x);
        if constexpr (std::is_integral_v<C>) {
          const auto by = static_cast<uint64_t>(factor.as<C>());
          return static_cast<C>(static_cast<uint64_t>(x) +
                                by * static_cast<uint64_t>(y) * static_cast<uint64_t>(z));
        } else {
          return x + factor.as<C>() * y * z;
        }
      },
      self, a, b);
}

void add_quotient(Call &call, const Operand &self, const Operand &a, const Operand &b,
                  const aclScalar *value, const Operand &out) {
  const Number factor = call.scalar(value, "value");
  broadcast_to(call, out, self, a, b);
  const aclDataType as = floating(promote(call.common(self, a), b.dtype()));
  mapped<REALS>(
      call, out, as, [=](auto x, auto y, auto z) { return x + factor.as<decltype(x)>() * y / z; },
      self, a, b);
}

// Exact at both ends: each half is measured from the end that it is nearer to.
const auto between = [](auto start, auto end, auto weight) {
  using C = decltype(start);
  const C way = end - start;
  return std::abs(weight) < C{0.5} ? start + weight * way : end - way * (C{1} - weight);
};

void lerp(Call &call, const Operand &self, const Operand &end, const Operand &weight,
          const Operand &out) {
  for (const Operand *other : {&end, &weight, &out}) call.dtype_is(*other, self.dtype());
  broadcast_to(call, out, self, end, weight);
  mapped<REALS>(call, out, self.dtype(), between, self, end, weight);
}

void lerp_by(Call &call, const Operand &self, const Operand &end, const aclScalar *weight,
             const Operand &out) {
  const Number number = call.scalar(weight, "weight");
  call.dtype_is(end, self.dtype());
  broadcast_to(call, out, self, end);
  mapped<REALS>(
      call, out, self.dtype(),
      [=](auto x, auto y) { return between(x, y, number.as<decltype(x)>()); }, self, end);
}

// log(e^a + e^b) from the greater of both, so that nothing overflows.
const auto log_add_exp = [](auto a, auto b) {
  if (std::isinf(a) && a == b) return a;
  return std::fmax(a, b) + std::log1p(std::exp(-std::abs(a - b)));
};

const auto log_add_exp2 = [](auto a, auto b) {
  using C = decltype(a);
  if (std::isinf(a) && a == b) return a;
  return static_cast<C>(std::fmax(a, b) + std::log1p(std::exp2(-std::abs(a - b))) / C(M_LN2));
};

// 0 for x = 0 whatever y is, but for NaN.
const auto x_log_y = [](auto x, auto y) {
  using C = decltype(x);
  if (std::isnan(y)) return y;
  return x == 0 ? C{0} : x * std::log(y);
};

template <class F>
void of_floats(Call &call, const Operand &a, const Operand &b, const Operand &out, F f) {
  binary<REALS>(call, a, b, out, floating(call.common(a, b)), f);
}

}  // namespace

#define ADDED(Name, ALLOWED, ADD)                                                               \
  ACLNN(Name,                                                                                   \
        (const aclTensor *self, const aclTensor *tensor1, const aclTensor *tensor2,             \
         const aclScalar *value, aclTensor *out),                                               \
        (self, tensor1, tensor2, value, out)) {                                                 \
    const Operand x = call.in(self, "self", ALLOWED), a = call.in(tensor1, "tensor1", ALLOWED); \
    const Operand b = call.in(tensor2, "tensor2", ALLOWED);                                     \
    ADD(call, x, a, b, value, call.out(out, "out", ALLOWED));                                   \
  }                                                                                             \
  ACLNN(Inplace##Name,                                                                          \
        (aclTensor *selfRef, const aclTensor *tensor1, const aclTensor *tensor2,                \
         const aclScalar *value),                                                               \
        (selfRef, tensor1, tensor2, value)) {                                                   \
    const Operand x = call.inout(selfRef, "selfRef", ALLOWED);                                  \
    const Operand a = call.in(tensor1, "tensor1", ALLOWED);                                     \
    ADD(call, x, a, call.in(tensor2, "tensor2", ALLOWED), value, x);                            \
  }
ADDED(Addcmul, PRODUCTS, add_product)
ADDED(Addcdiv, QUOTIENTS, add_quotient)

ACLNN(Lerp, (const aclTensor *self, const aclTensor *end, const aclTensor *weight, aclTensor *out),
      (self, end, weight, out)) {
  const Operand x = call.in(self, "self", FLT3), y = call.in(end, "end", FLT3);
  lerp(call, x, y, call.in(weight, "weight", FLT3), call.out(out, "out", FLT3));
}

ACLNN(InplaceLerp, (aclTensor *selfRef, const aclTensor *end, const aclTensor *weight),
      (selfRef, end, weight)) {
  const Operand x = call.inout(selfRef, "selfRef", FLT3), y = call.in(end, "end", FLT3);
  lerp(call, x, y, call.in(weight, "weight", FLT3), x);
}

ACLNN(Lerps, (const aclTensor *self, const aclTensor *end, const aclScalar *weight, aclTensor *out),
      (self, end, weight, out)) {
  const Operand x = call.in(self, "self", FLT3), y = call.in(end, "end", FLT3);
  lerp_by(call, x, y, weight, call.out(out, "out", FLT4));
}

ACLNN(InplaceLerps, (aclTensor *selfRef, const aclTensor *end, const aclScalar *weight),
      (selfRef, end, weight)) {
  const Operand x = call.inout(selfRef, "selfRef", FLT3);
  lerp_by(call, x, call.in(end, "end", FLT3), weight, x);
}

#define OF_TWO(Name, INPUT, OUTPUT, F)                                                  \
  ACLNN(Name, (const aclTensor *self, const aclTensor *other, aclTensor *out),          \
        (self, other, out)) {                                                           \
    const Operand a = call.in(self, "self", INPUT), b = call.in(other, "other", INPUT); \
    of_floats(call, a, b, call.out(out, "out", OUTPUT), F);                             \
  }
OF_TWO(LogAddExp, REAL10 | WIDE_UNSIGNED, FLT3, log_add_exp)
OF_TWO(LogAddExp2, REAL10 | WIDE_UNSIGNED, FLT3, log_add_exp2)
OF_TWO(XLogYTensor, REAL10 & ~F64, REAL10 & ~F64, x_log_y)
OF_TWO(Atan2, REAL10, FLT4, [](auto a, auto b) { return std::atan2(a, b); })

ACLNN(InplaceAtan2, (aclTensor *selfRef, const aclTensor *other), (selfRef, other)) {
  const Operand a = call.inout(selfRef, "selfRef", REAL10);
  of_floats(call, a, call.in(other, "other", REAL10), a,
            [](auto y, auto x) { return std::atan2(y, x); });
}

ACLNN(XLogYScalarOther, (const aclTensor *self, const aclScalar *other, aclTensor *out),
      (self, other, out)) {
  const Operand x = call.in(self, "self", REAL10 & ~F64);
  const Number y = call.scalar(other, "other");
  const aclDataType as = floating(promote_scalar(x.dtype(), y.dtype));
  with_scalar<REALS>(call, x, y, call.out(out, "out", FLT3), as, x_log_y);
}

ACLNN(XLogYScalarSelf, (const aclScalar *self, const aclTensor *other, aclTensor *out),
      (self, other, out)) {
  const Number x = call.scalar(self, "self");
  const Operand y = call.in(other, "other", REAL10);
  const aclDataType as = floating(promote_scalar(y.dtype(), x.dtype));
  with_scalar<REALS>(call, y, x, call.out(out, "out", FLT3), as,
                     [](auto b, auto a) { return x_log_y(a, b); });
}

ACLNN(Heaviside, (const aclTensor *input, const aclTensor *values, aclTensor *out),
      (input, values, out)) {
  const Operand x = call.in(input, "input", FLT3), at_zero = call.in(values, "values", FLT3);
  binary<REALS>(call, x, at_zero, call.out(out, "out", FLT3), call.common(x, at_zero),
                [](auto v, auto zero) { return v == 0 ? zero : decltype(v)(v > 0); });
}

// torch.where: the condition chooses, element by element.
ACLNN(SWhere,
      (const aclTensor *condition, const aclTensor *self, const aclTensor *other, aclTensor *out),
      (condition, self, other, out)) {
  const Operand choice = call.in(condition, "condition", U8 | BOOL);
  const Operand a = call.in(self, "self", ANY), b = call.in(other, "other", ANY),
                result = call.out(out, "out", ANY);
  broadcast_to(call, result, choice, a, b);
  mapped<ALL_NUMBERS>(
      call, result, call.common(a, b),
      [](auto c, auto x, auto y) { return c != decltype(c)(0) ? x : y; }, choice, a, b);
}

ACLNN(Logit, (const aclTensor *input, double eps, aclTensor *out), (input, eps, out)) {
  const Operand x = call.in(input, "input", FLT3);
  unary<REALS>(call, x, call.out(out, "out", FLT3), x.dtype(), [=](auto v) {
    using C = decltype(v);
    if (eps >= 0) v = v < C(eps) ? C(eps) : v > C(1 - eps) ? C(1 - eps) : v;
    return static_cast<C>(std::log(v / (C{1} - v)));
  });
}
