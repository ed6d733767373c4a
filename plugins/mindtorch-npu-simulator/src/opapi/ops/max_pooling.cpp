// Maxima of windows, and their gradients.
#include <cmath>
#include <limits>

#include "../windows.h"

using namespace sim;

namespace {

WindowLists lists_of(Call &call, const aclIntArray *kernel, const aclIntArray *stride,
                     const aclIntArray *padding, const aclIntArray *dilation, bool ceil) {
  return {call.ints(kernel, "kernelSize"), call.ints(stride, "stride"),
          call.ints(padding, "padding"), call.ints(dilation, "dilation"), ceil};
}

// f(output, input that is the maximum, kernel position of it, value) for every output of all
// planes.
template <class F>
void each_maximum(const Windows &windows, const std::vector<double> &values, F f) {
  for (int64_t plane = 0; plane < windows.planes(); ++plane) {
    const double *of_plane = values.data() + plane * windows.inputs();
    windows.each([&](int64_t output, const std::array<Span, 3> &window) {
      double best = -std::numeric_limits<double>::infinity();
      int64_t at = -1;
      windows.each_input(window, [&](int64_t input) {
        const double value = of_plane[input];
        if (at >= 0 && !(value > best) && !std::isnan(value)) return;
        best = value;
        at = input;
      });
      f(plane * windows.outputs() + output, at, best);
    });
  }
}

void max_pool(Call &call, const Windows &windows, const Operand &self, const Operand &out,
              const Operand &indices) {
  call.shape_is(out, windows.output_shape());
  call.shape_is(indices, windows.output_shape());
  call.dtype_is(out, self.dtype());
  if (out.numel() == 0) return;
  call.workspace(packed_bytes(self));
  call.run([=](Launch &launch) {
    std::vector<double> results(static_cast<size_t>(out.numel()));
    std::vector<int64_t> places(results.size());
    each_maximum(windows, gathered<double>(launch[self]),
                 [&](int64_t output, int64_t at, double best) {
                   results[static_cast<size_t>(output)] = best;
                   places[static_cast<size_t>(output)] = at;
                 });
    scattered(launch[out], results);
    scattered(launch[indices], places);
  });
}

template <int DIMS>
void max_pool_by_lists(Call &call, const WindowLists &lists, const Operand &self,
                       const Operand &out, const Operand &indices) {
  max_pool(call, Windows::sliding(call, self, DIMS, lists), self, out, indices);
}

template <int DIMS>
void max_pool_gradient(Call &call, const WindowLists &lists, const Operand &grad,
                       const Operand &self, const Operand &indices, const Operand &out) {
  const Windows windows = Windows::sliding(call, self, DIMS, lists);
  call.shape_is(grad, windows.output_shape());
  call.shape_is(indices, windows.output_shape());
  call.shape_is(out, self.shape());
  call.writes(grad.dtype(), out);
  if (out.numel() == 0) return;
  call.workspace(packed_bytes(grad) + static_cast<uint64_t>(out.numel()) * 4);
  call.run([=](Launch &launch) {
    const std::vector<double> grads = gathered<double>(launch[grad]);
    const std::vector<int64_t> places =
        offsets_of(launch, launch[indices], windows.inputs(), 1, false);
    std::vector<double> sums(static_cast<size_t>(out.numel()), 0.0);
    for (size_t i = 0; i < grads.size(); ++i) {
      const int64_t plane = static_cast<int64_t>(i) / windows.outputs();
      sums[static_cast<size_t>(plane * windows.inputs() + places[i])] += grads[i];
    }
    scattered(launch[out], sums);
  });
}

// ---- the mask form: a bit for each output in a row for each position of the kernel --------------

int64_t mask_row(const Windows &windows) { return ((windows.outputs() + 15) / 16 + 1) * 32; }

Windows mask_windows(Call &call, const Operand &self, const WindowLists &lists,
                     const Operand &mask) {
  for (const int64_t step : lists.dilation) call.require(step == 1, "dilation must be 1");
  const Windows windows = Windows::sliding(call, self, 2, lists);
  call.require(
      mask.numel() == windows.planes() * windows.kernel_size() * mask_row(windows),
      mask.name() +
          " does not have the size of the mask, (N, C, kH * kW, (ceil(oH * oW / 16) + 1) * 32)");
  return windows;
}

// f(output of a plane, input of it, byte and bit of the mask) for all pairs of one plane.
template <class F>
void each_bit(const Windows &windows, int64_t plane, F f) {
  windows.each([&](int64_t output, const std::array<Span, 3> &window) {
    int64_t position = 0;
    windows.each_input(window, [&](int64_t input) {
      const int64_t row = plane * windows.kernel_size() + position++;
      f(output, input, static_cast<size_t>(row * mask_row(windows) + output / 8),
        1u << (output % 8));
    });
  });
}

void max_pool_with_mask(Call &call, const WindowLists &lists, const Operand &self,
                        const Operand &out, const Operand &mask) {
  const Windows windows = mask_windows(call, self, lists, mask);
  call.shape_is(out, windows.output_shape());
  call.dtype_is(out, self.dtype());
  if (out.numel() == 0) return;
  call.workspace(packed_bytes(self));
  call.run([=](Launch &launch) {
    const std::vector<double> values = gathered<double>(launch[self]);
    std::vector<double> results(static_cast<size_t>(out.numel()));
    std::vector<int64_t> places(results.size());
    each_maximum(windows, values, [&](int64_t output, int64_t at, double best) {
      results[static_cast<size_t>(output)] = best;
      places[static_cast<size_t>(output)] = at;
    });
    std::vector<uint8_t> bits(static_cast<size_t>(mask.numel()), 0);
    for (int64_t plane = 0; plane < windows.planes(); ++plane) {
      each_bit(windows, plane, [&](int64_t output, int64_t input, size_t byte, unsigned bit) {
        const bool hit = places[static_cast<size_t>(plane * windows.outputs() + output)] == input;
        if (hit) bits[byte] |= static_cast<uint8_t>(bit);
      });
    }
    scattered(launch[out], results);
    scattered(launch[mask], bits);
  });
}

void max_pool_gradient_by_mask(Call &call, const WindowLists &lists, const Operand &grad,
                               const Operand &self, const Operand &mask, const Operand &out) {
  const Windows windows = mask_windows(call, self, lists, mask);
  call.shape_is(grad, windows.output_shape());
  call.shape_is(out, self.shape());
  call.writes(grad.dtype(), out);
  if (out.numel() == 0) return;
  call.workspace(packed_bytes(grad) + static_cast<uint64_t>(out.numel()) * 4);
  call.run([=](Launch &launch) {
    const std::vector<double> grads = gathered<double>(launch[grad]);
    const std::vector<uint8_t> bits = gathered<uint8_t>(launch[mask]);
    std::vector<double> sums(static_cast<size_t>(out.numel()), 0.0);
    for (int64_t plane = 0; plane < windows.planes(); ++plane) {
      each_bit(windows, plane, [&](int64_t output, int64_t input, size_t byte, unsigned bit) {
        if ((bits[byte] & bit) == 0) return;
        sums[static_cast<size_t>(plane * windows.inputs() + input)] +=
            grads[static_cast<size_t>(plane * windows.outputs() + output)];
      });
    }
    scattered(launch[out], sums);
  });
}

}  // namespace

#define MAX_POOL(Name, INDICES, POOL)                                                            \
  ACLNN(Name,                                                                                    \
        (const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride,        \
         const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode, aclTensor *out, \
         aclTensor *indices),                                                                    \
        (self, kernelSize, stride, padding, dilation, ceilMode, out, indices)) {                 \
    const Operand x = call.in(self, "self", FLT3), y = call.out(out, "out", FLT3);               \
    const Operand at = call.out(indices, "indices", INDICES);                                    \
    POOL(call, lists_of(call, kernelSize, stride, padding, dilation, ceilMode), x, y, at);       \
  }

#define MAX_POOL_GRADIENT(Name, INDICES, GRADIENT)                                                 \
  ACLNN(Name,                                                                                      \
        (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *indices,             \
         const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding,     \
         const aclIntArray *dilation, bool ceilMode, aclTensor *gradInput),                        \
        (gradOutput, self, indices, kernelSize, stride, padding, dilation, ceilMode, gradInput)) { \
    const Operand g = call.in(gradOutput, "gradOutput", FLT3), x = call.in(self, "self", FLT3);    \
    const Operand at = call.in(indices, "indices", INDICES);                                       \
    const Operand y = call.out(gradInput, "gradInput", FLT3);                                      \
    GRADIENT(call, lists_of(call, kernelSize, stride, padding, dilation, ceilMode), g, x, at, y);  \
  }

MAX_POOL(MaxPool2dWithIndices, IDX, max_pool_by_lists<2>)
MAX_POOL(MaxPool3dWithArgmax, IDX, max_pool_by_lists<3>)
MAX_POOL(MaxPool2dWithMask, I8, max_pool_with_mask)
MAX_POOL_GRADIENT(MaxPool2dWithIndicesBackward, IDX, max_pool_gradient<2>)
MAX_POOL_GRADIENT(MaxPool3dWithArgmaxBackward, IDX, max_pool_gradient<3>)
MAX_POOL_GRADIENT(MaxPool2dWithMaskBackward, I8, max_pool_gradient_by_mask)

ACLNN(AdaptiveMaxPool2d,
      (const aclTensor *self, const aclIntArray *outputSize, aclTensor *outputOut,
       aclTensor *indicesOut),
      (self, outputSize, outputOut, indicesOut)) {
  const Operand from = call.in(self, "self", FLT4), to = call.out(outputOut, "outputOut", FLT4);
  const Operand at = call.out(indicesOut, "indicesOut", I64);
  const Dims sizes = call.ints(outputSize, "outputSize");
  call.require(sizes.size() == 2, "outputSize must have 2 elements");
  max_pool(call, Windows::adaptive(call, from, 2, sizes), from, to, at);
}
