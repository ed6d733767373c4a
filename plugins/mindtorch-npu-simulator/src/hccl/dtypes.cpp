#include "hccl/dtypes.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/core.h"
#include "nnopbase/dtypes.h"

namespace sim::hccl {
namespace {

constexpr uint32_t one(int32_t dtype) { return uint32_t{1} << dtype; }

enum class Generation { FIRST, SECOND, INFERENCE };

// The plain name "Ascend910B" is one of the 910A generation.
Generation generation() {
  const std::string &soc = processor_name();
  const auto starts = [&soc](const char *prefix) { return soc.rfind(prefix, 0) == 0; };
  if (starts("Ascend310")) return Generation::INFERENCE;
  const bool first = soc == "Ascend910B" || starts("Ascend910A") || starts("Ascend910Pr") ||
                     starts("Ascend910Premium");
  return first ? Generation::FIRST : Generation::SECOND;
}

uint32_t reduced() {
  constexpr uint32_t COMMON = one(HCCL_INT8) | one(HCCL_INT32) | one(HCCL_FP16) | one(HCCL_FP32);
  switch (generation()) {
    case Generation::FIRST:
      return COMMON | one(HCCL_INT64);
    case Generation::INFERENCE:
      return COMMON | one(HCCL_INT16);
    default:
      return COMMON | one(HCCL_INT64) | one(HCCL_INT16) | one(HCCL_BFP16);
  }
}

template <class T>
constexpr bool HALF = std::is_same_v<T, half> || std::is_same_v<T, bfloat>;

template <class T>
T combined(int32_t op, T a, T b) {
  if constexpr (HALF<T>) {
    return convert<T>(combined(op, to_float(a), to_float(b)));
  } else if constexpr (std::is_integral_v<T>) {  // wraps, which signed arithmetic may not
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    if (op == HCCL_SUM) return static_cast<T>(x + y);
    if (op == HCCL_PROD) return static_cast<T>(x * y);
    return op == HCCL_MAX ? std::max(a, b) : std::min(a, b);
  } else {
    if (op == HCCL_SUM) return a + b;
    if (op == HCCL_PROD) return a * b;
    if (a != a) return a;  // not a number stays that
    if (b != b) return b;
    return op == HCCL_MAX ? std::max(a, b) : std::min(a, b);
  }
}

template <class T>
void fold(int32_t op, char *into, const char *other, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    T a, b;  // windows of other processes need not be aligned
    std::memcpy(&a, into + i * sizeof(T), sizeof(T));
    std::memcpy(&b, other + i * sizeof(T), sizeof(T));
    a = combined(op, a, b);
    std::memcpy(into + i * sizeof(T), &a, sizeof(T));
  }
}

}  // namespace

size_t item_size(int32_t dtype) {
  constexpr size_t SIZES[] = {1, 2, 4, 2, 4, 8, 8, 1, 2, 4, 8, 2};
  return dtype >= 0 && dtype <= HCCL_BFP16 ? SIZES[dtype] : 0;
}

std::string name_of_dtype(int32_t dtype) {
  constexpr const char *NAMES[] = {"INT8",   "INT16", "INT32",  "FP16",   "FP32", "INT64",
                                   "UINT64", "UINT8", "UINT16", "UINT32", "FP64", "BFP16"};
  return item_size(dtype) > 0 ? NAMES[dtype] : "type " + std::to_string(dtype);
}

std::string name_of_reduction(int32_t op) {
  constexpr const char *NAMES[] = {"SUM", "PROD", "MAX", "MIN"};
  return op >= HCCL_SUM && op <= HCCL_MIN ? NAMES[op] : "reduction " + std::to_string(op);
}

std::string cannot_move(int32_t dtype) {
  if (item_size(dtype) == 0) return name_of_dtype(dtype) + " is no type that is sent";
  if (dtype == HCCL_BFP16 && generation() != Generation::SECOND) {
    return processor_name() + " has no BFP16";
  }
  return "";
}

std::string cannot_reduce(int32_t dtype, int32_t op) {
  if (op < HCCL_SUM || op > HCCL_MIN) return "there is no " + name_of_reduction(op);
  if (item_size(dtype) == 0 || (reduced() & one(dtype)) == 0) {
    return processor_name() + " does not reduce " + name_of_dtype(dtype);
  }
  const bool inference = generation() == Generation::INFERENCE;
  const bool refused = (dtype == HCCL_INT16 && (op == HCCL_PROD || (inference && op != HCCL_SUM))) ||
                       (dtype == HCCL_BFP16 && op == HCCL_PROD);
  if (!refused) return "";
  return processor_name() + " has no " + name_of_reduction(op) + " of " + name_of_dtype(dtype);
}

void reduce(int32_t dtype, int32_t op, char *into, const char *other, uint64_t count) {
  switch (dtype) {
    case HCCL_INT8:
      return fold<int8_t>(op, into, other, count);
    case HCCL_INT16:
      return fold<int16_t>(op, into, other, count);
    case HCCL_INT32:
      return fold<int32_t>(op, into, other, count);
    case HCCL_INT64:
      return fold<int64_t>(op, into, other, count);
    case HCCL_FP16:
      return fold<half>(op, into, other, count);
    case HCCL_BFP16:
      return fold<bfloat>(op, into, other, count);
    case HCCL_FP32:
      return fold<float>(op, into, other, count);
    default:
      return;  // `cannot_reduce` has refused it
  }
}

}  // namespace sim::hccl
