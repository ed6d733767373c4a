#include "dtypes.h"

#include <initializer_list>

namespace sim {

size_t item_size(aclDataType d) {
  if (!has(ANY, d)) return 0;
  size_t size = 0;
  with_storage(d, [&](auto element) { size = sizeof element; });
  return size;
}

const char *name_of(aclDataType d) {
  switch (d) {
    case ACL_FLOAT: return "FLOAT";
    case ACL_FLOAT16: return "FLOAT16";
    case ACL_BF16: return "BFLOAT16";
    case ACL_DOUBLE: return "DOUBLE";
    case ACL_INT8: return "INT8";
    case ACL_INT16: return "INT16";
    case ACL_INT32: return "INT32";
    case ACL_INT64: return "INT64";
    case ACL_UINT8: return "UINT8";
    case ACL_UINT16: return "UINT16";
    case ACL_UINT32: return "UINT32";
    case ACL_UINT64: return "UINT64";
    case ACL_BOOL: return "BOOL";
    case ACL_COMPLEX64: return "COMPLEX64";
    case ACL_COMPLEX128: return "COMPLEX128";
    default: return "a type without arithmetic";
  }
}

aclDataType promote(aclDataType a, aclDataType b) {
  if (a == b) return a;
  if (has(WIDE_UNSIGNED, a) || has(WIDE_UNSIGNED, b)) return ACL_DT_UNDEFINED;
  if (a == ACL_BOOL) return b;
  if (b == ACL_BOOL) return a;
  const auto either = [&](aclDataType d) { return a == d || b == d; };
  if (has(COMPLEX, a) || has(COMPLEX, b)) {
    return either(ACL_COMPLEX128) || either(ACL_DOUBLE) ? ACL_COMPLEX128 : ACL_COMPLEX64;
  }
  if (has(FLOATING, a) && has(FLOATING, b)) {
    return either(ACL_DOUBLE) ? ACL_DOUBLE : ACL_FLOAT;  // two different halves need float32
  }
  if (has(FLOATING, a)) return a;
  if (has(FLOATING, b)) return b;
  for (const aclDataType d : {ACL_INT64, ACL_INT32, ACL_INT16}) {
    if (either(d)) return d;
  }
  return ACL_INT16;  // uint8 with int8
}

aclDataType promote_scalar(aclDataType tensor, aclDataType scalar) {
  const auto category = [](aclDataType d) {
    return d == ACL_BOOL ? 0 : has(INTEGRAL, d) ? 1 : has(FLOATING, d) ? 2 : 3;
  };
  if (category(scalar) <= category(tensor)) return tensor;
  if (has(WIDE_UNSIGNED, tensor)) return ACL_DT_UNDEFINED;
  if (category(scalar) == 3) return tensor == ACL_DOUBLE ? ACL_COMPLEX128 : ACL_COMPLEX64;
  return category(scalar) == 2 ? ACL_FLOAT : scalar;
}

aclDataType floating(aclDataType d) { return has(INTEGRAL | BOOL, d) ? ACL_FLOAT : d; }

bool converts(aclDataType from, aclDataType to) {
  if (from == to || from == ACL_BOOL) return true;
  if (to == ACL_BOOL) return false;
  return !has(COMPLEX, from) || !has(INTEGRAL, to);
}

float to_float(half h) {
  const uint32_t sign = uint32_t{h.bits & 0x8000u} << 16;
  const uint32_t exponent = (h.bits >> 10) & 0x1f;
  uint32_t fraction = h.bits & 0x3ffu;
  uint32_t wide;
  if (exponent == 31) {
    wide = sign | 0x7f800000u | (fraction << 13);
  } else if (exponent != 0) {
    wide = sign | ((exponent + 112) << 23) | (fraction << 13);
  } else {  // subnormal: fraction * 2^-24 is exact in float32
    const float value = static_cast<float>(fraction) * 5.9604644775390625e-8f;
    return sign != 0 ? -value : value;
  }
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

half to_half(float value) {
  uint32_t wide;
  std::memcpy(&wide, &value, sizeof wide);
  const auto sign = static_cast<uint16_t>((wide >> 16) & 0x8000u);
  const uint32_t magnitude = wide & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {static_cast<uint16_t>(sign | 0x7e00u)};
  if (magnitude >= 0x477ff000u) return {static_cast<uint16_t>(sign | 0x7c00u)};  // >= 65520
  if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 rounds at the place of 2^-24
    float small;
    std::memcpy(&small, &magnitude, sizeof small);
    small += 0.5f;
    uint32_t bits;
    std::memcpy(&bits, &small, sizeof bits);
    return {static_cast<uint16_t>(sign | (bits - 0x3f000000u))};
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1);
  return {static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13))};
}

}  // namespace sim
