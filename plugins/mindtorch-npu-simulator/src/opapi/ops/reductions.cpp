// Sums, means, products, norms, and what holds for all or any elements.
#include <cmath>
#include <limits>

#include "../reduction.h"

using namespace sim;

namespace {

const auto sum = [](const auto *v, size_t n) {
  std::decay_t<decltype(*v)> total{};
  for (size_t i = 0; i < n; ++i) total = plus(total, v[i]);
  return total;
};

const auto sum_of_numbers = [](const auto *v, size_t n) {
  std::decay_t<decltype(*v)> total{};
  for (size_t i = 0; i < n; ++i) {
    if (v[i] == v[i]) total = plus(total, v[i]);
  }
  return total;
};

const auto product = [](const auto *v, size_t n) {
  auto total = std::decay_t<decltype(*v)>(1);
  for (size_t i = 0; i < n; ++i) total = times(total, v[i]);
  return total;
};

const auto mean = [](const auto *v, size_t n) {
  using C = std::decay_t<decltype(*v)>;
  const C total = sum(v, n);
  if constexpr (std::is_integral_v<C>) return static_cast<double>(total) / static_cast<double>(n);
  else return total / C(static_cast<double>(n));
};

// log(sum(e^x)) from the greatest element, so that nothing overflows.
const auto log_sum_exp = [](const double *v, size_t n) {
  double top = -std::numeric_limits<double>::infinity(), total = 0;
  for (size_t i = 0; i < n; ++i) top = v[i] != v[i] || v[i] > top ? v[i] : top;
  if (!std::isfinite(top)) return top;
  for (size_t i = 0; i < n; ++i) total += std::exp(v[i] - top);
  return top + std::log(total);
};

// The norm of order p of numbers.
double norm(const double *v, size_t n, double p) {
  double total = p < 0 && std::isinf(p) ? p * -1 : 0;
  for (size_t i = 0; i < n; ++i) {
    const double x = std::abs(v[i]);
    if (p == 0) total += x != 0;
    else if (std::isinf(p)) total = std::isnan(x) || (p > 0 ? x > total : x < total) ? x : total;
    else if (p == 1) total += x;
    else if (p == 2) total += x * x;
    else total += std::pow(x, p);
    if (std::isnan(total)) return total;
  }
  if (p == 0 || p == 1 || std::isinf(p)) return total;
  return p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
}

aclDataType computed_in(const Call &call, aclDataType dtype, DTypes allowed) {
  call.require(has(allowed, dtype), std::string("dtype ") + name_of(dtype) + " is not supported");
  return dtype;
}

// A reduction with a dtype of its own, in which it is computed.
template <unsigned Kinds, class F>
void reduce_as(Call &call, const Operand &self, const std::vector<bool> &chosen, aclDataType as,
               const Operand &out, F f) {
  call.require(converts(self.dtype(), as) || as == ACL_BOOL,
               std::string("self of dtype ") + name_of(self.dtype()) + " cannot be summed as " +
                   name_of(as));
  call.writes(as, out);
  reduce<Kinds>(call, self, chosen, as, out, f);
}

// Which dims go where an empty list may mean that none does: the reduction of every element alone.
std::vector<bool> reduced_or_no_dims(const Call &call, const Operand &self, const Dims &dims,
                                     bool keep, bool empty_is_none, const Operand &out) {
  if (!dims.empty() || !empty_is_none) return reduced_dims(call, self, dims, keep, out);
  call.shape_is(out, self.shape());
  return std::vector<bool>(self.shape().size(), false);
}

constexpr DTypes MEANS = REAL9 | COMPLEX, NANSUMS = REAL10 & ~F64;

}  // namespace

#define REDUCTION(Name, DIMS, ALLOWED, KINDS, F)                                           \
  ACLNN(Name,                                                                              \
        (const aclTensor *self, const aclIntArray *DIMS, bool keepDims, aclDataType dtype, \
         aclTensor *out),                                                                  \
        (self, DIMS, keepDims, dtype, out)) {                                              \
    const Operand x = call.in(self, "self", ALLOWED), y = call.out(out, "out", ALLOWED);   \
    const aclDataType as = computed_in(call, dtype, ALLOWED);                              \
    const auto chosen = reduced_dims(call, x, call.ints(DIMS, #DIMS), keepDims, y);        \
    reduce_as<KINDS>(call, x, chosen, as, y, F);                                           \
  }
REDUCTION(ReduceSum, dims, NUM12, ALL_NUMBERS, sum)
REDUCTION(ReduceNansum, dim, NANSUMS, REALS | WHOLE, sum_of_numbers)
REDUCTION(Mean, dim, MEANS, ALL_NUMBERS, mean)

ACLNN(MeanV2,
      (const aclTensor *self, const aclIntArray *dim, bool keepDim, bool noopWithEmptyAxes,
       aclTensor *out),
      (self, dim, keepDim, noopWithEmptyAxes, out)) {
  const Operand x = call.in(self, "self", MEANS), y = call.out(out, "out", MEANS);
  const auto chosen =
      reduced_or_no_dims(call, x, call.ints(dim, "dim"), keepDim, noopWithEmptyAxes, y);
  reduce_as<ALL_NUMBERS>(call, x, chosen, x.dtype(), y, mean);
}

ACLNN(Prod, (const aclTensor *self, aclDataType dtype, aclTensor *out), (self, dtype, out)) {
  const Operand x = call.in(self, "self", NUM12), y = call.out(out, "out", NUM12);
  const aclDataType as = computed_in(call, dtype, NUM12);
  reduce_as<ALL_NUMBERS>(call, x, all_dims(call, x, y), as, y, product);
}

ACLNN(ProdDim,
      (const aclTensor *self, int64_t dim, bool keepDim, aclDataType dtype, aclTensor *out),
      (self, dim, keepDim, dtype, out)) {
  const Operand x = call.in(self, "self", NUM12), y = call.out(out, "out", NUM12);
  const aclDataType as = computed_in(call, dtype, NUM12);
  reduce_as<ALL_NUMBERS>(call, x, reduced_dims(call, x, {dim}, keepDim, y), as, y, product);
}

ACLNN(LogSumExp, (const aclTensor *self, const aclIntArray *dim, bool keepDim, aclTensor *out),
      (self, dim, keepDim, out)) {
  const Operand x = call.in(self, "self", REAL10 & ~F64), y = call.out(out, "out", FLT3);
  const auto chosen = reduced_dims(call, x, call.ints(dim, "dim"), keepDim, y);
  reduce<REALS>(call, x, chosen, ACL_DOUBLE, y, log_sum_exp);
}

ACLNN(ReduceLogSum,
      (const aclTensor *data, const aclIntArray *axes, bool keepDims, bool noopWithEmptyAxes,
       aclTensor *reduce),
      (data, axes, keepDims, noopWithEmptyAxes, reduce)) {
  const Operand x = call.in(data, "data", FLT3), y = call.out(reduce, "reduce", FLT3);
  const auto chosen =
      reduced_or_no_dims(call, x, call.ints(axes, "axes"), keepDims, noopWithEmptyAxes, y);
  sim::reduce<REALS>(call, x, chosen, ACL_DOUBLE, y,
                     [](const double *v, size_t n) { return std::log(sum(v, n)); });
}

ACLNN(Norm,
      (const aclTensor *self, const aclScalar *pScalar, const aclIntArray *dim, bool keepdim,
       aclTensor *out),
      (self, pScalar, dim, keepdim, out)) {
  const Operand x = call.in(self, "self", FLT3), y = call.out(out, "out", FLT3);
  const auto p = call.scalar(pScalar, "pScalar").as<double>();
  const auto chosen = reduced_dims(call, x, call.ints(dim, "dim"), keepdim, y);
  reduce<REALS>(call, x, chosen, ACL_DOUBLE, y,
                [=](const double *v, size_t n) { return norm(v, n, p); });
}

ACLNN(LinalgVectorNorm,
      (const aclTensor *self, const aclScalar *ord, const aclIntArray *dims, bool keepDims,
       aclDataType dtype, aclTensor *out),
      (self, ord, dims, keepDims, dtype, out)) {
  const Operand x = call.in(self, "self", FLT3), y = call.out(out, "out", FLT3);
  const auto p = call.scalar(ord, "ord").as<double>();
  call.dtype_is(y, computed_in(call, dtype, FLT3));
  const auto chosen = reduced_dims(call, x, dims_or_all(call, dims, "dims"), keepDims, y);
  reduce<REALS>(call, x, chosen, ACL_DOUBLE, y,
                [=](const double *v, size_t n) { return norm(v, n, p); });
}

// ---- truth --------------------------------------------------------------------------------------

#define TRUTH(Name, OUTPUT, START, UPDATE)                                                   \
  ACLNN(Name, (const aclTensor *self, const aclIntArray *dim, bool keepdim, aclTensor *out), \
        (self, dim, keepdim, out)) {                                                         \
    const Operand x = call.in(self, "self", REAL10), y = call.out(out, "out", OUTPUT);       \
    const auto chosen = reduced_dims(call, x, call.ints(dim, "dim"), keepdim, y);            \
    reduce<REALS | WHOLE>(call, x, chosen, x.dtype(), y, [](const auto *v, size_t n) {       \
      int64_t result = START;                                                                \
      for (size_t i = 0; i < n; ++i) result UPDATE(v[i] != 0);                               \
      return result;                                                                         \
    });                                                                                      \
  }
TRUTH(All, U8 | BOOL, 1, &=)
TRUTH(Any, BOOL, 0, |=)

ACLNN(Trace, (const aclTensor *self, aclTensor *out), (self, out)) {
  const Operand x = call.in(self, "self", NUM12), y = call.out(out, "out", FLT4 | I64 | COMPLEX);
  call.require(x.dim() == 2, "self must be a matrix");
  call.require(y.numel() == 1 && y.dim() <= 1, "out must have the shape [] or [1]");
  const aclDataType as = has(INTEGRAL | BOOL, x.dtype()) ? ACL_INT64 : x.dtype();
  call.writes(as, y);
  call.run([=](Launch &launch) {
    const View &whole = launch[x];
    const int64_t length = std::min(whole.shape[0], whole.shape[1]);
    const View diagonal{whole.dtype, {length}, {whole.strides[0] + whole.strides[1]}, whole.data};
    with_number<ALL_NUMBERS>(as, [&](auto zero) {
      const auto values = gathered<wide<decltype(zero)>>(diagonal);
      scattered(launch[y], std::vector<wide<decltype(zero)>>{sum(values.data(), values.size())});
    });
  });
}
