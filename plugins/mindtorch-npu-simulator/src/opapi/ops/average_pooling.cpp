// Means of windows, and their gradients.
#include "../formats.h"
#include "../products.h"
#include "../windows.h"

using namespace sim;

namespace {

// What the sum of a window is divided by.
struct Divisor {
  bool count_padding = true;
  int64_t fixed = 0;  // 0: the size of the window

  double of(const std::array<Span, 3> &window) const {
    if (fixed != 0) return static_cast<double>(fixed);
    int64_t size = 1;
    for (const Span &span : window) size *= count_padding ? span.padded : span.count();
    return static_cast<double>(size);
  }
};

WindowLists lists_of(Call &call, const aclIntArray *kernel, const aclIntArray *stride,
                     const aclIntArray *padding, bool ceil) {
  return {call.ints(kernel, "kernelSize"),
          call.ints(stride, "stride"),
          call.ints(padding, "padding"),
          {1},
          ceil};
}

void average(Call &call, const Windows &windows, const Operand &self, const Operand &out,
             const Divisor &divisor) {
  call.shape_is(out, windows.output_shape());
  call.writes(self.dtype(), out);
  if (out.numel() == 0) return;
  call.workspace(packed_bytes(self));
  call.run([=](Launch &launch) {
    const std::vector<float> values = gathered<float>(launch[self]);
    std::vector<double> results;
    for (int64_t plane = 0; plane < windows.planes(); ++plane) {
      const float *of_plane = values.data() + plane * windows.inputs();
      windows.each([&](int64_t, const std::array<Span, 3> &window) {
        double sum = 0;
        windows.each_input(window, [&](int64_t input) { sum += of_plane[input]; });
        results.push_back(sum / divisor.of(window));
      });
    }
    scattered(launch[out], results);
  });
}

void average_backward(Call &call, const Windows &windows, const Operand &grad, const Operand &self,
                      const Operand &out, const Divisor &divisor) {
  call.shape_is(grad, windows.output_shape());
  call.shape_is(out, self.shape());
  call.writes(grad.dtype(), out);
  if (out.numel() == 0) return;
  call.workspace(packed_bytes(grad) + static_cast<uint64_t>(out.numel()) * 4);
  call.run([=](Launch &launch) {
    const std::vector<float> grads = gathered<float>(launch[grad]);
    std::vector<double> sums(static_cast<size_t>(out.numel()), 0.0);
    for (int64_t plane = 0; plane < windows.planes(); ++plane) {
      double *of_plane = sums.data() + plane * windows.inputs();
      const float *of_outputs = grads.data() + plane * windows.outputs();
      windows.each([&](int64_t output, const std::array<Span, 3> &window) {
        const double share = of_outputs[output] / divisor.of(window);
        windows.each_input(window, [&](int64_t input) { of_plane[input] += share; });
      });
    }
    scattered(launch[out], sums);
  });
}

void check_images(Call &call, const Operand &a, const Operand &b, int8_t cube) {
  call.require(is_cube_math_type(cube), "cubeMathType is none of 0, 1, 2, 3");
  check_image_format(call, a);
  check_image_format(call, b);
}

// The sizes of an output whose windows share the input evenly.
Dims last_dims(const Operand &operand, size_t spatial) {
  const Dims &shape = operand.shape();
  return {shape.end() - static_cast<ptrdiff_t>(std::min(spatial, shape.size())), shape.end()};
}

void adaptive_average(Call &call, const aclTensor *self, const aclIntArray *sizes, aclTensor *out,
                      size_t spatial) {
  const Operand from = call.in(self, "self", FLT3), to = call.out(out, "out", FLT3);
  const Dims outputs = call.ints(sizes, "outputSize");
  call.require(outputs.size() == spatial,
               "outputSize must have " + std::to_string(spatial) + " elements");
  average(call, Windows::adaptive(call, from, spatial, outputs), from, to, {});
}

void adaptive_average_backward(Call &call, const aclTensor *grad, const aclTensor *self,
                               aclTensor *out, size_t spatial) {
  const Operand g = call.in(grad, "gradOutput", FLT3), from = call.in(self, "self", FLT3);
  const Operand to = call.out(out, "out", FLT3);
  average_backward(call, Windows::adaptive(call, from, spatial, last_dims(g, spatial)), g, from, to,
                   {});
}

}  // namespace

ACLNN(AvgPool2d,
      (const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *strides,
       const aclIntArray *paddings, bool ceilMode, bool countIncludePad, int64_t divisorOverride,
       int8_t cubeMathType, aclTensor *out),
      (self, kernelSize, strides, paddings, ceilMode, countIncludePad, divisorOverride,
       cubeMathType, out)) {
  const Operand from = call.in(self, "self", FLT3), to = call.out(out, "out", FLT3);
  check_images(call, from, to, cubeMathType);
  const WindowLists lists = lists_of(call, kernelSize, strides, paddings, ceilMode);
  average(call, Windows::sliding(call, from, 2, lists), from, to,
          {countIncludePad, divisorOverride});
}

ACLNN(AvgPool2dBackward,
      (const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *kernelSize,
       const aclIntArray *stride, const aclIntArray *padding, bool ceilMode, bool countIncludePad,
       int64_t divisorOverride, int8_t cubeMathType, aclTensor *gradInput),
      (gradOutput, self, kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride,
       cubeMathType, gradInput)) {
  const Operand grad = call.in(gradOutput, "gradOutput", FLT3), from = call.in(self, "self", FLT3);
  const Operand to = call.out(gradInput, "gradInput", FLT3);
  check_images(call, grad, from, cubeMathType);
  const WindowLists lists = lists_of(call, kernelSize, stride, padding, ceilMode);
  average_backward(call, Windows::sliding(call, from, 2, lists), grad, from, to,
                   {countIncludePad, divisorOverride});
}

ACLNN(AvgPool3d,
      (const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride,
       const aclIntArray *padding, bool ceilMode, bool countIncludePad, int64_t divisorOverride,
       aclTensor *out),
      (self, kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride, out)) {
  const Operand from = call.in(self, "self", FLT3), to = call.out(out, "out", FLT3);
  const WindowLists lists = lists_of(call, kernelSize, stride, padding, ceilMode);
  average(call, Windows::sliding(call, from, 3, lists), from, to,
          {countIncludePad, divisorOverride});
}

ACLNN(AvgPool3dBackward,
      (const aclTensor *gradOuput, const aclTensor *self, const aclIntArray *kernelSize,
       const aclIntArray *stride, const aclIntArray *padding, bool ceilMode, bool countIncludePad,
       int64_t divisorOverride, aclTensor *output),
      (gradOuput, self, kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride,
       output)) {
  const Operand grad = call.in(gradOuput, "gradOuput", FLT3), from = call.in(self, "self", FLT3);
  const Operand to = call.out(output, "output", FLT3);
  const WindowLists lists = lists_of(call, kernelSize, stride, padding, ceilMode);
  average_backward(call, Windows::sliding(call, from, 3, lists), grad, from, to,
                   {countIncludePad, divisorOverride});
}

ACLNN(AdaptiveAvgPool2d, (const aclTensor *self, const aclIntArray *outputSize, aclTensor *out),
      (self, outputSize, out)) {
  adaptive_average(call, self, outputSize, out, 2);
}

ACLNN(AdaptiveAvgPool2dBackward,
      (const aclTensor *gradOutput, const aclTensor *self, aclTensor *out),
      (gradOutput, self, out)) {
  adaptive_average_backward(call, gradOutput, self, out, 2);
}

ACLNN(AdaptiveAvgPool3d, (const aclTensor *self, const aclIntArray *outputSize, aclTensor *out),
      (self, outputSize, out)) {
  adaptive_average(call, self, outputSize, out, 3);
}

ACLNN(AdaptiveAvgPool3dBackward,
      (const aclTensor *gradOutput, const aclTensor *self, aclTensor *out),
      (gradOutput, self, out)) {
  adaptive_average_backward(call, gradOutput, self, out, 3);
}
