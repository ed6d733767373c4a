// Counts of equal numbers and of numbers in intervals.
#include <algorithm>
#include <cmath>

#include "../gathering.h"

using namespace sim;

namespace {

constexpr DTypes COUNTED = F32 | F16 | INT5;

// The interval [low, high] cut into `bins` equal parts; a number at a border belongs to the upper
// part.
struct Histogram {
  int64_t bins;
  double low, high;

  std::vector<int64_t> count(const std::vector<double> &values) const {
    std::vector<int64_t> counts(static_cast<size_t>(bins), 0);
    const double scale = static_cast<double>(bins) / (high - low);
    for (const double v : values) {
      if (!(v >= low && v <= high)) continue;  // NaN too
      const auto part = static_cast<int64_t>((v - low) * scale);
      ++counts[static_cast<size_t>(std::min(part, bins - 1))];
    }
    return counts;
  }
};

// Without an interval the numbers give it; one without a length is widened.
Histogram histogram(const Launch &launch, int64_t bins, double low, double high,
                    const std::vector<double> &values) {
  if (low == high && !values.empty()) {
    low = *std::min_element(values.begin(), values.end());
    high = *std::max_element(values.begin(), values.end());
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  if (!std::isfinite(low) || !std::isfinite(high)) launch.fault("the interval is not finite");
  return {bins, low, high};
}

}  // namespace

ACLNN(Histc,
      (const aclTensor *self, int64_t bins, const aclScalar *min, const aclScalar *max,
       aclTensor *out),
      (self, bins, min, max, out)) {
  const Operand x = call.in(self, "self", COUNTED), counts = call.out(out, "out", COUNTED);
  const auto low = call.scalar(min, "min").as<double>(),
             high = call.scalar(max, "max").as<double>();
  call.require(bins > 0, "bins must be positive");
  call.require(low <= high, "min must not be greater than max");
  call.shape_is(counts, {bins});
  call.workspace(scratch_bytes(x));
  call.run([=](Launch &launch) {
    const auto values = gathered<double>(launch[x]);
    scattered(launch[counts], histogram(launch, bins, low, high, values).count(values));
  });
}

ACLNN(Bincount,
      (const aclTensor *self, const aclTensor *weights, int64_t minlength, aclTensor *out),
      (self, weights, minlength, out)) {
  const Operand x = call.in(self, "self", INT5), counts = call.out(out, "out", F32 | F64 | IDX);
  const Operand by = call.optional(weights, "weights", REAL10 & ~BF16);
  call.require(x.dim() == 1 && counts.dim() == 1, "self and out must have one dim");
  call.require(minlength >= 0, "minlength must not be negative");
  call.require(counts.shape()[0] >= minlength, "out is shorter than minlength");
  if (by) call.shape_is(by, x.shape());
  call.workspace(scratch_bytes(x));
  call.run([=](Launch &launch) {
    const auto values = gathered<int64_t>(launch[x]);
    const auto shares = by ? gathered<double>(launch[by]) : std::vector<double>(values.size(), 1);
    std::vector<double> sums(static_cast<size_t>(launch[counts].numel()), 0);
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] < 0 || values[i] >= static_cast<int64_t>(sums.size())) {
        launch.fault("self holds " + std::to_string(values[i]) + ", for which out has no place");
      }
      sums[static_cast<size_t>(values[i])] += shares[i];
    }
    scattered(launch[counts], sums);
  });
}
