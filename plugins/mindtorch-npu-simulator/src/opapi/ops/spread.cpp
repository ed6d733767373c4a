// Variances and standard deviations, in two passes over double precision.
#include <algorithm>
#include <cmath>

#include "../reduction.h"

using namespace sim;

namespace {

double mean_of(const double *v, size_t n) {
  double total = 0;
  for (size_t i = 0; i < n; ++i) total += v[i];
  return total / static_cast<double>(n);
}

double variance_of(const double *v, size_t n, int64_t correction) {
  const double middle = mean_of(v, n);
  double total = 0;
  for (size_t i = 0; i < n; ++i) total += (v[i] - middle) * (v[i] - middle);
  return total / static_cast<double>(std::max<int64_t>(static_cast<int64_t>(n) - correction, 0));
}

void spread(Call &call, const Operand &self, const aclIntArray *dim, int64_t correction, bool keep,
            bool root, const Operand &out) {
  const auto chosen = reduced_dims(call, self, dims_or_all(call, dim, "dim"), keep, out);
  reduce<REALS>(call, self, chosen, ACL_DOUBLE, out, [=](const double *v, size_t n) {
    const double variance = variance_of(v, n, correction);
    return root ? std::sqrt(variance) : variance;
  });
}

// Both results in one pass over the groups.
void spread_and_mean(Call &call, const Operand &self, const aclIntArray *dim, int64_t correction,
                     bool keep, bool root, const Operand &out, const Operand &mean) {
  const auto chosen = reduced_dims(call, self, dims_or_all(call, dim, "dim"), keep, out);
  call.shape_is(mean, out.shape());
  call.workspace(scratch_bytes(self));
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    const auto groups = grouped<double>(launch[self], chosen);
    std::vector<double> spreads(groups.count), means(groups.count);
    for (size_t k = 0; k < groups.count; ++k) {
      const double variance = variance_of(groups.begin(k), groups.length, correction);
      spreads[k] = root ? std::sqrt(variance) : variance;
      means[k] = mean_of(groups.begin(k), groups.length);
    }
    scattered(launch[out], spreads);
    scattered(launch[mean], means);
  });
}

}  // namespace

ACLNN(Var,
      (const aclTensor *self, const aclIntArray *dim, bool unbiased, bool keepdim, aclTensor *out),
      (self, dim, unbiased, keepdim, out)) {
  const Operand x = call.in(self, "self", FLT3);
  spread(call, x, dim, unbiased ? 1 : 0, keepdim, false, call.out(out, "out", FLT3));
}

#define SPREAD(Name, ROOT)                                                                \
  ACLNN(Name,                                                                             \
        (const aclTensor *self, const aclIntArray *dim, int64_t correction, bool keepdim, \
         aclTensor *out),                                                                 \
        (self, dim, correction, keepdim, out)) {                                          \
    const Operand x = call.in(self, "self", FLT3);                                        \
    spread(call, x, dim, correction, keepdim, ROOT, call.out(out, "out", FLT3));          \
  }
SPREAD(VarCorrection, false)
SPREAD(Std, true)

#define SPREAD_AND_MEAN(Name, first, ROOT)                                                \
  ACLNN(Name,                                                                             \
        (const aclTensor *self, const aclIntArray *dim, int64_t correction, bool keepdim, \
         aclTensor *first, aclTensor *meanOut),                                           \
        (self, dim, correction, keepdim, first, meanOut)) {                               \
    const Operand x = call.in(self, "self", FLT3), y = call.out(first, #first, FLT3);     \
    spread_and_mean(call, x, dim, correction, keepdim, ROOT, y,                           \
                    call.out(meanOut, "meanOut", FLT3));                                  \
  }
SPREAD_AND_MEAN(VarMean, varOut, false)
SPREAD_AND_MEAN(StdMeanCorrection, stdOut, true)
