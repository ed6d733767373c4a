// Element types: sets of them, their sizes, half precision, and CANN's rules of promotion.
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>

#include "../core/core.h"

namespace sim {

// ---- sets ---------------------------------------------------------------------------------------

using DTypes = uint64_t;

constexpr DTypes bit(aclDataType d) { return d < 0 ? 0 : DTypes{1} << d; }
constexpr bool has(DTypes set, aclDataType d) { return (set & bit(d)) != 0; }

inline constexpr DTypes F32 = bit(ACL_FLOAT), F16 = bit(ACL_FLOAT16), BF16 = bit(ACL_BF16);
inline constexpr DTypes F64 = bit(ACL_DOUBLE), I8 = bit(ACL_INT8), I16 = bit(ACL_INT16);
inline constexpr DTypes I32 = bit(ACL_INT32), I64 = bit(ACL_INT64), U8 = bit(ACL_UINT8);
inline constexpr DTypes U16 = bit(ACL_UINT16), U32 = bit(ACL_UINT32), U64 = bit(ACL_UINT64);
inline constexpr DTypes BOOL = bit(ACL_BOOL), C64 = bit(ACL_COMPLEX64), C128 = bit(ACL_COMPLEX128);
// The unions that the operators' documents use over and over.
inline constexpr DTypes FLT3 = F32 | F16 | BF16, FLT4 = FLT3 | F64, FLTC6 = FLT4 | C64 | C128;
inline constexpr DTypes INT5 = I8 | I16 | I32 | I64 | U8, INTB6 = INT5 | BOOL, IDX = I32 | I64;
inline constexpr DTypes REAL9 = FLT4 | INT5, REAL10 = REAL9 | BOOL, NUM12 = REAL10 | C64 | C128;
inline constexpr DTypes WIDE_UNSIGNED = U16 | U32 | U64;
inline constexpr DTypes ANY = NUM12 | WIDE_UNSIGNED;

inline constexpr DTypes COMPLEX = C64 | C128, FLOATING = FLT4;
inline constexpr DTypes INTEGRAL = INT5 | WIDE_UNSIGNED;

// Bytes of an element; 0 for types that the simulator does not compute with.
SIM_API size_t item_size(aclDataType d);

// "FLOAT16", as messages name it.
SIM_API const char *name_of(aclDataType d);

// ---- promotion ----------------------------------------------------------------------------------

// The type that two tensors' types are computed in; ACL_DT_UNDEFINED where CANN refuses the pair.
SIM_API aclDataType promote(aclDataType a, aclDataType b);

// The type of a tensor with a scalar: the scalar's category matters only where it is the higher
// one.
SIM_API aclDataType promote_scalar(aclDataType tensor, aclDataType scalar);

// What functions of real numbers make of integers and bool: float32.
SIM_API aclDataType floating(aclDataType d);

// Whether a result of one type may be written to an output of another.
SIM_API bool converts(aclDataType from, aclDataType to);

// ---- elements that C++ has no type for ----------------------------------------------------------

struct half {
  uint16_t bits;
};
struct bfloat {
  uint16_t bits;
};

// One byte; whatever is not 0 is true, also what a C++ bool must not hold.
struct truth {
  uint8_t byte;
};

SIM_API float to_float(half h);
SIM_API half to_half(float value);  // to nearest, ties to even

inline float to_float(bfloat b) {
  const uint32_t wide = uint32_t{b.bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

inline bfloat to_bfloat(float value) {
  uint32_t wide;
  std::memcpy(&wide, &value, sizeof wide);
  if ((wide & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>((wide >> 16) | 0x40)};
  return {static_cast<uint16_t>((wide + 0x7fffu + ((wide >> 16) & 1)) >> 16)};
}

// ---- elements as C++ numbers --------------------------------------------------------------------

// Converts between element and number types; what is out of range wraps, or is cut towards zero.
template <class To, class From>
To convert(From v) {
  using C64t = std::complex<float>;
  using C128t = std::complex<double>;
  if constexpr (std::is_same_v<From, truth>) {
    if constexpr (std::is_same_v<To, truth>) return v;
    else return convert<To>(static_cast<int64_t>(v.byte != 0));
  } else if constexpr (std::is_same_v<To, truth>) {
    return {static_cast<uint8_t>(convert<bool>(v))};
  } else if constexpr (std::is_same_v<From, half> || std::is_same_v<From, bfloat>) {
    if constexpr (std::is_same_v<To, From>) return v;
    else return convert<To>(to_float(v));
  } else if constexpr (std::is_same_v<To, half>) {
    return to_half(convert<float>(v));
  } else if constexpr (std::is_same_v<To, bfloat>) {
    return to_bfloat(convert<float>(v));
  } else if constexpr (std::is_same_v<From, C64t> || std::is_same_v<From, C128t>) {
    if constexpr (std::is_same_v<To, C64t> || std::is_same_v<To, C128t>) return To(v);
    else if constexpr (std::is_same_v<To, bool>) return v != From{};
    else return convert<To>(v.real());
  } else if constexpr (std::is_same_v<To, C64t> || std::is_same_v<To, C128t>) {
    return To(static_cast<typename To::value_type>(v));
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != From{};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // A cast of what does not fit is undefined in C++; saturate as int64 and wrap from there.
    if (v != v) return 0;
    const auto wide = static_cast<long double>(v);
    if constexpr (std::is_same_v<To, uint64_t>) {
      if (wide >= 18446744073709551615.0L) return UINT64_MAX;
      if (wide > 9223372036854775807.0L) return static_cast<uint64_t>(wide);
    }
    if (wide >= 9223372036854775807.0L) return static_cast<To>(INT64_MAX);
    if (wide <= -9223372036854775808.0L) return static_cast<To>(INT64_MIN);
    return static_cast<To>(static_cast<int64_t>(v));
  } else {
    return static_cast<To>(v);
  }
}

// Calls f with a value of the C++ type in which elements of a dtype are stored.
template <class F>
void with_storage(aclDataType d, F &&f) {
  switch (d) {
    case ACL_FLOAT: return f(float{});
    case ACL_FLOAT16: return f(half{});
    case ACL_BF16: return f(bfloat{});
    case ACL_DOUBLE: return f(double{});
    case ACL_INT8: return f(int8_t{});
    case ACL_INT16: return f(int16_t{});
    case ACL_INT32: return f(int32_t{});
    case ACL_INT64: return f(int64_t{});
    case ACL_UINT8: return f(uint8_t{});
    case ACL_UINT16: return f(uint16_t{});
    case ACL_UINT32: return f(uint32_t{});
    case ACL_UINT64: return f(uint64_t{});
    case ACL_BOOL: return f(truth{});
    case ACL_COMPLEX64: return f(std::complex<float>{});
    case ACL_COMPLEX128: return f(std::complex<double>{});
    default: return;  // phase one has refused it
  }
}

// The kinds of numbers that arithmetic is done in.
enum Numbers : unsigned { REALS = 1, WHOLE = 2, COMPLEXES = 4, ALL_NUMBERS = 7 };

// Calls f with a number of the type in which elements of a dtype are computed: float for the
// halves, int64 for integers and bool. `Kinds` leaves out what f cannot be compiled for.
template <unsigned Kinds, class F>
void with_number(aclDataType d, F &&f) {
  if constexpr ((Kinds & REALS) != 0) {
    if (d == ACL_DOUBLE) return f(double{});
    if (has(FLT3, d)) return f(float{});
  }
  if constexpr ((Kinds & WHOLE) != 0) {
    if (d == ACL_UINT64) return f(uint64_t{});
    if (has(INTEGRAL | BOOL, d)) return f(int64_t{});
  }
  if constexpr ((Kinds & COMPLEXES) != 0) {
    if (d == ACL_COMPLEX64) return f(std::complex<float>{});
    if (d == ACL_COMPLEX128) return f(std::complex<double>{});
  }
}

}  // namespace sim
