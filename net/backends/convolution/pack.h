// Packs rows of x as floats, with zeros outside the volume and P channels per voxel, iterates over such rows,
// and rounds sums. Included by the sources of the instruction sets, and where weights are rounded.
#pragma once

#include <cstdint>

namespace voxswap::net::convolution {

namespace {

struct Bf16 {  // the upper half of a float
  std::uint16_t bits;
};

inline float widened(float value) {
  return value;
}
inline float widened(Bf16 value) {
  const std::uint32_t bits = static_cast<std::uint32_t>(value.bits) << 16;
  float result;
  __builtin_memcpy(&result, &bits, sizeof result);
  return result;
}

// Segments are short and jump from row to row before the hardware prefetcher detects sequential reads, so
// memory ahead is prefetched here.
inline __attribute__((always_inline)) void fetch_beyond(const void* data) {
  constexpr int distance = 4096;
  __builtin_prefetch(static_cast<const char*>(data) + distance);
}

// Number of the remaining channels that a block takes, and the positions that each voxel has for them when
// packed.
struct ChannelBlock {
  std::int64_t channels, places;
};
constexpr ChannelBlock next_block(std::int64_t left) {
  if (left >= 16) return {16, 16};
  if (left > 8) return {8, 8};
  return {left, left > 4 ? 8 : left > 2 ? 4 : left};
}

// The part of a row to pack: `count` positions, voxels first, first + spacing, … of `side`. Products of pairs
// also take the voxel `second` further, if a voxel of dy reads it: at most `last` after the first.
struct PackedRow {
  std::int64_t first, side, count, spacing, second, last;
  std::int64_t voxel, channels;  // elements per voxel; channels to pack
};

// Calls at(position, voxel, is_there, second_is_there). The last two are true for most of a row, and then
// compile-time constants.
template <class At>
inline __attribute__((always_inline)) void over_places(const PackedRow& row, const At& at) {
  const std::int64_t before = row.first < 0 ? (-row.first + row.spacing - 1) / row.spacing : 0;
  const std::int64_t reach = row.last < row.side - 1 - row.first ? row.last : row.side - 1 - row.first;
  const std::int64_t inside = reach < row.second ? 0 : (reach - row.second) / row.spacing + 1;
  const std::int64_t begin = before < row.count ? before : row.count, end = inside < begin       ? begin
                                                                            : inside < row.count ? inside
                                                                                                 : row.count;
  const auto edge = [&](std::int64_t place) __attribute__((always_inline)) {
    const std::int64_t from = place * row.spacing, voxel = row.first + from, next = voxel + row.second;
    at(place, voxel, voxel >= 0 && voxel < row.side,
       next >= 0 && next < row.side && from + row.second <= row.last);
  };
  for (std::int64_t place = 0; place < begin; ++place) edge(place);
  for (std::int64_t place = begin; place < end; ++place)
    at(place, row.first + place * row.spacing, true, true);
  for (std::int64_t place = end; place < row.count; ++place) edge(place);
}

template <int P, class T>
inline void pack_floats(float* to, const T* x, const PackedRow& row) {
  const bool all = row.channels >= P;
  over_places(
      row, [=](std::int64_t place, std::int64_t voxel, bool inside, bool) __attribute__((always_inline)) {
        const T* const from = x + voxel * row.voxel;
        fetch_beyond(from);
        float* const values = to + place * P;
        if (inside && all) {
          for (int i = 0; i < P; ++i) values[i] = widened(from[i]);
        } else {
          for (int i = 0; i < P; ++i) values[i] = inside && i < row.channels ? widened(from[i]) : 0.0F;
        }
      });
}

}  // namespace

// Rounds sums to the type of the volume, in plain C++ that the compiler vectorises.

namespace {

inline void round_to(float* to, float value) {
  *to = value;
}
// Rounds to the nearest bf16, ties to even; NaN stays NaN.
inline void round_to(Bf16* to, float value) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  const std::uint32_t rounded = (bits + ((bits >> 16 & 1u) + 0x7fffu)) >> 16, quiet = bits >> 16 | 0x40u;
  to->bits = static_cast<std::uint16_t>(value != value ? quiet : rounded);
}

// y = sums + bias (+ start), for `count` channels: `lanes`, or fewer at the end.
template <int lanes, class T>
inline void finish_lanes(T* y, const float* sums, const float* bias, const T* start, std::int64_t count) {
  if (count == lanes && start == nullptr) {
    for (int i = 0; i < lanes; ++i) round_to(y + i, sums[i] + bias[i]);
  } else if (start == nullptr) {
    for (std::int64_t i = 0; i < count; ++i) round_to(y + i, sums[i] + bias[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) round_to(y + i, sums[i] + bias[i] + widened(start[i]));
  }
}

}  // namespace

}  // namespace voxswap::net::convolution
