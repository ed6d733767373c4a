// Small functions that need no device.
#include <cstring>

#include "runtime/arguments.h"

namespace sim {
namespace {

uint32_t bits_of(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float float_of(uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Shift right, rounding half to even.
uint32_t rounded_shift(uint32_t value, uint32_t shift) {
  const uint32_t half = (uint32_t{1} << (shift - 1)) - 1 + ((value >> shift) & 1);
  return (value + half) >> shift;
}

}  // namespace

CANN_EXPORT size_t aclDataTypeSize(aclDataType dataType) {
  switch (dataType) {
    case ACL_BOOL:
    case ACL_INT8:
    case ACL_UINT8:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
      return 4;
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_DOUBLE:
    case ACL_COMPLEX64:
      return 8;
    case ACL_COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

CANN_EXPORT float aclFloat16ToFloat(aclFloat16 value) {
  const uint32_t sign = static_cast<uint32_t>(value & 0x8000) << 16;
  const uint32_t exponent = (value >> 10) & 0x1f;
  const uint32_t fraction = value & 0x3ff;
  if (exponent == 0x1f) return float_of(sign | 0x7f800000 | (fraction << 13));
  if (exponent != 0) return float_of(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float small = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -small : small;
}

CANN_EXPORT aclFloat16 aclFloatToFloat16(float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  uint32_t half = 0;
  if (magnitude > 0x7f800000) {
    half = 0x7e00;
  } else if (magnitude >= 0x47800000) {  // 65536 and above
    half = 0x7c00;
  } else if (magnitude >= 0x38800000) {  // normal: a carry out of the fraction reaches infinity
    half = rounded_shift(magnitude - 0x38000000, 13);
  } else if (magnitude >= 0x33000000) {  // subnormal: 2^-25 and above
    const uint32_t shift = 126 - (magnitude >> 23);
    half = rounded_shift((magnitude & 0x7fffff) | 0x800000, shift);
  }
  return static_cast<aclFloat16>(sign | half);
}

CANN_EXPORT void aclAppLog(int32_t level, const char *func, const char *file, uint32_t line,
                           const char *fmt, ...) {
  static_cast<void>(level);
  static_cast<void>(func);
  static_cast<void>(file);
  static_cast<void>(line);
  static_cast<void>(fmt);
  enter(__func__);
}

CANN_EXPORT aclError aclopSetModelDir(const char *modelDir) {
  if (const int32_t code = enter(__func__)) return code;
  return required(__func__, "modelDir", modelDir);
}

}  // namespace sim
