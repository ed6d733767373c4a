// Random numbers: distributions, permutations and samples.
#include <numeric>

#include "../moving.h"
#include "../philox.h"

using namespace sim;

namespace {

Philox numbers(int64_t seed, int64_t offset) {
  return {static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)};
}

// The bits of a number of [0, 1) that a dtype holds exactly.
int bits_of(aclDataType d) {
  switch (d) {
    case ACL_DOUBLE: return 53;
    case ACL_FLOAT16: return 11;
    case ACL_BF16: return 8;
    default: return 24;
  }
}

// out = f(random numbers), element by element in row-major order.
template <class C, class F>
void drawn(Call &call, const Operand &out, int64_t seed, int64_t offset, F f) {
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    Philox source = numbers(seed, offset);
    elementwise<C>(launch[out], [&] { return f(source); });
  });
}

bool is_probability(double p) { return 0 <= p && p <= 1; }

void bernoulli(Call &call, const Operand &out, const Number &prob, int64_t seed, int64_t offset) {
  const auto p = prob.as<double>();
  call.require(is_probability(p), "prob is not between 0 and 1");
  drawn<int64_t>(call, out, seed, offset,
                 [=](Philox &source) { return source.uniform(53) < p ? 1 : 0; });
}

void bernoulli(Call &call, const Operand &out, const Operand &prob, int64_t seed, int64_t offset) {
  Dims wide;
  call.require(broadcast(prob.shape(), out.shape(), wide) && wide == out.shape(),
               "prob does not broadcast");
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    Philox source = numbers(seed, offset);
    elementwise<double>(
        launch[out], [&](double p) { return source.uniform(53) < p ? 1.0 : 0.0; }, launch[prob]);
  });
}

constexpr DTypes PROBABILITY = F32 | F16 | F64;

// Samples from one row of weights, as indices.
class Sampler {
 public:
  explicit Sampler(std::vector<double> weights) : weights_(std::move(weights)) {}

  bool valid() const {
    const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
    return std::isfinite(sum) && sum > 0 &&
           *std::min_element(weights_.begin(), weights_.end()) >= 0;
  }

  void with_replacement(Philox &source, std::vector<int64_t> &to, int64_t count) const {
    std::vector<double> sums(weights_.size());
    std::partial_sum(weights_.begin(), weights_.end(), sums.begin());
    for (int64_t i = 0; i < count; ++i) {
      const auto at = std::upper_bound(sums.begin(), sums.end(), source.uniform(53) * sums.back());
      to.push_back(std::min<int64_t>(at - sums.begin(), static_cast<int64_t>(sums.size()) - 1));
    }
  }

  // The first `count` to arrive, where each index arrives after an exponential time of its rate.
  void without_replacement(Philox &source, std::vector<int64_t> &to, int64_t count) const {
    std::vector<double> arrival;
    for (const double weight : weights_)
      arrival.push_back(-std::log(1 - source.uniform(53)) / weight);
    std::vector<int64_t> order(weights_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto earlier = [&](int64_t a, int64_t b) {
      return arrival[static_cast<size_t>(a)] < arrival[static_cast<size_t>(b)];
    };
    std::stable_sort(order.begin(), order.end(), earlier);
    to.insert(to.end(), order.begin(), order.begin() + count);
  }

 private:
  std::vector<double> weights_;
};

}  // namespace

ACLNN(InplaceUniform, (aclTensor * selfRef, double from, double to, uint64_t seed, uint64_t offset),
      (selfRef, from, to, seed, offset)) {
  const Operand target = call.inout(selfRef, "selfRef", REAL9);
  call.require(from <= to, "from is greater than to");
  const int bits = bits_of(target.dtype());
  drawn<double>(call, target, static_cast<int64_t>(seed), static_cast<int64_t>(offset),
                [=](Philox &source) { return from + source.uniform(bits) * (to - from); });
}

ACLNN(InplaceNormal, (aclTensor * selfRef, float mean, float std, int64_t seed, int64_t offset),
      (selfRef, mean, std, seed, offset)) {
  const Operand target = call.inout(selfRef, "selfRef", REAL10);
  call.require(std >= 0, "std is negative");
  if (target.numel() == 0) return;
  call.run([=](Launch &launch) {
    Philox source = numbers(seed, offset);
    std::array<double, 2> pair{};
    bool second = false;
    elementwise<double>(launch[target], [&] {
      if (!second) pair = source.normals();
      second = !second;
      return mean + std * pair[second ? 0 : 1];
    });
  });
}

ACLNN(InplaceRandom, (aclTensor * selfRef, int64_t from, int64_t to, int64_t seed, int64_t offset),
      (selfRef, from, to, seed, offset)) {
  const Operand target = call.inout(selfRef, "selfRef", NUM12);
  call.require(from < to, "from is not less than to");
  const uint64_t range = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  drawn<int64_t>(call, target, seed, offset, [=](Philox &source) {
    return static_cast<int64_t>(static_cast<uint64_t>(from) + source.next64() % range);
  });
}

ACLNN(Bernoulli,
      (const aclTensor *self, const aclScalar *prob, int64_t seed, int64_t offset, aclTensor *out),
      (self, prob, seed, offset, out)) {
  const Operand like = call.in(self, "self", REAL10), to = call.out(out, "out", REAL10);
  call.shape_is(to, like.shape());
  bernoulli(call, to, call.scalar(prob, "prob"), seed, offset);
}

ACLNN(InplaceBernoulli, (aclTensor * selfRef, const aclScalar *prob, int64_t seed, int64_t offset),
      (selfRef, prob, seed, offset)) {
  const Operand target = call.inout(selfRef, "selfRef", REAL10);
  bernoulli(call, target, call.scalar(prob, "prob"), seed, offset);
}

ACLNN(BernoulliTensor,
      (const aclTensor *self, const aclTensor *prob, int64_t seed, int64_t offset, aclTensor *out),
      (self, prob, seed, offset, out)) {
  const Operand like = call.in(self, "self", REAL10), p = call.in(prob, "prob", PROBABILITY);
  const Operand to = call.out(out, "out", REAL10);
  call.shape_is(to, like.shape());
  bernoulli(call, to, p, seed, offset);
}

ACLNN(InplaceBernoulliTensor,
      (aclTensor * selfRef, const aclTensor *prob, int64_t seed, int64_t offset),
      (selfRef, prob, seed, offset)) {
  const Operand target = call.inout(selfRef, "selfRef", REAL10 & ~BF16);
  bernoulli(call, target, call.in(prob, "prob", PROBABILITY), seed, offset);
}

ACLNN(Randperm, (int64_t n, int64_t seed, int64_t offset, aclTensor *out), (n, seed, offset, out)) {
  const Operand to = call.out(out, "out", REAL9);
  call.require(n >= 0, "n is negative");
  call.shape_is(to, {n});
  if (n == 0) return;
  call.run([=](Launch &launch) {
    Philox source = numbers(seed, offset);
    std::vector<uint64_t> keys(static_cast<size_t>(n));
    for (uint64_t &key : keys) key = source.next64();
    std::vector<int64_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)];
    });
    scattered(launch[to], order);
  });
}

ACLNN(Multinomial,
      (const aclTensor *self, int64_t numsamples, bool replacement, int64_t seed, int64_t offset,
       aclTensor *out),
      (self, numsamples, replacement, seed, offset, out)) {
  const Operand weights = call.in(self, "self", FLT4), to = call.out(out, "out", I64);
  call.require(weights.dim() == 1 || weights.dim() == 2, "self must have 1 or 2 dimensions");
  const int64_t categories = weights.shape().back();
  call.require(numsamples > 0 && categories > 0,
               "numsamples or the number of categories is not positive");
  call.require(replacement || numsamples <= categories,
               "more samples than categories, without replacement");
  Dims shape = weights.shape();
  shape.back() = numsamples;
  call.shape_is(to, shape);
  if (to.numel() == 0) return;
  call.run([=](Launch &launch) {
    const std::vector<double> all = gathered<double>(launch[weights]);
    Philox source = numbers(seed, offset);
    std::vector<int64_t> samples;
    for (auto row = all.begin(); row != all.end(); row += categories) {
      const Sampler sampler({row, row + categories});
      if (!sampler.valid())
        launch.fault("weights are negative, not finite, or all 0", code::RT_AICPU_EXCEPTION);
      if (replacement) sampler.with_replacement(source, samples, numsamples);
      else sampler.without_replacement(source, samples, numsamples);
    }
    scattered(launch[to], samples);
  });
}
