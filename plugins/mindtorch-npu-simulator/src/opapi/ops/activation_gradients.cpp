// Gradients of activation functions.
#include "../activations.h"

using namespace sim;

namespace {

// gradInput = f(gradOutput, input), where the input is the activation's argument or its result.
template <unsigned Kinds = REALS, class F>
void backward(Call &call, const Operand &grad, const Operand &input, const Operand &out, F f) {
  broadcast_to(call, out, grad, input);
  const aclDataType as = call.common(grad, input);
  mapped<Kinds>(call, out, as, f, grad, input);
}

const auto gelu_slope = [](auto x) { return normal_cdf(x) + x * normal_density(x); };
const auto gelu_tanh_slope = [](auto x) {
  using C = decltype(x);
  const C t = std::tanh(gelu_inner(x));
  return C{0.5} * (C{1} + t) + C{0.5} * x * (C{1} - t * t) * gelu_inner_slope(x);
};

// The gradient of x * sigmoid(beta * x).
template <class C>
C swish_slope(C x, C beta) {
  const C s = sigmoid(beta * x);
  return s + beta * x * s * (C{1} - s);
}

constexpr DTypes THRESHOLDED = FLT3 | I8 | I32 | I64 | U8, SELU = FLT3 | I8 | I32;

}  // namespace

// aclnnName(gradOutput, other, out): a function of two tensors.
#define GRADIENT(Name, input, to, ALLOWED, KINDS, F)                                \
  ACLNN(Name, (const aclTensor *gradOutput, const aclTensor *input, aclTensor *to), \
        (gradOutput, input, to)) {                                                  \
    const Operand grad = call.in(gradOutput, "gradOutput", ALLOWED);                \
    const Operand given = call.in(input, #input, ALLOWED);                          \
    backward<KINDS>(call, grad, given, call.out(to, #to, ALLOWED), F);              \
  }

GRADIENT(SigmoidBackward, output, gradInput, FLTC6, REALS | COMPLEXES,
         [](auto g, auto y) { return g * (decltype(y)(1) - y) * y; })
GRADIENT(TanhBackward, output, gradInput, FLT4, REALS,
         [](auto g, auto y) { return g * (decltype(y)(1) - y * y); })
GRADIENT(SiluBackward, self, gradInput, FLT3, REALS,
         [](auto g, auto x) { return g * swish_slope(x, decltype(x)(1)); })
GRADIENT(GeluBackward, self, gradInput, FLT3, REALS,
         [](auto g, auto x) { return g * gelu_slope(x); })
GRADIENT(FastGeluBackward, self, gradInput, FLT3, REALS,
         [](auto g, auto x) { return g * swish_slope(x, decltype(x)(1.702)); })
GRADIENT(MishBackward, self, gradInput, FLT3, REALS, [](auto g, auto x) {
  const auto t = std::tanh(softplus(x));
  return g * (t + x * sigmoid(x) * (decltype(x)(1) - t * t));
})
GRADIENT(SeluBackward, result, gradInput, SELU, REALS | WHOLE, [](auto g, auto y) {
  return static_cast<decltype(g)>(y > 0 ? g * SELU_SCALE : g * (y + SELU_ALPHA * SELU_SCALE));
})
GRADIENT(HardsigmoidBackward, self, out, FLT3, REALS, [](auto g, auto x) {
  using C = decltype(x);
  return x > C{-3} && x < C{3} ? g / C{6} : C{0};
})

#define HARD_SWISH_GRADIENT(Name)                                       \
  GRADIENT(Name, self, out, FLT3, REALS, [](auto g, auto x) {           \
    using C = decltype(x);                                              \
    return x <= C{-3} ? C{0} : x >= C{3} ? g : g * (x / C{3} + C{0.5}); \
  })
HARD_SWISH_GRADIENT(HardswishBackward)
HARD_SWISH_GRADIENT(HardswishBackwardV2)

ACLNN(LogSigmoidBackward,
      (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *buffer,
       aclTensor *gradInput),
      (gradOutput, self, buffer, gradInput)) {
  const Operand grad = call.in(gradOutput, "gradOutput", FLT3), x = call.in(self, "self", FLT3);
  call.in(buffer, "buffer", FLT3);
  backward(call, grad, x, call.out(gradInput, "gradInput", FLT3),
           [](auto g, auto v) { return g * sigmoid(-v); });
}

ACLNN(GeluBackwardV2,
      (const aclTensor *gradOutput, const aclTensor *self, const char *approximate,
       aclTensor *gradInput),
      (gradOutput, self, approximate, gradInput)) {
  const Operand grad = call.in(gradOutput, "gradOutput", FLT3), x = call.in(self, "self", FLT3);
  const Operand out = call.out(gradInput, "gradInput", FLT3);
  const std::string how = call.text(approximate, "approximate");
  call.require(how == "none" || how == "tanh", "approximate must be none or tanh");
  if (how == "none")
    return backward(call, grad, x, out, [](auto g, auto v) { return g * gelu_slope(v); });
  backward(call, grad, x, out, [](auto g, auto v) { return g * gelu_tanh_slope(v); });
}

ACLNN(SwishBackward,
      (const aclTensor *gradOutput, const aclTensor *self, const aclScalar *betaOptional,
       aclTensor *gradInput),
      (gradOutput, self, betaOptional, gradInput)) {
  const Operand grad = call.in(gradOutput, "gradOutput", FLT3), x = call.in(self, "self", FLT3);
  const double beta =
      betaOptional == nullptr ? 1 : call.scalar(betaOptional, "betaOptional").as<double>();
  backward(call, grad, x, call.out(gradInput, "gradInput", FLT3),
           [=](auto g, auto v) { return g * swish_slope(v, decltype(v)(beta)); });
}

ACLNN(LeakyReluBackward,
      (const aclTensor *gradOutput, const aclTensor *self, const aclScalar *negativeSlope,
       bool selfIsResult, aclTensor *out),
      (gradOutput, self, negativeSlope, selfIsResult, out)) {
  const Operand grad = call.in(gradOutput, "gradOutput", FLT4), x = call.in(self, "self", FLT4);
  const Number slope = call.scalar(negativeSlope, "negativeSlope");
  call.require(!selfIsResult || slope.as<double>() >= 0,
               "negativeSlope must not be negative when self is the result");
  backward(call, grad, x, call.out(out, "out", FLT4),
           [=](auto g, auto v) { return v > 0 ? g : g * slope.as<decltype(v)>(); });
}

ACLNN(SoftplusBackward,
      (const aclTensor *gradOutput, const aclTensor *self, const aclScalar *beta,
       const aclScalar *threshold, aclTensor *gradInput),
      (gradOutput, self, beta, threshold, gradInput)) {
  const Operand grad = call.in(gradOutput, "gradOutput", FLT4), x = call.in(self, "self", REAL10);
  const auto by = call.scalar(beta, "beta").as<double>();
  const auto limit = call.scalar(threshold, "threshold").as<double>();
  backward(call, grad, x, call.out(gradInput, "gradInput", FLT4), [=](auto g, auto v) {
    using C = decltype(v);
    return v * C(by) > C(limit) ? g : g * sigmoid(v * C(by));
  });
}

ACLNN(EluBackward,
      (const aclTensor *gradOutput, const aclScalar *alpha, const aclScalar *scale,
       const aclScalar *inputScale, bool isResult, const aclTensor *selfOrResult,
       aclTensor *gradInput),
      (gradOutput, alpha, scale, inputScale, isResult, selfOrResult, gradInput)) {
  const Operand grad = call.in(gradOutput, "gradOutput", FLT3);
  const auto a = call.scalar(alpha, "alpha").as<double>(),
             by = call.scalar(scale, "scale").as<double>();
  const auto inner = call.scalar(inputScale, "inputScale").as<double>();
  call.require(!isResult || a >= 0, "alpha must not be negative when selfOrResult is the result");
  const Operand x = call.in(selfOrResult, "selfOrResult", FLT3);
  backward(call, grad, x, call.out(gradInput, "gradInput", FLT3), [=](auto g, auto v) {
    using C = decltype(v);
    if (v > 0) return g * C(by);
    if (isResult) return g * C(inner) * (v + C(a * by));
    return g * C(inner * a * by) * std::exp(v * C(inner));
  });
}

ACLNN(HardtanhBackward,
      (const aclTensor *gradOutput, const aclTensor *self, const aclScalar *min,
       const aclScalar *max, aclTensor *out),
      (gradOutput, self, min, max, out)) {
  const Operand grad = call.in(gradOutput, "gradOutput", FLT3), x = call.in(self, "self", FLT3);
  const Number low = call.scalar(min, "min"), high = call.scalar(max, "max");
  backward(call, grad, x, call.out(out, "out", FLT3), [=](auto g, auto v) {
    using C = decltype(v);
    return v > low.as<C>() && v < high.as<C>() ? g : C{0};
  });
}

namespace {

// The gradient passes where the shrunk value is not 0.
void shrink_backward(Call &call, const aclTensor *gradOutput, const aclTensor *self,
                     const aclScalar *limit, const char *name, aclTensor *gradInput) {
  const Operand grad = call.in(gradOutput, "gradOutput", FLT3), x = call.in(self, "self", FLT3);
  const Number by = call.scalar(limit, name);
  backward(call, grad, x, call.out(gradInput, "gradInput", FLT3), [=](auto g, auto v) {
    using C = decltype(v);
    return v < -by.as<C>() || v > by.as<C>() ? g : C{0};
  });
}

}  // namespace

ACLNN(HardshrinkBackward,
      (const aclTensor *gradOutput, const aclTensor *self, const aclScalar *lambd,
       aclTensor *gradInput),
      (gradOutput, self, lambd, gradInput)) {
  shrink_backward(call, gradOutput, self, lambd, "lambd", gradInput);
}

ACLNN(SoftshrinkBackward,
      (const aclTensor *gradOutput, const aclTensor *self, const aclScalar *lambda,
       aclTensor *gradInput),
      (gradOutput, self, lambda, gradInput)) {
  shrink_backward(call, gradOutput, self, lambda, "lambda", gradInput);
}

ACLNN(ThresholdBackward,
      (const aclTensor *gradOutput, const aclTensor *self, const aclScalar *threshold,
       aclTensor *out),
      (gradOutput, self, threshold, out)) {
  const Operand grad = call.in(gradOutput, "gradOutput", THRESHOLDED),
                x = call.in(self, "self", THRESHOLDED);
  const Number limit = call.scalar(threshold, "threshold");
  backward<REALS | WHOLE>(call, grad, x, call.out(out, "out", THRESHOLDED), [=](auto g, auto v) {
    using C = decltype(v);
    return v <= limit.as<C>() ? C{0} : g;
  });
}
