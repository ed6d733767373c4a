// Products of matrices of float, for the matrix and convolution operators.
#pragma once

#include <cstdint>
#include <vector>

namespace sim {

// Elements of a matrix in host memory, `row` and `column` elements apart.
struct Matrix {
  const float *data;
  int64_t row, column;
};

// c += a @ b for a of m x k and b of k x n; the rows of c are contiguous.
void multiply(int64_t m, int64_t n, int64_t k, Matrix a, Matrix b, float *c);

// cubeMathType: what the matrix unit may make of its inputs.
enum CubeMathType : int8_t { KEEP_DTYPE, ALLOW_FP32_DOWN_PRECISION, USE_FP16, USE_HF32 };

inline bool is_cube_math_type(int8_t type) { return KEEP_DTYPE <= type && type <= USE_HF32; }

// Inputs as the matrix unit sees them in that mode.
void round_for_cube(std::vector<float> &values, int8_t type);

}  // namespace sim
