// The windows of pooling operators: which inputs belong to an output, dim by dim.
#pragma once

#include "moving.h"

namespace sim {

// The inputs of one output in one dim: from start to before stop, every step-th.
struct Span {
  int64_t start, stop, step = 1;
  int64_t padded = 0;  // their number if padding counts

  int64_t count() const { return (stop - start + step - 1) / step; }
};

// The lists of a pooling operator; a list of one element stands for all dims.
struct WindowLists {
  Dims kernel, stride, padding, dilation;
  bool ceil = false;
};

// Pooling of the last two or three dims of an input, the others being planes.
class Windows {
 public:
  // `stride` may be empty, which means the kernel's.
  static Windows sliding(const Call &call, const Operand &input, size_t spatial,
                         const WindowLists &lists);
  // Windows that share the input evenly among `sizes` outputs.
  static Windows adaptive(const Call &call, const Operand &input, size_t spatial,
                          const Dims &sizes);

  Dims output_shape() const;
  int64_t planes() const { return planes_; }
  int64_t inputs() const { return input_[0] * input_[1] * input_[2]; }  // of a plane
  int64_t outputs() const {
    return static_cast<int64_t>(spans_[0].size() * spans_[1].size() * spans_[2].size());
  }
  int64_t kernel_size() const { return kernel_size_; }

  // f(output, its three spans) for every output of a plane, in order.
  template <class F>
  void each(F f) const {
    int64_t output = 0;
    for (const Span &depth : spans_[0]) {
      for (const Span &height : spans_[1]) {
        for (const Span &width : spans_[2]) f(output++, std::array<Span, 3>{depth, height, width});
      }
    }
  }

  // f(index of the input in its plane) for every input of a window, in order.
  template <class F>
  void each_input(const std::array<Span, 3> &window, F f) const {
    for (int64_t i = window[0].start; i < window[0].stop; i += window[0].step) {
      for (int64_t j = window[1].start; j < window[1].stop; j += window[1].step) {
        for (int64_t k = window[2].start; k < window[2].stop; k += window[2].step)
          f((i * input_[1] + j) * input_[2] + k);
      }
    }
  }

 private:
  Windows(const Call &call, const Operand &input, size_t spatial);

  Dims leading_;
  size_t spatial_;
  int64_t planes_, kernel_size_ = 0;
  std::array<int64_t, 3> input_{1, 1, 1};
  std::array<std::vector<Span>, 3> spans_;
};

}  // namespace sim
