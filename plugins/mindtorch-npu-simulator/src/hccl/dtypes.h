// What HCCL moves and reduces, by processor.
#pragma once

#include <string>

#include "hccl/types.h"

namespace sim::hccl {

// Bytes of an element; 0 for numbers that name no type.
size_t item_size(int32_t dtype);
std::string name_of_dtype(int32_t dtype);
std::string name_of_reduction(int32_t op);

// Why the processor does not move elements of a type, or reduce them in a way; empty if it does.
std::string cannot_move(int32_t dtype);
std::string cannot_reduce(int32_t dtype, int32_t op);

// into[i] = into[i] OP other[i], in the type itself.
void reduce(int32_t dtype, int32_t op, char *into, const char *other, uint64_t count);

}  // namespace sim::hccl
