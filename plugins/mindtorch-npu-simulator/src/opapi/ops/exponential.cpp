// Exponentials, logarithms, roots and reciprocals, element by element.
#include <cmath>

#include "../unary.h"

using namespace sim;

namespace {

const auto exp2_of = [](auto x) { return std::exp2(x); };
const auto log2_of = [](auto x) {
  using C = decltype(x);
  if constexpr (std::is_floating_point_v<C>) return std::log2(x);
  else return std::log(x) / std::log(typename C::value_type{2});
};
const auto root = [](auto x) { return std::sqrt(x); };
const auto one_over_root = [](auto x) { return decltype(x)(1) / std::sqrt(x); };
const auto one_over = [](auto x) { return decltype(x)(1) / x; };

}  // namespace

UNARY(Exp, self, FLT4 | I64 | BOOL | C64 | C128, FLTC6, REALS | COMPLEXES,
      [](auto x) { return std::exp(x); })
INPLACE_UNARY(InplaceExp, selfRef, FLTC6, REALS | COMPLEXES, [](auto x) { return std::exp(x); })
UNARY(Exp2, self, REAL10, FLT4, REALS, exp2_of)
INPLACE_UNARY(InplaceExp2, selfRef, FLT4, REALS, exp2_of)
UNARY(Expm1, self, FLT3 | I64 | BOOL, FLT4, REALS, [](auto x) { return std::expm1(x); })
INPLACE_UNARY(InplaceExpm1, selfRef, FLT3, REALS, [](auto x) { return std::expm1(x); })

UNARY(Log, self, NUM12, FLTC6, REALS | COMPLEXES, [](auto x) { return std::log(x); })
INPLACE_UNARY(InplaceLog, selfRef, FLTC6, REALS | COMPLEXES, [](auto x) { return std::log(x); })
UNARY(Log1p, self, REAL10, FLT4, REALS, [](auto x) { return std::log1p(x); })
INPLACE_UNARY(InplaceLog1p, selfRef, FLT4, REALS, [](auto x) { return std::log1p(x); })
UNARY(Log2, self, NUM12, FLTC6, REALS | COMPLEXES, log2_of)
INPLACE_UNARY(InplaceLog2, selfRef, FLTC6, REALS | COMPLEXES, log2_of)
UNARY(Log10, self, NUM12, FLT3 | COMPLEX, REALS | COMPLEXES, [](auto x) { return std::log10(x); })
INPLACE_UNARY(InplaceLog10, selfRef, FLTC6, REALS | COMPLEXES, [](auto x) { return std::log10(x); })

UNARY(Sqrt, self, NUM12, FLTC6, REALS | COMPLEXES, root)
INPLACE_UNARY(InplaceSqrt, self, FLTC6, REALS | COMPLEXES, root)
UNARY(Rsqrt, self, NUM12, FLTC6, REALS | COMPLEXES, one_over_root)
INPLACE_UNARY(InplaceRsqrt, selfRef, FLTC6, REALS | COMPLEXES, one_over_root)
UNARY(Reciprocal, self, NUM12, FLTC6, REALS | COMPLEXES, one_over)
INPLACE_UNARY(InplaceReciprocal, selfRef, FLTC6, REALS | COMPLEXES, one_over)
