// Statistics of rows, and the gradient through a normalisation, shared by the norms.
#pragma once

#include <cmath>

#include "moving.h"

namespace sim {

struct Moments {
  double mean, rstd;
};

// Mean and 1 / sqrt(variance + eps) of a row.
inline Moments moments_of(const float *row, int64_t n, double eps) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) sum += row[i];
  const double mean = sum / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) squares += (row[i] - mean) * (row[i] - mean);
  return {mean, 1 / std::sqrt(squares / static_cast<double>(n) + eps)};
}

// The gradient of (x - mean) * rstd for a row, given that of the result and the result itself.
inline void normalized_gradient(const double *grad, const double *normalized, int64_t n,
                                double rstd, float *to) {
  double sum = 0, product = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += grad[i];
    product += grad[i] * normalized[i];
  }
  sum /= static_cast<double>(n);
  product /= static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i)
    to[i] = static_cast<float>(rstd * (grad[i] - sum - normalized[i] * product));
}

// Ones, or zeros, for a tensor that was left out.
inline std::vector<float> values_or(const Launch &launch, const Operand &operand, int64_t n,
                                    float otherwise) {
  return operand ? gathered<float>(launch[operand])
                 : std::vector<float>(static_cast<size_t>(n), otherwise);
}

template <class C>
void store_if_given(const Launch &launch, const Operand &out, const std::vector<C> &values) {
  if (out) scattered(launch[out], values);
}

// The three gradients of a norm; those that the mask leaves out may be null.
struct Gradients {
  Operand input, weight, bias;
};

inline Gradients gradients_of(Call &call, const aclBoolArray *mask, aclTensor *input,
                              aclTensor *weight, aclTensor *bias,
                              const std::array<const char *, 3> &names) {
  const std::vector<bool> wanted = call.bools(mask, "outputMask");
  call.require(wanted.size() == 3, "outputMask must have 3 elements");
  Gradients g;
  if (wanted[0]) g.input = call.out(input, names[0], FLT3);
  if (wanted[1]) g.weight = call.out(weight, names[1], FLT3);
  if (wanted[2]) g.bias = call.out(bias, names[2], FLT3);
  return g;
}

}  // namespace sim
