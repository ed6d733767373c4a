// The error function and the gamma function with their relatives, element by element.
#include <cmath>
#include <limits>

#include "../unary.h"

using namespace sim;

namespace {

constexpr DTypes SINGLE = F32 | F16 | F64;

const auto erf_of = [](auto x) { return std::erf(x); };
const auto erfc_of = [](auto x) { return std::erfc(x); };

// Winitzki's approximation, made exact by Halley's iteration.
double inverse_erf(double x) {
  if (!(std::abs(x) <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (std::abs(x) == 1) return std::copysign(std::numeric_limits<double>::infinity(), x);
  const double a = 0.147, tail = std::log1p(-x * x), middle = 2 / (M_PI * a) + tail / 2;
  double y = std::copysign(std::sqrt(std::sqrt(middle * middle - tail / a) - middle), x);
  for (int i = 0; i < 3; ++i) {
    const double u = (std::erf(y) - x) / (2 / std::sqrt(M_PI) * std::exp(-y * y));
    y -= u / (1 + y * u);
  }
  return y;
}

// Reflected to positive numbers, raised above 10 by the recurrence, then the asymptotic series.
double digamma(double x) {
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  if (x < 0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
    double whole;
    return digamma(1 - x) - M_PI / std::tan(M_PI * std::modf(x, &whole));
  }
  double sum = 0;
  for (; x < 10; x += 1) sum -= 1 / x;
  if (std::isinf(x)) return x;
  const double z = 1 / (x * x);
  const double series =
      z * (1.0 / 12 -
           z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * 691 / 32760)))));
  return sum + std::log(x) - 0.5 / x - series;
}

// std::lgamma writes a global variable: streams are threads.
const auto lgamma_of = [](auto x) {
  int sign;
  return static_cast<decltype(x)>(::lgamma_r(static_cast<double>(x), &sign));
};
const auto inverse_erf_of = [](auto x) {
  return static_cast<decltype(x)>(inverse_erf(static_cast<double>(x)));
};
const auto digamma_of = [](auto x) {
  return static_cast<decltype(x)>(digamma(static_cast<double>(x)));
};

}  // namespace

UNARY(Erf, self, SINGLE | I64 | BOOL, SINGLE, REALS, erf_of)
INPLACE_UNARY(InplaceErf, selfRef, SINGLE, REALS, erf_of)
UNARY(Erfc, self, SINGLE | I64 | BOOL, SINGLE, REALS, erfc_of)
INPLACE_UNARY(InplaceErfc, selfRef, SINGLE, REALS, erfc_of)
UNARY(Erfinv, self, REAL10 & ~F64, FLT3, REALS, inverse_erf_of)
INPLACE_UNARY(InplaceErfinv, selfRef, FLT3, REALS, inverse_erf_of)
UNARY(Lgamma, self, SINGLE, SINGLE, REALS, lgamma_of)
UNARY(Digamma, self, SINGLE, SINGLE, REALS, digamma_of)
