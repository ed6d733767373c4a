// Losses of an input and a target of its shape, element by element, and their gradients.
#include <cmath>

#include "../losses.h"

using namespace sim;

namespace {

// The shape of all operands together; an output of it, or of its reduction.
template <size_t N>
Dims joined_shape(Call &call, const std::array<Operand, N> &inputs, aclDataType &as) {
  Dims shape;
  as = ACL_DT_UNDEFINED;
  for (const Operand &input : inputs) {
    if (!input) continue;
    Dims wide;
    call.require(broadcast(shape, input.shape(), wide),
                 input.name() + " does not broadcast with the others");
    shape = std::move(wide);
    as = as == ACL_DT_UNDEFINED ? input.dtype() : promote(as, input.dtype());
  }
  return shape;
}

template <size_t N>
std::array<std::vector<double>, N> all_values(const Launch &launch,
                                              const std::array<Operand, N> &inputs,
                                              const Dims &shape) {
  std::array<std::vector<double>, N> values;
  for (size_t k = 0; k < N; ++k) values[k] = broadcast_values(launch, inputs[k], shape);
  return values;
}

template <size_t N, class F>
std::vector<double> mapped(const std::array<std::vector<double>, N> &inputs, F f) {
  std::vector<double> results(inputs[0].size());
  for (size_t i = 0; i < results.size(); ++i) {
    if constexpr (N == 2) results[i] = f(inputs[0][i], inputs[1][i]);
    else if constexpr (N == 3) results[i] = f(inputs[0][i], inputs[1][i], inputs[2][i]);
    else if constexpr (N == 4)
      results[i] = f(inputs[0][i], inputs[1][i], inputs[2][i], inputs[3][i]);
    else results[i] = f(inputs[0][i], inputs[1][i], inputs[2][i], inputs[3][i], inputs[4][i]);
  }
  return results;
}

// out = the reduction of f(inputs); f gets a double for each.
template <size_t N, class F>
void loss(Call &call, const std::array<Operand, N> &inputs, int64_t reduction, const Operand &out,
          F f, int64_t most = SUM) {
  check_reduction(call, reduction, most);
  aclDataType as;
  const Dims shape = joined_shape(call, inputs, as);
  check_reduced(call, out, reduction, shape);
  call.writes(as, out);
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    store_reduced(launch[out], mapped(all_values(launch, inputs, shape), f), reduction,
                  divisor_of(reduction, shape));
  });
}

// out = f(gradient, inputs), where the gradient of a mean is divided among the elements.
template <size_t N, class F>
void gradient(Call &call, const std::array<Operand, N> &inputs, int64_t reduction,
              const Operand &out, F f, int64_t most = SUM) {
  check_reduction(call, reduction, most);
  aclDataType as;
  const Dims shape = joined_shape(call, inputs, as);
  call.shape_is(out, shape);
  call.writes(as, out);
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    auto values = all_values(launch, inputs, shape);
    const double divisor = divisor_of(reduction, shape);
    for (double &g : values[0]) g /= divisor;
    scattered(launch[out], mapped(values, f));
  });
}

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

double clamped_log(double x) { return std::max(std::log(x), -100.0); }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

void mse_loss(Call &call, const aclTensor *self, const aclTensor *target, int64_t reduction,
              aclTensor *out) {
  const Operand x = call.in(self, "self", FLT3), t = call.in(target, "target", FLT3);
  loss<2>(call, {x, t}, reduction, call.out(out, "out", FLT3),
          [](double a, double b) { return (a - b) * (a - b); });
}

// The tensors of a cross entropy of logits, all of one dtype.
struct Logits {
  Operand self, target, weight, positive, out;
};

Logits logits_of(Call &call, const aclTensor *self, const aclTensor *target,
                 const aclTensor *weight, const aclTensor *positive, aclTensor *out) {
  Logits of;
  of.self = call.in(self, "self", FLT3);
  of.target = call.in(target, "target");
  of.weight = call.optional(weight, "weightOptional");
  of.positive = call.optional(positive, "posWeightOptional");
  of.out = call.out(out, "out");
  for (const Operand *other : {&of.target, &of.weight, &of.positive, &of.out}) {
    if (*other) call.dtype_is(*other, of.self.dtype());
  }
  return of;
}

}  // namespace

// ---- distances ----------------------------------------------------------------------------------

ACLNN(MseLoss, (const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out),
      (self, target, reduction, out)) {
  mse_loss(call, self, target, reduction, out);
}

ACLNN(MseLossOut,
      (const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out),
      (self, target, reduction, out)) {
  mse_loss(call, self, target, reduction, out);
}

ACLNN(MseLossBackward,
      (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
       int64_t reduction, aclTensor *out),
      (gradOutput, self, target, reduction, out)) {
  const Operand g = call.in(gradOutput, "gradOutput", FLT3), x = call.in(self, "self", FLT3);
  const Operand t = call.in(target, "target", FLT3);
  call.dtype_is(g, x.dtype());
  call.dtype_is(t, x.dtype());
  gradient<3>(call, {g, x, t}, reduction, call.out(out, "out", FLT3),
              [](double by, double a, double b) { return by * 2 * (a - b); });
}

ACLNN(L1Loss, (const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out),
      (self, target, reduction, out)) {
  const Operand x = call.in(self, "self", FLT3 | I64), t = call.in(target, "target", FLT3 | I64);
  loss<2>(call, {x, t}, reduction, call.out(out, "out", FLT3 | I64),
          [](double a, double b) { return std::abs(a - b); });
}

ACLNN(L1LossBackward,
      (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
       int64_t reduction, aclTensor *gradInput),
      (gradOutput, self, target, reduction, gradInput)) {
  const Operand g = call.in(gradOutput, "gradOutput", FLT3), x = call.in(self, "self", FLT3);
  const Operand t = call.in(target, "target", FLT3);
  gradient<3>(call, {g, x, t}, reduction, call.out(gradInput, "gradInput", FLT3),
              [](double by, double a, double b) { return by * sign(a - b); });
}

ACLNN(SmoothL1Loss,
      (const aclTensor *self, const aclTensor *target, int64_t reduction, float beta,
       aclTensor *result),
      (self, target, reduction, beta, result)) {
  const Operand x = call.in(self, "self", FLT3), t = call.in(target, "target", FLT3);
  call.require(beta >= 0, "beta is negative");
  loss<2>(call, {x, t}, reduction, call.out(result, "result", FLT3), [=](double a, double b) {
    const double distance = std::abs(a - b);
    return distance < beta ? 0.5 * distance * distance / beta : distance - 0.5 * beta;
  });
}

ACLNN(SmoothL1LossBackward,
      (const aclTensor *gradOut, const aclTensor *self, const aclTensor *target, int64_t reduction,
       float beta, aclTensor *gradInput),
      (gradOut, self, target, reduction, beta, gradInput)) {
  const Operand g = call.in(gradOut, "gradOut", FLT3), x = call.in(self, "self", FLT3);
  const Operand t = call.in(target, "target", FLT3);
  call.require(beta >= 0, "beta is negative");
  gradient<3>(call, {g, x, t}, reduction, call.out(gradInput, "gradInput", FLT3),
              [=](double by, double a, double b) {
                return by * (std::abs(a - b) < beta ? (a - b) / beta : sign(a - b));
              });
}

// ---- cross entropies of two classes -------------------------------------------------------------

ACLNN(BinaryCrossEntropy,
      (const aclTensor *self, const aclTensor *target, const aclTensor *weight, int64_t reduction,
       aclTensor *out),
      (self, target, weight, reduction, out)) {
  const Operand x = call.in(self, "self", FLT3), t = call.in(target, "target");
  const Operand w = call.optional(weight, "weight"), to = call.out(out, "out");
  call.dtype_is(t, x.dtype());
  if (w) call.dtype_is(w, x.dtype());
  call.dtype_is(to, x.dtype());
  loss<3>(call, {x, t, w}, reduction, to, [](double p, double y, double by) {
    return -by * (y * clamped_log(p) + (1 - y) * clamped_log(1 - p));
  });
}

ACLNN(BinaryCrossEntropyBackward,
      (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
       const aclTensor *weightOptional, int64_t reduction, aclTensor *out),
      (gradOutput, self, target, weightOptional, reduction, out)) {
  const Operand g = call.in(gradOutput, "gradOutput", FLT3), x = call.in(self, "self", FLT3);
  const Operand t = call.in(target, "target", FLT3),
                w = call.optional(weightOptional, "weightOptional", FLT3);
  gradient<4>(call, {g, x, t, w}, reduction, call.out(out, "out", FLT3),
              [](double by, double p, double y, double v) {
                return by * v * (p - y) / std::max((1 - p) * p, 1e-12);
              });
}

ACLNN(BinaryCrossEntropyWithLogits,
      (const aclTensor *self, const aclTensor *target, const aclTensor *weightOptional,
       const aclTensor *posWeightOptional, int64_t reduction, aclTensor *out),
      (self, target, weightOptional, posWeightOptional, reduction, out)) {
  const Logits of = logits_of(call, self, target, weightOptional, posWeightOptional, out);
  loss<4>(call, {of.self, of.target, of.weight, of.positive}, reduction, of.out,
          [](double a, double y, double by, double positive) {
            const double softplus = std::log1p(std::exp(-std::abs(a))) + std::max(-a, 0.0);
            return by * ((1 - y) * a + (1 + (positive - 1) * y) * softplus);
          });
}

ACLNN(BinaryCrossEntropyWithLogitsBackward,
      (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
       const aclTensor *weightOptional, const aclTensor *posWeightOptional, int64_t reduction,
       aclTensor *out),
      (gradOutput, self, target, weightOptional, posWeightOptional, reduction, out)) {
  const Operand g = call.in(gradOutput, "gradOutput", FLT3);
  const Logits of = logits_of(call, self, target, weightOptional, posWeightOptional, out);
  gradient<5>(call, {g, of.self, of.target, of.weight, of.positive}, reduction, of.out,
              [](double by, double a, double y, double v, double positive) {
                return by * v * ((positive * y + 1 - y) * sigmoid(a) - positive * y);
              });
}

// ---- divergence ---------------------------------------------------------------------------------

ACLNN(KlDiv,
      (const aclTensor *self, const aclTensor *target, int64_t reduction, bool logTarget,
       aclTensor *out),
      (self, target, reduction, logTarget, out)) {
  const Operand x = call.in(self, "self", FLT3), t = call.in(target, "target", FLT3);
  const auto divergence = [=](double a, double y) {
    if (logTarget) return std::exp(y) * (y - a);
    return (y == 0 ? 0.0 : y * std::log(y)) - y * a;
  };
  loss<2>(call, {x, t}, reduction, call.out(out, "out", FLT3), divergence, BATCH_MEAN);
}

ACLNN(KlDivBackward,
      (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
       int64_t reduction, bool logTarget, aclTensor *out),
      (gradOutput, self, target, reduction, logTarget, out)) {
  const Operand g = call.in(gradOutput, "gradOutput", FLT3), x = call.in(self, "self", FLT3);
  const Operand t = call.in(target, "target", FLT3), to = call.out(out, "out");
  call.dtype_is(to, x.dtype());
  const auto slope = [=](double by, double, double y) {
    return -by * (logTarget ? std::exp(y) : y);
  };
  gradient<3>(call, {g, x, t}, reduction, to, slope, BATCH_MEAN);
}
