// Questions about single elements, closeness, and membership.
#include <algorithm>
#include <cmath>

#include "../elementwise.h"

using namespace sim;

namespace {

const auto finite_one = [](auto x) { return std::isfinite(x); };
const auto infinite = [](auto x) {
  if constexpr (std::is_integral_v<decltype(x)>) return false;
  else return std::isinf(x);
};
const auto infinite_above = [](auto x) { return std::isinf(x) && x > 0; };
const auto infinite_below = [](auto x) { return std::isinf(x) && x < 0; };

// Whether |a - b| <= atol + rtol * |b|, in double precision, of which float32 is a part.
template <class C>
bool close(C a, C b, double rtol, double atol, bool equal_nan) {
  if (a == b) return true;
  if constexpr (std::is_floating_point_v<C>) {
    if (std::isnan(a) || std::isnan(b)) return equal_nan && std::isnan(a) && std::isnan(b);
    if (std::isinf(a) || std::isinf(b)) return false;
  }
  const auto x = static_cast<double>(a), y = static_cast<double>(b);
  return std::abs(x - y) <= atol + std::abs(rtol * y);
}

}  // namespace

#define PREDICATE(Name, KINDS, F)                                     \
  ACLNN(Name, (const aclTensor *self, aclTensor *out), (self, out)) { \
    const Operand x = call.in(self, "self", FLT4);                    \
    predicate<KINDS>(call, x, call.out(out, "out", BOOL), F);         \
  }
PREDICATE(IsFinite, REALS, finite_one)
PREDICATE(IsPosInf, REALS, infinite_above)
PREDICATE(IsNegInf, REALS, infinite_below)

ACLNN(IsInf, (const aclTensor *x, aclTensor *out), (x, out)) {
  const Operand input = call.in(x, "x", REAL10), result = call.out(out, "out", BOOL);
  call.contiguous(result);
  predicate<REALS | WHOLE>(call, input, result, infinite);
}

ACLNN(IsClose,
      (const aclTensor *self, const aclTensor *other, double rtol, double atol, bool equal_nan,
       aclTensor *out),
      (self, other, rtol, atol, equal_nan, out)) {
  const Operand a = call.in(self, "self", REAL10), b = call.in(other, "other", REAL10);
  call.require(rtol >= 0 && atol >= 0, "rtol and atol must not be negative");
  comparison<REALS | WHOLE>(call, a, b, call.out(out, "out", BOOL),
                            [=](auto x, auto y) { return close(x, y, rtol, atol, equal_nan); });
}

// Whether two tensors have the same shape and elements: one element of bool.
ACLNN(Equal, (const aclTensor *self, const aclTensor *other, aclTensor *out), (self, other, out)) {
  const Operand a = call.in(self, "self", REAL10 | WIDE_UNSIGNED);
  const Operand b = call.in(other, "other", REAL10 | WIDE_UNSIGNED);
  const Operand result = call.out(out, "out", REAL10 | WIDE_UNSIGNED);
  call.dtype_is(result, ACL_BOOL);
  call.require(result.numel() == 1, "out must have one element");
  const aclDataType as = call.common(a, b);
  call.run([=](Launch &launch) {
    const View &x = launch[a], &y = launch[b];
    truth same{1};
    with_number<REALS | WHOLE>(as, [&](auto zero) {
      using C = decltype(zero);
      same.byte = x.shape == y.shape && gathered<C>(x) == gathered<C>(y) ? 1 : 0;
    });
    *launch[result].at<truth>(0) = same;
  });
}

namespace {

constexpr DTypes SOUGHT = NUM12 | U16;

// Compared in the type that both combine to.
template <class C>
bool found(const std::vector<C> &sorted_or_not, C wanted) {
  return std::find(sorted_or_not.begin(), sorted_or_not.end(), wanted) != sorted_or_not.end();
}

aclDataType combined(const Call &call, const Operand &tensor, const Number &number) {
  const aclDataType as = promote_scalar(tensor.dtype(), number.dtype);
  call.require(as != ACL_DT_UNDEFINED, tensor.name() + " and the scalar do not combine");
  return as;
}

}  // namespace

ACLNN(IsInScalarTensor,
      (const aclScalar *element, const aclTensor *testElements, bool assumeUnique, bool invert,
       aclTensor *out),
      (element, testElements, assumeUnique, invert, out)) {
  static_cast<void>(assumeUnique);  // a hint for faster ways
  const Number wanted = call.scalar(element, "element");
  const Operand among = call.in(testElements, "testElements", SOUGHT),
                result = call.out(out, "out", BOOL);
  call.require(result.numel() == 1, "out must have one element");
  const aclDataType as = combined(call, among, wanted);
  call.run([=](Launch &launch) {
    with_number<ALL_NUMBERS>(as, [&](auto zero) {
      using C = decltype(zero);
      const bool is = found(gathered<C>(launch[among]), rounded<C>(wanted, as));
      launch[result].at<truth>(0)->byte = is != invert ? 1 : 0;
    });
  });
}

ACLNN(IsInTensorScalar,
      (const aclTensor *element, const aclScalar *testElement, bool assumeUnique, bool invert,
       aclTensor *out),
      (element, testElement, assumeUnique, invert, out)) {
  static_cast<void>(assumeUnique);  // a hint for faster ways
  const Operand wanted = call.in(element, "element", SOUGHT);
  const Number among = call.scalar(testElement, "testElement");
  compared_with_scalar<ALL_NUMBERS>(call, wanted, among, call.out(out, "out", BOOL),
                                    [=](auto a, auto b) { return (a == b) != invert; });
}
