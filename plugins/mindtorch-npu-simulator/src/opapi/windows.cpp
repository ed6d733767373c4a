#include "windows.h"

#include "sizes.h"

namespace sim {
namespace {

// A list's elements for each spatial dim.
Dims per_dim(const Call &call, const Dims &list, const char *name, size_t spatial, int64_t least) {
  call.require(list.size() == 1 || list.size() == spatial,
               std::string(name) + " must have 1 or " + std::to_string(spatial) + " elements");
  for (const int64_t value : list) {
    call.require(value >= least, std::string(name) + " has an element that is too small");
    size_is_possible(call, value, std::string("an element of ") + name);
  }
  return list.size() == spatial ? list : Dims(spatial, list[0]);
}

// Windows are kept in memory, dim by dim, before it is known whether the output has their number.
void check_count(const Call &call, int64_t count) {
  constexpr int64_t MOST = 1 << 24;
  call.require(count <= MOST, "more than " + std::to_string(MOST) + " windows in a dim");
}

// The number of windows; with `ceil` also one that begins inside the input and ends outside.
int64_t window_count(int64_t input, int64_t reach, int64_t stride, int64_t padding, bool ceil) {
  const int64_t room = input + 2 * padding - reach;
  if (room < 0) return 0;
  int64_t count = (room + (ceil ? stride - 1 : 0)) / stride + 1;
  if (ceil && (count - 1) * stride >= input + padding) --count;
  return count;
}

}  // namespace

Windows::Windows(const Call &call, const Operand &input, size_t spatial) : spatial_(spatial) {
  const Dims &shape = input.shape();
  call.require(shape.size() == spatial + 1 || shape.size() == spatial + 2,
               input.name() + " must have " + std::to_string(spatial + 1) + " or " +
                   std::to_string(spatial + 2) + " dimensions");
  leading_ = {shape.begin(), shape.end() - static_cast<ptrdiff_t>(spatial)};
  planes_ = numel(leading_);
  std::copy(shape.end() - static_cast<ptrdiff_t>(spatial), shape.end(),
            input_.end() - static_cast<ptrdiff_t>(spatial));
  for (std::vector<Span> &spans : spans_) spans = {{0, 1, 1, 1}};
}

Windows Windows::sliding(const Call &call, const Operand &input, size_t spatial,
                         const WindowLists &lists) {
  Windows windows(call, input, spatial);
  const Dims kernel = per_dim(call, lists.kernel, "kernelSize", spatial, 1);
  const Dims stride =
      lists.stride.empty() ? kernel : per_dim(call, lists.stride, "stride", spatial, 1);
  const Dims padding = per_dim(call, lists.padding, "padding", spatial, 0);
  const Dims dilation = per_dim(call, lists.dilation, "dilation", spatial, 1);
  windows.kernel_size_ = numel(kernel);
  for (size_t d = 0; d < spatial; ++d) {
    const size_t at = 3 - spatial + d;
    const int64_t size = windows.input_[at], reach = dilation[d] * (kernel[d] - 1) + 1;
    call.require(2 * padding[d] <= kernel[d], "padding is more than half of kernelSize");
    const int64_t count = window_count(size, reach, stride[d], padding[d], lists.ceil);
    call.require(count > 0, "the kernel is larger than the padded input");
    check_count(call, count);
    windows.spans_[at].clear();
    for (int64_t i = 0; i < count; ++i) {
      const int64_t start = i * stride[d] - padding[d],
                    stop = std::min(start + reach, size + padding[d]);
      // The first input that the window has, not the first place it covers.
      const int64_t skipped = start < 0 ? (-start + dilation[d] - 1) / dilation[d] : 0;
      windows.spans_[at].push_back(
          {start + skipped * dilation[d], std::min(stop, size), dilation[d], stop - start});
    }
  }
  return windows;
}

Windows Windows::adaptive(const Call &call, const Operand &input, size_t spatial,
                          const Dims &sizes) {
  Windows windows(call, input, spatial);
  const Dims outputs = per_dim(call, sizes, "outputSize", spatial, 1);
  for (size_t d = 0; d < spatial; ++d) {
    const size_t at = 3 - spatial + d;
    const int64_t size = windows.input_[at], count = outputs[d];
    call.require(size > 0, input.name() + " has an empty spatial dim");
    check_count(call, count);
    windows.spans_[at].clear();
    for (int64_t i = 0; i < count; ++i) {
      const int64_t start = i * size / count, stop = ((i + 1) * size + count - 1) / count;
      windows.spans_[at].push_back({start, stop, 1, stop - start});
    }
  }
  return windows;
}

Dims Windows::output_shape() const {
  Dims shape = leading_;
  for (size_t at = 3 - spatial_; at < 3; ++at)
    shape.push_back(static_cast<int64_t>(spans_[at].size()));
  return shape;
}

}  // namespace sim
