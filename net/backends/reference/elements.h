// Element types as they lie in memory, read into double and written back rounded to the nearest value (ties
// to even). The one place that knows the bits of bf16 and f16; backends and tests convert with it.
#pragma once

#include <cstdint>

#include "net/graph/graph.h"

namespace voxswap::net {

double bf16_to_double(std::uint16_t bits);
double f16_to_double(std::uint16_t bits);

// Rounded once, straight from the double. Beyond the largest finite value: infinity. NaN stays NaN.
std::uint16_t double_to_bf16(double value);
std::uint16_t double_to_f16(double value);

// `count` elements of `type` at `from`, as doubles (u8 as 0 to 255).
void load_elements(double* to, const void* from, ElementType type, std::int64_t count);

// The other way round, rounded to `type` (u8: clamped to 0 to 255 as well).
void store_elements(void* to, const double* from, ElementType type, std::int64_t count);

}  // namespace voxswap::net
