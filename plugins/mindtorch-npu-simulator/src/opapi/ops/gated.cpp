// Activations with learnt slopes (Prelu) and with a gate (Glu, SwiGlu), and their gradients.
#include "../activations.h"

#include "../gathering.h"
#include "../operator.h"

using namespace sim;

namespace {

// The weight as self's shape sees it: one number, or one for every channel (dim 1).
Dims channel_shape(const Call &call, const Operand &self, const Operand &weight) {
  Dims shape(self.shape().size(), 1);
  if (weight.numel() == 1) return shape;
  call.require(weight.dim() == 1 && self.dim() >= 2 && weight.shape()[0] == self.shape()[1],
               "weight must have one element or one for every channel of self");
  shape[1] = weight.shape()[0];
  return shape;
}

View channels(const View &weight, const Dims &shape) {
  View wide{weight.dtype, shape, Dims(shape.size(), 0), weight.data};
  if (weight.numel() != 1) wide.strides[1] = weight.strides[0];
  return wide;
}

// The two halves of a tensor along a dim.
struct Halves {
  size_t dim;
  int64_t length;

  View first(const View &whole) const { return whole.narrow(dim, 0, length); }
  View second(const View &whole) const { return whole.narrow(dim, length, length); }
};

Halves halves(const Call &call, const Operand &self, int64_t dim) {
  call.require(self.dim() > 0, "self must have a dim to split");
  const auto d = static_cast<size_t>(call.axis(dim, self));
  call.require(self.shape()[d] % 2 == 0, "self cannot be halved: its size in dim is odd");
  return {d, self.shape()[d] / 2};
}

Dims half_shape(const Operand &self, const Halves &half) {
  Dims shape = self.shape();
  shape[half.dim] = half.length;
  return shape;
}

// out = f(first half, second half).
template <class F>
void gate(Call &call, const Operand &self, int64_t dim, const Operand &out, F f) {
  const Halves half = halves(call, self, dim);
  call.shape_is(out, half_shape(self, half));
  call.writes(self.dtype(), out);
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<REALS>(self.dtype(), [&](auto zero) {
      elementwise<decltype(zero)>(launch[out], f, half.first(launch[self]),
                                  half.second(launch[self]));
    });
  });
}

// Both halves of out = of_first and of_second(gradient, first half, second half).
template <class F, class G>
void gate_backward(Call &call, const Operand &grad, const Operand &self, int64_t dim,
                   const Operand &out, F of_first, G of_second) {
  const Halves half = halves(call, self, dim);
  call.shape_is(grad, half_shape(self, half));
  call.shape_is(out, self.shape());
  call.writes(self.dtype(), out);
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<REALS>(self.dtype(), [&](auto zero) {
      using C = decltype(zero);
      const View a = half.first(launch[self]), b = half.second(launch[self]);
      elementwise<C>(half.first(launch[out]), of_first, launch[grad], a, b);
      elementwise<C>(half.second(launch[out]), of_second, launch[grad], a, b);
    });
  });
}

}  // namespace

ACLNN(Prelu, (const aclTensor *self, const aclTensor *weight, aclTensor *out),
      (self, weight, out)) {
  const Operand x = call.in(self, "self", FLT3), slope = call.in(weight, "weight", FLT3);
  const Operand y = call.out(out, "out", FLT3);
  const Dims shape = channel_shape(call, x, slope);
  call.shape_is(y, x.shape());
  call.writes(call.common(x, slope), y);
  if (y.numel() == 0) return;
  call.run([=](Launch &launch) {
    elementwise<float>(
        launch[y], [](auto v, auto w) { return v > 0 ? v : v * w; }, launch[x],
        channels(launch[slope], shape));
  });
}

ACLNN(PreluBackward,
      (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *weight,
       aclTensor *gradInput, aclTensor *gradWeight),
      (gradOutput, self, weight, gradInput, gradWeight)) {
  const Operand grad = call.in(gradOutput, "gradOutput", FLT3), x = call.in(self, "self", FLT3);
  const Operand slope = call.in(weight, "weight", FLT3),
                to_x = call.out(gradInput, "gradInput", FLT3);
  const Operand to_slope = call.out(gradWeight, "gradWeight", FLT3);
  const Dims shape = channel_shape(call, x, slope);
  for (const Operand *of : {&grad, &to_x}) call.shape_is(*of, x.shape());
  call.shape_is(to_slope, slope.shape());
  call.workspace(scratch_bytes(x));
  call.run([=](Launch &launch) {
    const View &g = launch[grad], &v = launch[x];
    if (v.numel() != 0) {
      elementwise<float>(
          launch[to_x], [](auto dy, auto a, auto w) { return a > 0 ? dy : dy * w; }, g, v,
          channels(launch[slope], shape));
    }
    std::vector<bool> summed(shape.size());
    for (size_t d = 0; d < shape.size(); ++d) summed[d] = d != 1 || launch[slope].numel() == 1;
    const auto gradients = grouped<double>(g, summed), inputs = grouped<double>(v, summed);
    std::vector<double> sums(static_cast<size_t>(launch[slope].numel()));
    for (size_t k = 0; k < sums.size(); ++k) {
      for (size_t i = k * gradients.length; i < (k + 1) * gradients.length; ++i) {
        if (!(inputs.values[i] > 0)) sums[k] += gradients.values[i] * inputs.values[i];
      }
    }
    scattered<double>(launch[to_slope], sums);
  });
}

ACLNN(Glu, (const aclTensor *self, int64_t dim, aclTensor *out), (self, dim, out)) {
  gate(call, call.in(self, "self", FLT4), dim, call.out(out, "out", FLT4),
       [](auto a, auto b) { return a * sigmoid(b); });
}

ACLNN(GluBackward, (const aclTensor *gradOut, const aclTensor *self, int64_t dim, aclTensor *out),
      (gradOut, self, dim, out)) {
  const Operand grad = call.in(gradOut, "gradOut", FLT4), x = call.in(self, "self", FLT4);
  gate_backward(
      call, grad, x, dim, call.out(out, "out", FLT4),
      [](auto g, auto, auto b) { return g * sigmoid(b); },
      [](auto g, auto a, auto b) {
        const auto s = sigmoid(b);
        return g * a * s * (decltype(s)(1) - s);
      });
}

ACLNN(SwiGlu, (const aclTensor *x, int64_t dim, aclTensor *out), (x, dim, out)) {
  const Operand input = call.in(x, "x", FLT3), result = call.out(out, "out", FLT3);
  call.contiguous(input);
  call.contiguous(result);
  gate(call, input, dim, result, [](auto a, auto b) { return a * sigmoid(a) * b; });
}

ACLNN(SwiGluGrad, (const aclTensor *yGrad, const aclTensor *x, int64_t dim, aclTensor *out),
      (yGrad, x, dim, out)) {
  const Operand grad = call.in(yGrad, "yGrad", FLT3), input = call.in(x, "x", FLT3);
  const Operand result = call.out(out, "out", FLT3);
  call.contiguous(grad);
  call.contiguous(result);
  gate_backward(
      call, grad, input, dim, result,
      [](auto g, auto a, auto b) {
        const auto s = sigmoid(a);
        return g * b * s * (decltype(s)(1) + a * (decltype(s)(1) - s));
      },
      [](auto g, auto a, auto) { return g * a * sigmoid(a); });
}
