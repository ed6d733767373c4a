// Trigonometric and hyperbolic functions, element by element.
#include <cmath>

#include "../unary.h"

using namespace sim;

namespace {

constexpr DTypes SINGLE = F32 | F16 | F64;  // the floating types of operators without bfloat16

const auto sine = [](auto x) { return std::sin(x); };
const auto cosine = [](auto x) { return std::cos(x); };
const auto tangent = [](auto x) { return std::tan(x); };
const auto sinh_of = [](auto x) { return std::sinh(x); };
const auto cosh_of = [](auto x) { return std::cosh(x); };
const auto tanh_of = [](auto x) { return std::tanh(x); };
const auto asin_of = [](auto x) { return std::asin(x); };
const auto acos_of = [](auto x) { return std::acos(x); };
const auto atan_of = [](auto x) { return std::atan(x); };
const auto asinh_of = [](auto x) { return std::asinh(x); };
const auto acosh_of = [](auto x) { return std::acosh(x); };
const auto atanh_of = [](auto x) { return std::atanh(x); };
const auto sinc_of = [](auto x) {
  if (x == 0) return decltype(x)(1);
  const auto angle = decltype(x)(M_PI) * x;
  return static_cast<decltype(x)>(std::sin(angle) / angle);
};

}  // namespace

UNARY(Sin, self, NUM12, FLTC6, REALS | COMPLEXES, sine)
INPLACE_UNARY(InplaceSin, selfRef, FLT3, REALS, sine)
UNARY(Cos, input, NUM12, FLTC6, REALS | COMPLEXES, cosine)
INPLACE_UNARY(InplaceCos, inputRef, FLTC6, REALS | COMPLEXES, cosine)
UNARY(Tan, self, NUM12, FLTC6, REALS | COMPLEXES, tangent)
INPLACE_UNARY(InplaceTan, selfRef, FLTC6, REALS | COMPLEXES, tangent)
UNARY(Asin, self, REAL10 & ~BF16, SINGLE, REALS, asin_of)
INPLACE_UNARY(InplaceAsin, selfRef, SINGLE, REALS, asin_of)
UNARY(Acos, input, REAL10 & ~BF16, SINGLE, REALS, acos_of)
INPLACE_UNARY(InplaceAcos, inputRef, SINGLE, REALS, acos_of)
UNARY(Atan, input, REAL10, FLT4, REALS, atan_of)
INPLACE_UNARY(InplaceAtan, inputRef, FLT4, REALS, atan_of)
UNARY(Sinh, self, NUM12, FLTC6, REALS | COMPLEXES, sinh_of)
INPLACE_UNARY(InplaceSinh, selfRef, FLTC6, REALS | COMPLEXES, sinh_of)
UNARY(Cosh, self, SINGLE, SINGLE, REALS, cosh_of)
INPLACE_UNARY(InplaceCosh, selfRef, SINGLE, REALS, cosh_of)
UNARY(Tanh, self, REAL10 & ~F64, FLT3, REALS, tanh_of)
INPLACE_UNARY(InplaceTanh, selfRef, FLT3, REALS, tanh_of)
UNARY(Asinh, input, REAL10 & ~BF16, SINGLE, REALS, asinh_of)
INPLACE_UNARY(InplaceAsinh, inputRef, SINGLE, REALS, asinh_of)
UNARY(Acosh, self, SINGLE, SINGLE, REALS, acosh_of)
INPLACE_UNARY(InplaceAcosh, selfRef, SINGLE, REALS, acosh_of)
UNARY(Atanh, input, REAL10 & ~BF16, SINGLE, REALS, atanh_of)
INPLACE_UNARY(InplaceAtanh, inputRef, SINGLE, REALS, atanh_of)
UNARY(Sinc, self, REAL10 & ~BF16, SINGLE, REALS, sinc_of)
INPLACE_UNARY(InplaceSinc, selfRef, SINGLE, REALS, sinc_of)
