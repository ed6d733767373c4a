// Convolutions of one to three spatial dims as products of matrices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sim {

// The sizes of a convolution y = w * x, all with three spatial dims (leading ones are 1). A
// transposed convolution is the same thing with x as its result.
struct Convolution {
  int64_t batch = 0, groups = 1;
  int64_t x_channels = 0, y_channels = 0;
  std::array<int64_t, 3> x{1, 1, 1}, y{1, 1, 1}, kernel{1, 1, 1};
  std::array<int64_t, 3> stride{1, 1, 1}, padding{0, 0, 0}, dilation{1, 1, 1};

  int64_t x_size() const { return x[0] * x[1] * x[2]; }
  int64_t y_size() const { return y[0] * y[1] * y[2]; }
  int64_t patch() const { return x_channels / groups * kernel[0] * kernel[1] * kernel[2]; }

  // Weights are (y channels, x channels / groups, kernel...); everything is contiguous.
  std::vector<float> forward(const std::vector<float> &of_x,
                             const std::vector<float> &weight) const;
  std::vector<float> to_x(const std::vector<float> &of_y, const std::vector<float> &weight) const;
  std::vector<float> to_weight(const std::vector<float> &of_x,
                               const std::vector<float> &of_y) const;

 private:
  template <class F>
  void each_place(F f) const;
  std::vector<float> columns(const float *image) const;
  void add_columns(const std::vector<float> &columns, float *image) const;
  template <class F>
  void each_group(F f) const;
};

}  // namespace sim
