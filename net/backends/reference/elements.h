// Element types in memory: read as double, written rounded to nearest, ties to even. Backends and tests
// convert bf16 and f16 with it.
#pragma once

#include <cstdint>

#include "net/graph/graph.h"

namespace voxswap::net {

double bf16_to_double(std::uint16_t bits);
double f16_to_double(std::uint16_t bits);

// Rounded once, directly from double. Overflow gives infinity. NaN stays NaN.
std::uint16_t double_to_bf16(double value);
std::uint16_t double_to_f16(double value);

// `count` elements of `type` at `from`, as doubles (u8 as 0 to 255).
void load_elements(double* to, const void* from, ElementType type, std::int64_t count);

// The inverse, rounded to `type` (u8: also clamped to 0 to 255).
void store_elements(void* to, const double* from, ElementType type, std::int64_t count);

}  // namespace voxswap::net
