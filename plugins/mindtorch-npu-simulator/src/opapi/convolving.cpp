#include "convolving.h"

#include "products.h"

namespace sim {

// f(index into the columns, index into the group's image) for every element of a patch that lies
// inside the image. Columns are (patch, y) matrices.
template <class F>
void Convolution::each_place(F f) const {
  int64_t row = 0;
  for (int64_t c = 0; c < x_channels / groups; ++c) {
    for (int64_t a = 0; a < kernel[0]; ++a) {
      for (int64_t b = 0; b < kernel[1]; ++b) {
        for (int64_t e = 0; e < kernel[2]; ++e, ++row) {
          int64_t column = row * y_size();
          for (int64_t i = 0; i < y[0]; ++i) {
            const int64_t depth = i * stride[0] - padding[0] + a * dilation[0];
            for (int64_t j = 0; j < y[1]; ++j) {
              const int64_t height = j * stride[1] - padding[1] + b * dilation[1];
              const bool inside = 0 <= depth && depth < x[0] && 0 <= height && height < x[1];
              const int64_t line = ((c * x[0] + depth) * x[1] + height) * x[2];
              int64_t width = e * dilation[2] - padding[2];
              for (int64_t k = 0; k < y[2]; ++k, ++column, width += stride[2]) {
                if (inside && 0 <= width && width < x[2])
                  f(static_cast<std::size_t>(column), line + width);
              }
            }
          }
        }
      }
    }
  }
}

std::vector<float> Convolution::columns(const float *image) const {
  std::vector<float> result(static_cast<std::size_t>(patch() * y_size()), 0.0f);
  each_place([&](std::size_t column, int64_t place) { result[column] = image[place]; });
  return result;
}

void Convolution::add_columns(const std::vector<float> &columns, float *image) const {
  each_place([&](std::size_t column, int64_t place) { image[place] += columns[column]; });
}

// f(first element of x, of y, of the weight) for every image and group of channels.
template <class F>
void Convolution::each_group(F f) const {
  const int64_t of_x = x_channels / groups * x_size(), of_y = y_channels / groups * y_size();
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t g = 0; g < groups; ++g) {
      f((n * groups + g) * of_x, (n * groups + g) * of_y, g * (y_channels / groups) * patch());
    }
  }
}

std::vector<float> Convolution::forward(const std::vector<float> &of_x,
                                        const std::vector<float> &weight) const {
  std::vector<float> result(static_cast<std::size_t>(batch * y_channels * y_size()), 0.0f);
  each_group([&](int64_t at_x, int64_t at_y, int64_t at_w) {
    const std::vector<float> patches = columns(of_x.data() + at_x);
    multiply(y_channels / groups, y_size(), patch(), {weight.data() + at_w, patch(), 1},
             {patches.data(), y_size(), 1}, result.data() + at_y);
  });
  return result;
}

std::vector<float> Convolution::to_x(const std::vector<float> &of_y,
                                     const std::vector<float> &weight) const {
  std::vector<float> result(static_cast<std::size_t>(batch * x_channels * x_size()), 0.0f);
  each_group([&](int64_t at_x, int64_t at_y, int64_t at_w) {
    std::vector<float> patches(static_cast<std::size_t>(patch() * y_size()), 0.0f);
    multiply(patch(), y_size(), y_channels / groups, {weight.data() + at_w, 1, patch()},
             {of_y.data() + at_y, y_size(), 1}, patches.data());
    add_columns(patches, result.data() + at_x);
  });
  return result;
}

std::vector<float> Convolution::to_weight(const std::vector<float> &of_x,
                                          const std::vector<float> &of_y) const {
  std::vector<float> result(static_cast<std::size_t>(y_channels * patch()), 0.0f);
  each_group([&](int64_t at_x, int64_t at_y, int64_t at_w) {
    const std::vector<float> patches = columns(of_x.data() + at_x);
    multiply(y_channels / groups, patch(), y_size(), {of_y.data() + at_y, y_size(), 1},
             {patches.data(), 1, y_size()}, result.data() + at_w);
  });
  return result;
}

}  // namespace sim
