// Norms over the last dims or over groups of channels: layer norm, group norm, RMS norm.
#include "../norms.h"

using namespace sim;

namespace {

// Rows that are normalised, and which weight belongs to an element of a row.
struct Rows {
  int64_t count, size;
  int64_t inner = 1, period = 0,
          groups = 1;  // of group norm; a period of 0: the element's own weight

  size_t weight_of(int64_t row, int64_t i) const {
    return static_cast<size_t>(period == 0 ? i : row % groups * period + i / inner);
  }
  int64_t weights() const { return period == 0 ? size : period * groups; }
};

// A norm over the dims that normalizedShape, or gamma, names; the statistics' shape is the rest,
// then ones.
Rows trailing_rows(Call &call, const Operand &input, const Dims &normalized, Dims &statistics) {
  const auto rank = input.shape().size();
  call.require(!normalized.empty() && normalized.size() <= rank &&
                   std::equal(normalized.rbegin(), normalized.rend(), input.shape().rbegin()),
               input.name() + " does not end in the normalized shape");
  statistics = input.shape();
  std::fill(statistics.end() - static_cast<ptrdiff_t>(normalized.size()), statistics.end(), 1);
  return {numel(statistics), numel(normalized)};
}

Rows group_rows(Call &call, const Operand &input, int64_t n, int64_t c, int64_t inner,
                int64_t groups) {
  call.require(n >= 0 && c > 0 && inner >= 0 && groups > 0 && c % groups == 0,
               "N, C, HxW and group do not fit together");
  call.require(input.numel() == n * c * inner && input.dim() >= 2,
               input.name() + " has another size than N, C and HxW say");
  return {n * groups, c / groups * inner, inner, c / groups, groups};
}

void normalize(Call &call, const Rows &rows, double eps, const Operand &input,
               const Operand &weight, const Operand &bias, const Operand &out, const Operand &mean,
               const Operand &rstd) {
  call.shape_is(out, input.shape());
  call.writes(input.dtype(), out);
  if (out.numel() == 0) return;
  call.workspace(packed_bytes(input) + static_cast<uint64_t>(rows.count) * 8);
  call.run([=](Launch &launch) {
    std::vector<float> x = gathered<float>(launch[input]);
    const std::vector<float> by = values_or(launch, weight, rows.weights(), 1);
    const std::vector<float> plus = values_or(launch, bias, rows.weights(), 0);
    std::vector<double> means, rstds;
    for (int64_t row = 0; row < rows.count; ++row) {
      float *line = x.data() + row * rows.size;
      const Moments m = moments_of(line, rows.size, eps);
      means.push_back(m.mean);
      rstds.push_back(m.rstd);
      for (int64_t i = 0; i < rows.size; ++i) {
        const size_t k = rows.weight_of(row, i);
        line[i] = static_cast<float>((line[i] - m.mean) * m.rstd * by[k] + plus[k]);
      }
    }
    scattered(launch[out], x);
    store_if_given(launch, mean, means);
    store_if_given(launch, rstd, rstds);
  });
}

void normalize_backward(Call &call, const Rows &rows, const Operand &grad, const Operand &input,
                        const Operand &mean, const Operand &rstd, const Operand &weight,
                        const Gradients &to) {
  call.shape_is(grad, input.shape());
  call.require(mean.numel() == rows.count && rstd.numel() == rows.count,
               "mean or rstd do not have one element a row");
  if (to.input) call.shape_is(to.input, input.shape());
  for (const Operand &of_weights : {weight, to.weight, to.bias}) {
    call.require(!of_weights || of_weights.numel() == rows.weights(),
                 "a weight's gradient does not have its shape");
  }
  call.workspace(packed_bytes(grad) + packed_bytes(input) +
                 static_cast<uint64_t>(rows.weights()) * 16);
  call.run([=](Launch &launch) {
    const std::vector<float> g = gathered<float>(launch[grad]), x = gathered<float>(launch[input]);
    const std::vector<double> means = gathered<double>(launch[mean]),
                              rstds = gathered<double>(launch[rstd]);
    const std::vector<float> by = values_or(launch, weight, rows.weights(), 1);
    std::vector<double> of_weight(by.size(), 0.0), of_bias(by.size(), 0.0);
    std::vector<double> through(static_cast<size_t>(rows.size)), normalized(through.size());
    std::vector<float> result(x.size());
    for (int64_t row = 0; row < rows.count; ++row) {
      const auto r = static_cast<size_t>(row);
      for (int64_t i = 0; i < rows.size; ++i) {
        const auto at = static_cast<size_t>(row * rows.size + i), k = rows.weight_of(row, i);
        const auto slot = static_cast<size_t>(i);
        normalized[slot] = (x[at] - means[r]) * rstds[r];
        through[slot] = static_cast<double>(g[at]) * by[k];
        of_weight[k] += g[at] * normalized[slot];
        of_bias[k] += g[at];
      }
      normalized_gradient(through.data(), normalized.data(), rows.size, rstds[r],
                          result.data() + row * rows.size);
    }
    store_if_given(launch, to.input, result);
    store_if_given(launch, to.weight, of_weight);
    store_if_given(launch, to.bias, of_bias);
  });
}

}  // namespace

ACLNN(LayerNorm,
      (const aclTensor *input, const aclIntArray *normalizedShape, const aclTensor *weightOptional,
       const aclTensor *biasOptional, double eps, aclTensor *out, aclTensor *meanOutOptional,
       aclTensor *rstdOutOptional),
      (input, normalizedShape, weightOptional, biasOptional, eps, out, meanOutOptional,
       rstdOutOptional)) {
  const Operand x = call.in(input, "input", FLT3),
                w = call.optional(weightOptional, "weightOptional", FLT3);
  const Operand b = call.optional(biasOptional, "biasOptional", FLT3),
                to = call.out(out, "out", FLT3);
  const Operand mean = call.optional_out(meanOutOptional, "meanOutOptional", FLT3);
  const Operand rstd = call.optional_out(rstdOutOptional, "rstdOutOptional", FLT3);
  const Dims normalized = call.ints(normalizedShape, "normalizedShape");
  Dims statistics;
  const Rows rows = trailing_rows(call, x, normalized, statistics);
  for (const Operand &of_weights : {w, b}) {
    if (of_weights) call.shape_is(of_weights, normalized);
  }
  for (const Operand &of_rows : {mean, rstd}) {
    if (of_rows) call.shape_is(of_rows, statistics);
  }
  normalize(call, rows, eps, x, w, b, to, mean, rstd);
}

ACLNN(LayerNormBackward,
      (const aclTensor *gradOut, const aclTensor *input, const aclIntArray *normalizedShape,
       const aclTensor *mean, const aclTensor *rstd, const aclTensor *weightOptional,
       const aclTensor *biasOptional, const aclBoolArray *outputMask, aclTensor *gradInputOut,
       aclTensor *gradWeightOut, aclTensor *gradBiasOut),
      (gradOut, input, normalizedShape, mean, rstd, weightOptional, biasOptional, outputMask,
       gradInputOut, gradWeightOut, gradBiasOut)) {
  const Operand g = call.in(gradOut, "gradOut", FLT3), x = call.in(input, "input", FLT3);
  const Operand m = call.in(mean, "mean", FLT3), r = call.in(rstd, "rstd", FLT3);
  const Operand w = call.optional(weightOptional, "weightOptional", FLT3);
  call.optional(biasOptional, "biasOptional", FLT3);
  Dims statistics;
  const Rows rows =
      trailing_rows(call, x, call.ints(normalizedShape, "normalizedShape"), statistics);
  const Gradients to = gradients_of(call, outputMask, gradInputOut, gradWeightOut, gradBiasOut,
                                    {"gradInputOut", "gradWeightOut", "gradBiasOut"});
  normalize_backward(call, rows, g, x, m, r, w, to);
}

ACLNN(GroupNorm,
      (const aclTensor *self, const aclTensor *gamma, const aclTensor *beta, int64_t N, int64_t C,
       int64_t HxW, int64_t group, double eps, aclTensor *out, aclTensor *meanOut,
       aclTensor *rstdOut),
      (self, gamma, beta, N, C, HxW, group, eps, out, meanOut, rstdOut)) {
  const Operand x = call.in(self, "self", FLT3), w = call.optional(gamma, "gamma", FLT3);
  const Operand b = call.optional(beta, "beta", FLT3), to = call.out(out, "out", FLT3);
  const Operand mean = call.out(meanOut, "meanOut", FLT3),
                rstd = call.out(rstdOut, "rstdOut", FLT3);
  const Rows rows = group_rows(call, x, N, C, HxW, group);
  for (const Operand &of_weights : {w, b}) {
    if (of_weights) call.shape_is(of_weights, {C});
  }
  call.shape_is(mean, {N, group});
  call.shape_is(rstd, {N, group});
  normalize(call, rows, eps, x, w, b, to, mean, rstd);
}

ACLNN(GroupNormBackward,
      (const aclTensor *gradOut, const aclTensor *input, const aclTensor *mean,
       const aclTensor *rstd, const aclTensor *gamma, int64_t N, int64_t C, int64_t HxW,
       int64_t group, const aclBoolArray *outputMask, aclTensor *gradInput, aclTensor *gradGammaOut,
       aclTensor *gradBetaOut),
      (gradOut, input, mean, rstd, gamma, N, C, HxW, group, outputMask, gradInput, gradGammaOut,
       gradBetaOut)) {
  const Operand g = call.in(gradOut, "gradOut", FLT3), x = call.in(input, "input", FLT3);
  const Operand m = call.in(mean, "mean", FLT3), r = call.in(rstd, "rstd", FLT3);
  const Operand w = call.optional(gamma, "gamma", FLT3);
  const Rows rows = group_rows(call, x, N, C, HxW, group);
  call.require(C / group <= 8000, "C / group is greater than 8000");
  const Gradients to = gradients_of(call, outputMask, gradInput, gradGammaOut, gradBetaOut,
                                    {"gradInput", "gradGammaOut", "gradBetaOut"});
  normalize_backward(call, rows, g, x, m, r, w, to);
}

// ---- norms by the root of the mean square -------------------------------------------------------

ACLNN(RmsNorm,
      (const aclTensor *x, const aclTensor *gamma, double epsilon, aclTensor *yOut,
       aclTensor *rstdOut),
      (x, gamma, epsilon, yOut, rstdOut)) {
  const Operand from = call.in(x, "x", FLT3), w = call.in(gamma, "gamma", FLT3);
  const Operand to = call.out(yOut, "yOut", FLT3), rstd = call.out(rstdOut, "rstdOut", F32);
  Dims statistics;
  const Rows rows = trailing_rows(call, from, w.shape(), statistics);
  call.shape_is(to, from.shape());
  call.shape_is(rstd, statistics);
  if (to.numel() == 0) return;
  call.workspace(packed_bytes(from) + static_cast<uint64_t>(rows.count) * 4);
  call.run([=](Launch &launch) {
    std::vector<float> values = gathered<float>(launch[from]);
    const std::vector<float> by = gathered<float>(launch[w]);
    std::vector<double> rstds;
    for (int64_t row = 0; row < rows.count; ++row) {
      float *line = values.data() + row * rows.size;
      double squares = 0;
      for (int64_t i = 0; i < rows.size; ++i) squares += static_cast<double>(line[i]) * line[i];
      rstds.push_back(1 / std::sqrt(squares / static_cast<double>(rows.size) + epsilon));
      for (int64_t i = 0; i < rows.size; ++i) {
        line[i] = static_cast<float>(line[i] * rstds.back() * by[static_cast<size_t>(i)]);
      }
    }
    scattered(launch[to], values);
    scattered(launch[rstd], rstds);
  });
}

ACLNN(RmsNormGrad,
      (const aclTensor *dy, const aclTensor *x, const aclTensor *rstd, const aclTensor *gamma,
       aclTensor *dxOut, aclTensor *dgammaOut),
      (dy, x, rstd, gamma, dxOut, dgammaOut)) {
  const Operand grad = call.in(dy, "dy", FLT3), from = call.in(x, "x", FLT3),
                r = call.in(rstd, "rstd", F32);
  const Operand w = call.in(gamma, "gamma", FLT3), to = call.out(dxOut, "dxOut", FLT3);
  const Operand of_gamma = call.out(dgammaOut, "dgammaOut", F32);
  Dims statistics;
  const Rows rows = trailing_rows(call, from, w.shape(), statistics);
  call.shape_is(grad, from.shape());
  call.shape_is(to, from.shape());
  call.shape_is(r, statistics);
  call.shape_is(of_gamma, w.shape());
  call.workspace(packed_bytes(grad) + packed_bytes(from) + static_cast<uint64_t>(rows.size) * 8);
  call.run([=](Launch &launch) {
    const std::vector<float> g = gathered<float>(launch[grad]), by = gathered<float>(launch[w]);
    std::vector<float> values = gathered<float>(launch[from]);
    const std::vector<double> rstds = gathered<double>(launch[r]);
    std::vector<double> sums(by.size(), 0.0);
    for (int64_t row = 0; row < rows.count; ++row) {
      const float *of_row = g.data() + row * rows.size;
      float *line = values.data() + row * rows.size;
      const double scale = rstds[static_cast<size_t>(row)];
      double product = 0;
      for (int64_t i = 0; i < rows.size; ++i) {
        const auto k = static_cast<size_t>(i);
        sums[k] += of_row[i] * (line[i] * scale);
        product += static_cast<double>(of_row[i]) * by[k] * line[i] * scale;
      }
      product /= static_cast<double>(rows.size);
      for (int64_t i = 0; i < rows.size; ++i) {
        const double through = static_cast<double>(of_row[i]) * by[static_cast<size_t>(i)];
        line[i] = static_cast<float>(scale * (through - line[i] * scale * product));
      }
    }
    scattered(launch[to], values);
    scattered(launch[of_gamma], sums);
  });
}
