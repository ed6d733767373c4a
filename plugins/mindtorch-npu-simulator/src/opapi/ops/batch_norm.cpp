// Batch norm, and its gradients.
#include "../formats.h"
#include "../norms.h"

using namespace sim;

namespace {

// An input as (N, C, inner).
struct Channels {
  int64_t batch, count, inner;

  int64_t size() const { return batch * inner; }  // elements of a channel

  // f(index in row-major order) for every element of a channel.
  template <class F>
  void each(int64_t channel, F f) const {
    for (int64_t n = 0; n < batch; ++n) {
      const int64_t first = (n * count + channel) * inner;
      for (int64_t i = first; i < first + inner; ++i) f(static_cast<size_t>(i));
    }
  }
};

Channels channels_of(Call &call, const Operand &input) {
  call.require(input.dim() >= 2 && input.dim() <= 5, input.name() + " must have 2 to 5 dimensions");
  check_image_format(call, input);
  const Dims &shape = input.shape();
  return {shape[0], shape[1], numel({shape.begin() + 2, shape.end()})};
}

void check_channels(Call &call, const Operand &operand, const Channels &channels) {
  if (operand) call.shape_is(operand, {channels.count});
}

}  // namespace

ACLNN(BatchNorm,
      (const aclTensor *input, const aclTensor *weight, const aclTensor *bias,
       aclTensor *runningMean, aclTensor *runningVar, bool training, double momentum, double eps,
       aclTensor *output, aclTensor *saveMean, aclTensor *saveInvstd),
      (input, weight, bias, runningMean, runningVar, training, momentum, eps, output, saveMean,
       saveInvstd)) {
  const Operand x = call.in(input, "input", FLT3), to = call.out(output, "output", FLT3);
  const Operand w = call.optional(weight, "weight", FLT3), b = call.optional(bias, "bias", FLT3);
  const Operand mean = call.optional_out(runningMean, "runningMean", FLT3);
  const Operand var = call.optional_out(runningVar, "runningVar", FLT3);
  const Operand save_mean = call.optional_out(saveMean, "saveMean", FLT3);
  const Operand save_invstd = call.optional_out(saveInvstd, "saveInvstd", FLT3);
  const Channels channels = channels_of(call, x);
  check_image_format(call, to);
  call.shape_is(to, x.shape());
  call.writes(x.dtype(), to);
  for (const Operand &of_channels : {w, b, mean, var}) check_channels(call, of_channels, channels);
  call.require(training || (mean && var),
               "runningMean and runningVar are needed when not training");
  if (training) {
    call.require(save_mean && save_invstd, "saveMean and saveInvstd are needed when training");
    check_channels(call, save_mean, channels);
    check_channels(call, save_invstd, channels);
  }
  if (to.numel() == 0) return;
  call.workspace(packed_bytes(x) + static_cast<uint64_t>(channels.count) * 16);
  call.run([=](Launch &launch) {
    std::vector<float> values = gathered<float>(launch[x]);
    const std::vector<float> by = values_or(launch, w, channels.count, 1),
                             plus = values_or(launch, b, channels.count, 0);
    std::vector<float> running_mean = values_or(launch, mean, channels.count, 0);
    std::vector<float> running_var = values_or(launch, var, channels.count, 1);
    std::vector<double> means, invstds;
    const auto n = static_cast<double>(channels.size());
    for (int64_t c = 0; c < channels.count; ++c) {
      const auto k = static_cast<size_t>(c);
      double center = running_mean[k], variance = running_var[k];
      if (training) {
        double sum = 0, squares = 0;
        channels.each(c, [&](size_t i) { sum += values[i]; });
        center = sum / n;
        channels.each(c, [&](size_t i) { squares += (values[i] - center) * (values[i] - center); });
        variance = squares / n;
        const double unbiased = n > 1 ? squares / (n - 1) : squares / n;
        running_mean[k] = static_cast<float>((1 - momentum) * running_mean[k] + momentum * center);
        running_var[k] = static_cast<float>((1 - momentum) * running_var[k] + momentum * unbiased);
      }
      means.push_back(center);
      invstds.push_back(1 / std::sqrt(variance + eps));
      const double scale = invstds.back() * by[k];
      channels.each(c, [&](size_t i) {
        values[i] = static_cast<float>((values[i] - center) * scale + plus[k]);
      });
    }
    scattered(launch[to], values);
    if (!training) return;
    store_if_given(launch, mean, running_mean);
    store_if_given(launch, var, running_var);
    scattered(launch[save_mean], means);
    scattered(launch[save_invstd], invstds);
  });
}

ACLNN(BatchNormBackward,
      (const aclTensor *gradOut, const aclTensor *input, const aclTensor *weight,
       const aclTensor *runningMean, const aclTensor *runningVar, const aclTensor *saveMean,
       const aclTensor *saveInvstd, bool training, double eps, const aclBoolArray *outputMask,
       aclTensor *gradInput, aclTensor *gradWeight, aclTensor *gradBias),
      (gradOut, input, weight, runningMean, runningVar, saveMean, saveInvstd, training, eps,
       outputMask, gradInput, gradWeight, gradBias)) {
  const Operand g = call.in(gradOut, "gradOut", FLT3), x = call.in(input, "input", FLT3);
  const Operand w = call.optional(weight, "weight", FLT3);
  const Operand mean = call.optional(runningMean, "runningMean", FLT3),
                var = call.optional(runningVar, "runningVar", FLT3);
  const Operand save_mean = call.optional(saveMean, "saveMean", FLT3);
  const Operand save_invstd = call.optional(saveInvstd, "saveInvstd", FLT3);
  const Channels channels = channels_of(call, x);
  check_image_format(call, g);
  call.shape_is(g, x.shape());
  const Gradients to = gradients_of(call, outputMask, gradInput, gradWeight, gradBias,
                                    {"gradInput", "gradWeight", "gradBias"});
  if (to.input) call.shape_is(to.input, x.shape());
  for (const Operand &of_channels : {w, to.weight, to.bias})
    check_channels(call, of_channels, channels);
  const Operand center = training ? save_mean : mean, spread = training ? save_invstd : var;
  call.require(center && spread, training
                                     ? "saveMean and saveInvstd are needed when training"
                                     : "runningMean and runningVar are needed when not training");
  check_channels(call, center, channels);
  check_channels(call, spread, channels);
  call.workspace(packed_bytes(g) + packed_bytes(x) + static_cast<uint64_t>(channels.count) * 16);
  call.run([=](Launch &launch) {
    const std::vector<float> grads = gathered<float>(launch[g]),
                             values = gathered<float>(launch[x]);
    const std::vector<float> by = values_or(launch, w, channels.count, 1);
    const std::vector<double> means = gathered<double>(launch[center]),
                              spreads = gathered<double>(launch[spread]);
    std::vector<double> of_weight, of_bias;
    std::vector<float> result(values.size());
    const auto n = static_cast<double>(channels.size());
    for (int64_t c = 0; c < channels.count; ++c) {
      const auto k = static_cast<size_t>(c);
      const double invstd = training ? spreads[k] : 1 / std::sqrt(spreads[k] + eps);
      double sum = 0, product = 0;
      channels.each(c, [&](size_t i) {
        sum += grads[i];
        product += grads[i] * (values[i] - means[k]) * invstd;
      });
      of_weight.push_back(product);
      of_bias.push_back(sum);
      const double drift = training ? sum / n : 0, tilt = training ? product / n : 0;
      channels.each(c, [&](size_t i) {
        const double normalized = (values[i] - means[k]) * invstd;
        result[i] = static_cast<float>((grads[i] - drift - normalized * tilt) * invstd * by[k]);
      });
    }
    store_if_given(launch, to.input, result);
    store_if_given(launch, to.weight, of_weight);
    store_if_given(launch, to.bias, of_bias);
  });
}
