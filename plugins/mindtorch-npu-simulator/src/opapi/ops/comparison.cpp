// Comparisons of a tensor with a tensor or a scalar. Results are 0 or 1 of any dtype.
#include <functional>

#include "../elementwise.h"

using namespace sim;

// The four forms of a comparison: FIRST are the dtypes of operands, INPLACE those of the in-place
// form.
#define COMPARISON(Name, KINDS, FIRST, INPLACE, INPLACE_SCALAR, F)                                \
  ACLNN(Name##Tensor, (const aclTensor *self, const aclTensor *other, aclTensor *out),            \
        (self, other, out)) {                                                                     \
    const Operand a = call.in(self, "self", FIRST), b = call.in(other, "other", FIRST);           \
    comparison<KINDS>(call, a, b, call.out(out, "out", ANY), F);                                  \
  }                                                                                               \
  ACLNN(Inplace##Name##Tensor, (aclTensor *selfRef, const aclTensor *other), (selfRef, other)) {  \
    const Operand a = call.inout(selfRef, "selfRef", INPLACE);                                    \
    comparison<KINDS>(call, a, call.in(other, "other", INPLACE), a, F);                           \
  }                                                                                               \
  ACLNN(Name##Scalar, (const aclTensor *self, const aclScalar *other, aclTensor *out),            \
        (self, other, out)) {                                                                     \
    const Operand a = call.in(self, "self", FIRST);                                               \
    const Number b = call.scalar(other, "other");                                                 \
    compared_with_scalar<KINDS>(call, a, b, call.out(out, "out", ANY), F);                        \
  }                                                                                               \
  ACLNN(Inplace##Name##Scalar, (aclTensor *selfRef, const aclScalar *other), (selfRef, other)) {  \
    const Operand a = call.inout(selfRef, "selfRef", INPLACE_SCALAR);                             \
    compared_with_scalar<KINDS>(call, a, call.scalar(other, "other"), a, F);                      \
  }

namespace {

constexpr DTypes EQUALS = NUM12 | U32 | U64, DIFFERS = NUM12 | U64;
constexpr DTypes DIFFERS_INPLACE = (REAL10 & ~F64) | U32 | U64;
constexpr DTypes ORDERED = REAL10 | WIDE_UNSIGNED, AT_MOST = REAL10 | U16 | U64;

}  // namespace

COMPARISON(Eq, ALL_NUMBERS, EQUALS, EQUALS, EQUALS, std::equal_to<>{})
COMPARISON(Ne, ALL_NUMBERS, DIFFERS, DIFFERS_INPLACE, DIFFERS, std::not_equal_to<>{})
COMPARISON(Lt, REALS | WHOLE, ORDERED, ORDERED, ORDERED, std::less<>{})
COMPARISON(Le, REALS | WHOLE, AT_MOST, AT_MOST, AT_MOST, std::less_equal<>{})
COMPARISON(Gt, REALS | WHOLE, ORDERED, ORDERED, ORDERED, std::greater<>{})
COMPARISON(Ge, REALS | WHOLE, ORDERED, ORDERED, ORDERED, std::greater_equal<>{})
