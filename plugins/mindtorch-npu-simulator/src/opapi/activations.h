// The functions that activations and their gradients share.
#pragma once

#include <cmath>

#include "elementwise.h"

namespace sim {

template <class C>
C sigmoid(C x) {
  return C(1) / (C(1) + std::exp(-x));
}

// log(1 + e^x) without overflow.
template <class C>
C softplus(C x) {
  return std::fmax(x, C{0}) + std::log1p(std::exp(-std::abs(x)));
}

// The distribution function and the density of the normal distribution.
template <class C>
C normal_cdf(C x) {
  return C{0.5} * std::erfc(-x * C(M_SQRT1_2));
}
template <class C>
C normal_density(C x) {
  return std::exp(-x * x / 2) * C(M_2_SQRTPI * M_SQRT1_2 / 2);
}

// The approximation by tanh: the argument of tanh, and its derivative.
template <class C>
C gelu_inner(C x) {
  return C(M_SQRT2 * M_2_SQRTPI * 0.5) * (x + C(0.044715) * x * x * x);
}
template <class C>
C gelu_inner_slope(C x) {
  return C(M_SQRT2 * M_2_SQRTPI * 0.5) * (C{1} + C(3 * 0.044715) * x * x);
}

inline constexpr double SELU_ALPHA = 1.6732632423543772848170429916717;
inline constexpr double SELU_SCALE = 1.0507009873554804934193349852946;

}  // namespace sim
