// Losses of class probabilities and a class for each sample, and their gradients.
#include <cmath>

#include "../losses.h"

using namespace sim;

namespace {

constexpr DTypes TARGET = I32 | I64 | U8;

// Samples of a number of classes: (N, C), (C) for a single one, or (N, C, H, W) for one a pixel.
struct Samples {
  int64_t count, classes, inner;  // the class has `inner` elements between its values

  int64_t size() const { return count * inner; }
  size_t at(int64_t sample, int64_t label) const {
    return static_cast<size_t>((sample / inner * classes + label) * inner + sample % inner);
  }
};

Samples samples_of(Call &call, const Operand &self, const Operand &target, const Operand &weight,
                   bool pixels) {
  const Dims &shape = self.shape();
  Dims of_target = shape;
  if (pixels) {
    call.require(shape.size() == 4, "self must have 4 dimensions");
  } else {
    call.require(shape.size() == 1 || shape.size() == 2, "self must have 1 or 2 dimensions");
  }
  const size_t along = shape.size() == 1 ? 0 : 1;
  of_target.erase(of_target.begin() + static_cast<ptrdiff_t>(along));
  call.shape_is(target, of_target);
  if (weight) call.shape_is(weight, {shape[along]});
  return {along == 0 ? 1 : shape[0], shape[along], pixels ? shape[2] * shape[3] : 1};
}

// The class of a sample; false if the sample does not count.
bool label_of(const Launch &launch, const Samples &samples, int64_t given, int64_t ignored,
              int64_t &label) {
  label = given;
  if (given == ignored) return false;
  if (given < 0 || given >= samples.classes) {
    launch.fault("target " + std::to_string(given) + " is not one of " +
                 std::to_string(samples.classes) + " classes");
  }
  return true;
}

void nll_loss(Call &call, const aclTensor *self, const aclTensor *target, const aclTensor *weight,
              int64_t reduction, int64_t ignored, aclTensor *out, aclTensor *total, bool pixels) {
  const Operand x = call.in(self, "self", FLT3), t = call.in(target, "target", TARGET);
  const Operand w = call.in(weight, "weight", FLT3), to = call.out(out, "out", FLT3);
  const Operand total_out = call.out(total, "totalWeightOut", FLT3);
  check_reduction(call, reduction);
  const Samples samples = samples_of(call, x, t, w, pixels);
  check_reduced(call, to, reduction, t.shape());
  call.require(total_out.numel() == 1, "totalWeightOut must have one element");
  call.workspace(packed_bytes(x));
  call.run([=](Launch &launch) {
    const std::vector<double> values = gathered<double>(launch[x]),
                              weights = gathered<double>(launch[w]);
    const std::vector<int64_t> labels = gathered<int64_t>(launch[t]);
    std::vector<double> losses(labels.size(), 0.0);
    double all = 0;
    for (int64_t i = 0; i < samples.size(); ++i) {
      int64_t label;
      if (!label_of(launch, samples, labels[static_cast<size_t>(i)], ignored, label)) continue;
      const double by = weights[static_cast<size_t>(label)];
      losses[static_cast<size_t>(i)] = -by * values[samples.at(i, label)];
      all += by;
    }
    store_reduced(launch[to], losses, reduction, reduction == MEAN ? all : 1);
    scattered<double>(launch[total_out], {reduction == NONE ? 0 : all});
  });
}

void nll_gradient(Call &call, const aclTensor *gradOutput, const aclTensor *self,
                  const aclTensor *target, const aclTensor *weight, int64_t reduction,
                  int64_t ignored, const aclTensor *total, aclTensor *out, bool pixels) {
  const Operand g = call.in(gradOutput, "gradOutput", FLT3), x = call.in(self, "self", FLT3);
  const Operand t = call.in(target, "target", TARGET), w = call.in(weight, "weight");
  const Operand all = call.in(total, "totalWeight"), to = call.out(out, "out");
  check_reduction(call, reduction);
  call.dtype_is(w, x.dtype());
  call.dtype_is(all, w.dtype());
  call.dtype_is(to, x.dtype());
  call.shape_is(to, x.shape());
  const Samples samples = samples_of(call, x, t, w, pixels);
  if (reduction == NONE) call.shape_is(g, t.shape());
  call.require(reduction == NONE || g.numel() == 1, "gradOutput must have one element");
  call.require(all.numel() == 1, "totalWeight must have one element");
  if (to.numel() == 0) return;
  call.workspace(packed_bytes(x));
  call.run([=](Launch &launch) {
    const std::vector<double> grads = gathered<double>(launch[g]),
                              weights = gathered<double>(launch[w]);
    const std::vector<int64_t> labels = gathered<int64_t>(launch[t]);
    const double divisor = reduction == MEAN ? gathered<double>(launch[all])[0] : 1;
    std::vector<double> result(static_cast<size_t>(to.numel()), 0.0);
    for (int64_t i = 0; i < samples.size(); ++i) {
      int64_t label;
      if (!label_of(launch, samples, labels[static_cast<size_t>(i)], ignored, label)) continue;
      const double by = grads[reduction == NONE ? static_cast<size_t>(i) : 0];
      result[samples.at(i, label)] = -by * weights[static_cast<size_t>(label)] / divisor;
    }
    scattered(launch[to], result);
  });
}

// ---- cross entropy ------------------------------------------------------------------------------

Reduction reduction_named(Call &call, const char *name) {
  const std::string text = name == nullptr ? "mean" : name;
  call.require(text == "mean" || text == "sum" || text == "none",
               "reductionOptional is none of mean, sum, none");
  return text == "mean" ? MEAN : text == "sum" ? SUM : NONE;
}

void check_smoothing(Call &call, double smoothing) {
  call.require(0 <= smoothing && smoothing <= 1, "labelSmoothing is not between 0 and 1");
}

// Logarithms of the probabilities of each row.
void log_probabilities(std::vector<double> &values, const Samples &samples) {
  for (int64_t i = 0; i < samples.count; ++i) {
    double *row = values.data() + i * samples.classes;
    const double largest = *std::max_element(row, row + samples.classes);
    double sum = 0;
    for (int64_t c = 0; c < samples.classes; ++c) sum += std::exp(row[c] - largest);
    for (int64_t c = 0; c < samples.classes; ++c) row[c] -= largest + std::log(sum);
  }
}

double total_weight(const Launch &launch, const Samples &samples,
                    const std::vector<int64_t> &labels, const std::vector<double> &weights,
                    int64_t ignored) {
  double total = 0;
  for (const int64_t given : labels) {
    int64_t label;
    if (label_of(launch, samples, given, ignored, label))
      total += weights[static_cast<size_t>(label)];
  }
  return total;
}

}  // namespace

#define NLL_LOSS(Name, PIXELS)                                                                 \
  ACLNN(Name,                                                                                  \
        (const aclTensor *self, const aclTensor *target, const aclTensor *weight,              \
         int64_t reduction, int64_t ignoreIndex, aclTensor *out, aclTensor *totalWeightOut),   \
        (self, target, weight, reduction, ignoreIndex, out, totalWeightOut)) {                 \
    nll_loss(call, self, target, weight, reduction, ignoreIndex, out, totalWeightOut, PIXELS); \
  }                                                                                            \
  ACLNN(Name##Backward,                                                                        \
        (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,          \
         const aclTensor *weight, int64_t reduction, int64_t ignoreIndex,                      \
         const aclTensor *totalWeight, aclTensor *out),                                        \
        (gradOutput, self, target, weight, reduction, ignoreIndex, totalWeight, out)) {        \
    nll_gradient(call, gradOutput, self, target, weight, reduction, ignoreIndex, totalWeight,  \
                 out, PIXELS);                                                                 \
  }
NLL_LOSS(NLLLoss, false)
NLL_LOSS(NLLLoss2d, true)

ACLNN(CrossEntropyLoss,
      (const aclTensor *input, const aclTensor *target, const aclTensor *weightOptional,
       const char *reductionOptional, int64_t ignoreIndex, double labelSmoothing,
       double lseSquareScaleForZloss, bool returnZloss, aclTensor *lossOut, aclTensor *logProbOut,
       aclTensor *zlossOut, aclTensor *lseForZlossOut),
      (input, target, weightOptional, reductionOptional, ignoreIndex, labelSmoothing,
       lseSquareScaleForZloss, returnZloss, lossOut, logProbOut, zlossOut, lseForZlossOut)) {
  const Operand x = call.in(input, "input", FLT3), t = call.in(target, "target", IDX);
  const Operand w = call.optional(weightOptional, "weightOptional", F32);
  const Operand loss = call.out(lossOut, "lossOut"), log_prob = call.out(logProbOut, "logProbOut");
  const Operand z_loss = call.out(zlossOut, "zlossOut"),
                lse = call.out(lseForZlossOut, "lseForZlossOut");
  for (const Operand &result : {loss, log_prob, z_loss, lse}) call.dtype_is(result, x.dtype());
  call.require(!returnZloss && lseSquareScaleForZloss == 0, "the z loss is not supported");
  check_smoothing(call, labelSmoothing);
  const Reduction reduction = reduction_named(call, reductionOptional);
  call.require(x.dim() == 2, "input must have 2 dimensions");
  const Samples samples = samples_of(call, x, t, w, false);
  check_reduced(call, loss, reduction, t.shape());
  call.shape_is(log_prob, x.shape());
  call.workspace(packed_bytes(x));
  call.run([=](Launch &launch) {
    std::vector<double> values = gathered<double>(launch[x]);
    log_probabilities(values, samples);
    scattered(launch[log_prob], values);
    const std::vector<double> weights = broadcast_values(launch, w, {samples.classes});
    const std::vector<int64_t> labels = gathered<int64_t>(launch[t]);
    std::vector<double> losses(labels.size(), 0.0);
    for (int64_t i = 0; i < samples.count; ++i) {
      int64_t label;
      if (!label_of(launch, samples, labels[static_cast<size_t>(i)], ignoreIndex, label)) continue;
      double smooth = 0;
      for (int64_t c = 0; c < samples.classes; ++c)
        smooth -= weights[static_cast<size_t>(c)] * values[samples.at(i, c)];
      const double plain = -weights[static_cast<size_t>(label)] * values[samples.at(i, label)];
      losses[static_cast<size_t>(i)] =
          (1 - labelSmoothing) * plain +
          labelSmoothing / static_cast<double>(samples.classes) * smooth;
    }
    store_reduced(
        launch[loss], losses, reduction,
        reduction == MEAN ? total_weight(launch, samples, labels, weights, ignoreIndex) : 1);
  });
}

ACLNN(CrossEntropyLossGrad,
      (const aclTensor *gradLoss, const aclTensor *logProb, const aclTensor *target,
       const aclTensor *weightOptional, const aclTensor *gradZlossOptional,
       const aclTensor *lseForZlossOptional, const char *reductionOptional, int64_t ignoreIndex,
       double labelSmoothing, double lseSquareScaleForZloss, aclTensor *out),
      (gradLoss, logProb, target, weightOptional, gradZlossOptional, lseForZlossOptional,
       reductionOptional, ignoreIndex, labelSmoothing, lseSquareScaleForZloss, out)) {
  const Operand g = call.in(gradLoss, "gradLoss", FLT3), x = call.in(logProb, "logProb", FLT3);
  const Operand t = call.in(target, "target", I64),
                w = call.optional(weightOptional, "weightOptional", F32);
  const Operand to = call.out(out, "out");
  call.optional(lseForZlossOptional, "lseForZlossOptional", FLT3);
  call.require(gradZlossOptional == nullptr && lseSquareScaleForZloss == 0,
               "the z loss is not supported");
  check_smoothing(call, labelSmoothing);
  const Reduction reduction = reduction_named(call, reductionOptional);
  call.require(x.dim() == 2, "logProb must have 2 dimensions");
  const Samples samples = samples_of(call, x, t, w, false);
  call.require(g.numel() == (reduction == NONE ? samples.count : 1),
               "gradLoss does not have the shape of the loss");
  call.dtype_is(to, g.dtype());
  call.shape_is(to, x.shape());
  if (to.numel() == 0) return;
  call.workspace(packed_bytes(x));
  call.run([=](Launch &launch) {
    const std::vector<double> values = gathered<double>(launch[x]),
                              grads = gathered<double>(launch[g]);
    const std::vector<double> weights = broadcast_values(launch, w, {samples.classes});
    const std::vector<int64_t> labels = gathered<int64_t>(launch[t]);
    const double divisor =
        reduction == MEAN ? total_weight(launch, samples, labels, weights, ignoreIndex) : 1;
    double all = 0;
    for (const double weight : weights) all += weight;
    const double spread = labelSmoothing / static_cast<double>(samples.classes);
    std::vector<double> result(values.size(), 0.0);
    for (int64_t i = 0; i < samples.count; ++i) {
      int64_t label;
      if (!label_of(launch, samples, labels[static_cast<size_t>(i)], ignoreIndex, label)) continue;
      const double by = grads[reduction == NONE ? static_cast<size_t>(i) : 0] / divisor;
      const double of_label = (1 - labelSmoothing) * weights[static_cast<size_t>(label)];
      for (int64_t c = 0; c < samples.classes; ++c) {
        const double probability = std::exp(values[samples.at(i, c)]);
        const double hit = c == label ? of_label : 0;
        result[samples.at(i, c)] = by * (probability * (of_label + spread * all) - hit -
                                         spread * weights[static_cast<size_t>(c)]);
      }
    }
    scattered(launch[to], result);
  });
}
