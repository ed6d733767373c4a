// Activation functions.
#include "../activations.h"

#include "../unary.h"

using namespace sim;

namespace {

constexpr DTypes RELU = FLT3 | I8 | I32 | I64, SELU = FLT3 | I8 | I32;

const auto relu = [](auto x) { return x < 0 ? decltype(x)(0) : x; };  // NaN stays
const auto sigmoid_of = [](auto x) { return sigmoid(x); };
const auto silu = [](auto x) { return x / (decltype(x)(1) + std::exp(-x)); };
const auto gelu = [](auto x) { return x * normal_cdf(x); };
const auto gelu_by_tanh = [](auto x) {
  using C = decltype(x);
  return C{0.5} * x * (C{1} + std::tanh(gelu_inner(x)));
};
const auto log_sigmoid = [](auto x) { return -softplus(-x); };
const auto mish = [](auto x) { return x * std::tanh(softplus(x)); };
const auto hard_sigmoid = [](auto x) {
  using C = decltype(x);
  const C y = x / C{6} + C{0.5};
  return y < C{0} ? C{0} : y > C{1} ? C{1} : y;
};
const auto hard_swish = [](auto x) {
  using C = decltype(x);
  const C y = x + C{3};
  return x * (y < C{0} ? C{0} : y > C{6} ? C{6} : y) / C{6};
};

void leaky_relu(Call &call, const Operand &self, const aclScalar *negativeSlope,
                const Operand &out) {
  const Number slope = call.scalar(negativeSlope, "negativeSlope");
  unary<REALS>(call, self, out, self.dtype(),
               [=](auto x) { return x > 0 ? x : x * slope.as<decltype(x)>(); });
}

// scale * x above 0, scale * alpha * (e^(inputScale * x) - 1) below.
void elu(Call &call, const Operand &self, double alpha, double scale, double input_scale,
         const Operand &out) {
  unary<REALS>(call, self, out, floating(self.dtype()), [=](auto x) {
    using C = decltype(x);
    return x > 0 ? x * C(scale) : std::expm1(x * C(input_scale)) * C(alpha * scale);
  });
}

void scaled_elu(Call &call, const Operand &self, const aclScalar *alpha, const aclScalar *scale,
                const aclScalar *inputScale, const Operand &out) {
  elu(call, self, call.scalar(alpha, "alpha").as<double>(),
      call.scalar(scale, "scale").as<double>(), call.scalar(inputScale, "inputScale").as<double>(),
      out);
}

void celu(Call &call, const Operand &self, const aclScalar *alpha, const Operand &out) {
  const auto by = call.scalar(alpha, "alpha").as<double>();
  call.require(by != 0, "alpha must not be 0");
  elu(call, self, by, 1, 1 / by, out);
}

}  // namespace

SAME_UNARY(Relu, self, RELU, out, RELU, REALS | WHOLE, relu)
INPLACE_SAME_UNARY(InplaceRelu, selfRef, RELU | U8, REALS | WHOLE, relu)
SAME_UNARY(Sigmoid, self, FLT3, out, FLT3, REALS, sigmoid_of)
INPLACE_SAME_UNARY(InplaceSigmoid, selfRef, FLTC6, REALS | COMPLEXES, sigmoid_of)
SAME_UNARY(LogSigmoid, self, FLT3, out, FLT3, REALS, log_sigmoid)
SAME_UNARY(Silu, self, FLT3, out, FLT3, REALS, silu)
SAME_UNARY(Gelu, self, FLT3, out, FLT3, REALS, gelu)
SAME_UNARY(Mish, self, FLT3, out, FLT3, REALS, mish)
INPLACE_SAME_UNARY(InplaceMish, selfRef, FLT3, REALS, mish)
UNARY(Hardsigmoid, self, FLT3 | I32, FLT3 | I32, REALS, hard_sigmoid)
INPLACE_UNARY(InplaceHardsigmoid, self, FLT3 | I32, REALS, hard_sigmoid)
SAME_UNARY(Hardswish, self, FLT3, out, FLT3, REALS, hard_swish)
INPLACE_SAME_UNARY(InplaceHardswish, self, FLT3, REALS, hard_swish)

ACLNN(LogSigmoidForward, (const aclTensor *self, aclTensor *out, aclTensor *buffer),
      (self, out, buffer)) {
  const Operand x = call.in(self, "self", FLT3), y = call.out(out, "out", FLT3);
  call.out(buffer, "buffer");  // what the vector unit keeps for its own backward
  unary<REALS>(call, x, y, x.dtype(), log_sigmoid);
}

ACLNN(GeluV2, (const aclTensor *x, int64_t approximate, aclTensor *y), (x, approximate, y)) {
  const Operand input = call.in(x, "x", FLT3), result = call.out(y, "y", FLT3);
  call.require(approximate == 0 || approximate == 1, "approximate must be 0 (none) or 1 (tanh)");
  if (approximate == 0) return unary<REALS>(call, input, result, input.dtype(), gelu);
  unary<REALS>(call, input, result, input.dtype(), gelu_by_tanh);
}

// x * sigmoid(1.702 * x), the approximation that the hardware computes fast.
ACLNN(FastGelu, (const aclTensor *self, aclTensor *out), (self, out)) {
  const Operand x = call.in(self, "self", FLT3);
  unary<REALS>(call, x, call.out(out, "out", FLT3), x.dtype(),
               [](auto v) { return v * sigmoid(decltype(v)(1.702) * v); });
}

ACLNN(Swish, (const aclTensor *self, const aclScalar *betaOptional, aclTensor *out),
      (self, betaOptional, out)) {
  const Operand x = call.in(self, "self", FLT3);
  const double beta =
      betaOptional == nullptr ? 1 : call.scalar(betaOptional, "betaOptional").as<double>();
  unary<REALS>(call, x, call.out(out, "out", FLT3), x.dtype(),
               [=](auto v) { return v * sigmoid(decltype(v)(beta) * v); });
}

ACLNN(LeakyRelu, (const aclTensor *self, const aclScalar *negativeSlope, aclTensor *out),
      (self, negativeSlope, out)) {
  leaky_relu(call, call.in(self, "self", FLT3), negativeSlope, call.out(out, "out", FLT3));
}

ACLNN(InplaceLeakyRelu, (aclTensor *selfRef, const aclScalar *negativeSlope),
      (selfRef, negativeSlope)) {
  const Operand x = call.inout(selfRef, "selfRef", FLT4);
  leaky_relu(call, x, negativeSlope, x);
}

ACLNN(Softplus,
      (const aclTensor *self, const aclScalar *beta, const aclScalar *threshold, aclTensor *out),
      (self, beta, threshold, out)) {
  const Operand x = call.in(self, "self", FLT3), result = call.out(out, "out", FLT3);
  const auto by = call.scalar(beta, "beta").as<double>();
  const auto limit = call.scalar(threshold, "threshold").as<double>();
  call.require(by != 0, "beta must not be 0");
  unary<REALS>(call, x, result, x.dtype(), [=](auto v) {
    using C = decltype(v);
    return v * C(by) > C(limit) ? v : softplus(v * C(by)) / C(by);
  });
}

ACLNN(Elu,
      (const aclTensor *self, const aclScalar *alpha, const aclScalar *scale,
       const aclScalar *inputScale, aclTensor *out),
      (self, alpha, scale, inputScale, out)) {
  scaled_elu(call, call.in(self, "self", FLT3), alpha, scale, inputScale,
             call.out(out, "out", FLT3));
}

ACLNN(InplaceElu,
      (aclTensor *selfRef, const aclScalar *alpha, const aclScalar *scale,
       const aclScalar *inputScale),
      (selfRef, alpha, scale, inputScale)) {
  const Operand x = call.inout(selfRef, "selfRef", FLT4);
  scaled_elu(call, x, alpha, scale, inputScale, x);
}

ACLNN(Celu, (const aclTensor *self, const aclScalar *alpha, aclTensor *out), (self, alpha, out)) {
  celu(call, call.in(self, "self", FLT3), alpha, call.out(out, "out", FLT3));
}

ACLNN(InplaceCelu, (aclTensor *selfRef, const aclScalar *alpha), (selfRef, alpha)) {
  const Operand x = call.inout(selfRef, "selfRef", FLT3);
  celu(call, x, alpha, x);
}

ACLNN(Selu, (const aclTensor *self, aclTensor *out), (self, out)) {
  elu(call, call.in(self, "self", SELU), SELU_ALPHA, SELU_SCALE, 1, call.out(out, "out", SELU));
}

ACLNN(InplaceSelu, (aclTensor *selfRef), (selfRef)) {
  const Operand x = call.inout(selfRef, "selfRef", SELU);
  elu(call, x, SELU_ALPHA, SELU_SCALE, 1, x);
}

ACLNN(Hardshrink, (const aclTensor *self, const aclScalar *lambd, aclTensor *out),
      (self, lambd, out)) {
  const Operand x = call.in(self, "self", FLT3);
  const Number limit = call.scalar(lambd, "lambd");
  unary<REALS>(call, x, call.out(out, "out", FLT3), x.dtype(), [=](auto v) {
    const auto by = limit.as<decltype(v)>();
    return v >= -by && v <= by ? decltype(v)(0) : v;
  });
}

ACLNN(Softshrink, (const aclTensor *self, const aclScalar *lambd, aclTensor *out),
      (self, lambd, out)) {
  const Operand x = call.in(self, "self", FLT3);
  const Number limit = call.scalar(lambd, "lambd");
  call.require(limit.as<double>() >= 0, "lambd must not be negative");
  unary<REALS>(call, x, call.out(out, "out", FLT3), x.dtype(), [=](auto v) {
    const auto by = limit.as<decltype(v)>();
    return v > by ? v - by : v < -by ? v + by : v * decltype(v)(0);
  });
}
