// Softmax and log_softmax along one dim, and their gradients.
#include <cmath>
#include <limits>

#include "../moving.h"

using namespace sim;

namespace {

// result = f(inputs) for every line along a dim, in floating numbers.
template <size_t N, class F>
void by_lines(Call &call, const std::array<Operand, N> &inputs, int64_t dim, const Operand &out,
              F f) {
  const auto along = static_cast<size_t>(call.axis(dim, inputs[0]));
  aclDataType as = inputs[0].dtype();
  uint64_t scratch = 0;
  for (const Operand &input : inputs) {
    call.shape_is(input, out.shape());
    as = promote(as, input.dtype());
    scratch += packed_bytes(input);
  }
  call.writes(as, out);
  if (out.numel() == 0) return;
  call.workspace(scratch);
  call.run([=](Launch &launch) {
    std::array<View, N + 1> views;
    std::array<const View *, N + 1> addresses;
    for (size_t k = 0; k <= N; ++k) {
      views[k] = with_a_dim(launch[k < N ? inputs[k] : out]);
      addresses[k] = &views[k];
    }
    with_number<REALS>(as, [&](auto zero) {
      using C = decltype(zero);
      const int64_t n = views[N].shape[along];
      std::array<std::vector<C>, N + 1> lines;
      for (auto &line : lines) line.resize(static_cast<size_t>(n));
      for_lines(addresses, along, [&](const auto &starts) {
        for (size_t k = 0; k < N; ++k)
          load<C>(views[k].dtype, starts[k], views[k].strides[along], n, lines[k].data());
        f(lines);
        store<C>(views[N].dtype, starts[N], views[N].strides[along], n, lines[N].data());
      });
    });
  });
}

// The largest element, and the sum of exp(element - largest) in double.
template <class C>
std::pair<C, double> largest_and_sum(const std::vector<C> &line) {
  C largest = -std::numeric_limits<C>::infinity();
  for (const C x : line) largest = x > largest || std::isnan(x) ? x : largest;
  double sum = 0;
  for (const C x : line) sum += static_cast<double>(std::exp(x - largest));
  return {largest, sum};
}

template <class F>
void gradient_by_lines(Call &call, const aclTensor *gradOutput, const aclTensor *output,
                       int64_t dim, aclTensor *out, F f) {
  const Operand grad = call.in(gradOutput, "gradOutput", FLT3);
  const Operand result = call.in(output, "output", FLT3);
  by_lines<2>(call, {grad, result}, dim, call.out(out, "out", FLT3), f);
}

}  // namespace

ACLNN(Softmax, (const aclTensor *self, int64_t dim, aclTensor *out), (self, dim, out)) {
  const Operand from = call.in(self, "self", FLT4), to = call.out(out, "out", FLT4);
  by_lines<1>(call, {from}, dim, to, [](auto &lines) {
    const auto [largest, sum] = largest_and_sum(lines[0]);
    for (size_t i = 0; i < lines[0].size(); ++i) {
      lines[1][i] = static_cast<decltype(lines[0][0] + 0)>(
          static_cast<double>(std::exp(lines[0][i] - largest)) / sum);
    }
  });
}

ACLNN(LogSoftmax, (const aclTensor *self, int64_t dim, aclTensor *out), (self, dim, out)) {
  const Operand from = call.in(self, "self", FLT4), to = call.out(out, "out", FLT4);
  by_lines<1>(call, {from}, dim, to, [](auto &lines) {
    const auto [largest, sum] = largest_and_sum(lines[0]);
    const auto log_sum = static_cast<decltype(lines[0][0] + 0)>(std::log(sum));
    for (size_t i = 0; i < lines[0].size(); ++i) lines[1][i] = lines[0][i] - largest - log_sum;
  });
}

ACLNN(SoftmaxBackward,
      (const aclTensor *gradOutput, const aclTensor *output, int64_t dim, aclTensor *out),
      (gradOutput, output, dim, out)) {
  gradient_by_lines(call, gradOutput, output, dim, out, [](auto &lines) {
    double sum = 0;
    for (size_t i = 0; i < lines[0].size(); ++i)
      sum += static_cast<double>(lines[0][i]) * lines[1][i];
    for (size_t i = 0; i < lines[0].size(); ++i) {
      lines[2][i] = static_cast<decltype(lines[0][0] + 0)>(lines[1][i] * (lines[0][i] - sum));
    }
  });
}

ACLNN(LogSoftmaxBackward,
      (const aclTensor *gradOutput, const aclTensor *output, int64_t dim, aclTensor *out),
      (gradOutput, output, dim, out)) {
  gradient_by_lines(call, gradOutput, output, dim, out, [](auto &lines) {
    double sum = 0;
    for (const auto g : lines[0]) sum += static_cast<double>(g);
    for (size_t i = 0; i < lines[0].size(); ++i) {
      lines[2][i] =
          static_cast<decltype(lines[0][0] + 0)>(lines[0][i] - std::exp(lines[1][i]) * sum);
    }
  });
}
