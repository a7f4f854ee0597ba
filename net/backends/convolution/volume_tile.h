// A tile of a convolution: sums for some voxels of a row and one or two registers of output channels stay in
// registers while the loops run over all taps and channels. Each number of x is used for every voxel of the
// tile that reads it, so a row of three taps needs little more than one load for three products. x is read in
// place. Along a row, only the first and the last voxel that a tile reads can be outside.
//
// An arithmetic A provides: Element (of volumes), Sum and Factor (registers), lanes (output channels per
// register), registers (of the processor), sums (registers for sums, at most), step and word (channels and
// bytes of x per product), load, spread, multiply_add, store, mask and finish.
//
// The file also has helpers shared with convolutions by tile products and by minimal filtering: the input
// positions of a voxel, and the report of finished rows. Included only by the sources of the instruction
// sets.
#pragma once

#include "net/backends/convolution/sizes.h"

namespace voxswap::net::convolution {

namespace {

// A row of taps: the first voxel of a row of x, and the position of the weights of its first channel.
struct Segment {
  const char* x;
  std::int64_t weights;  // offset in words from the tile's weights
  bool is_new;           // no row of y before this one read the row
  const char* ahead;     // memory to prefetch meanwhile
};

struct Tile {
  const Segment* segments;
  std::int64_t count;
  const std::uint32_t* weights = nullptr;
  std::int64_t words = 1;   // per voxel of x
  std::int64_t voxel = 4;   // bytes between voxels
  std::int64_t offset = 0;  // bytes from the first voxel of the row to the first one read
  bool first_is_there = true, last_is_there = true;
  float* sums = nullptr;  // [voxels][registers of lanes]
};

alignas(64) constexpr char zeros[4 * most_inputs] = {};

// Distances between voxels in units that x86 addressing supports, so that a few registers reach all voxels of
// a tile. Opaque to the compiler, which would otherwise keep one address per voxel, in memory.
struct Distances {
  std::int64_t one, three, five, seven, nine;

  explicit inline __attribute__((always_inline)) Distances(std::int64_t voxel)
      : one(voxel), three(3 * voxel), five(5 * voxel), seven(7 * voxel), nine(9 * voxel) {
    asm("" : "+r"(one), "+r"(three), "+r"(five), "+r"(seven), "+r"(nine));
  }
  // Address of voxel 0 to 8.
  inline __attribute__((always_inline)) const char* at(const char* x, int place) const {
    switch (place) {
      case 0:
        return x;
      case 1:
      case 2:
      case 4:
      case 8:
        return x + place * one;
      case 3:
      case 6:
        return x + place / 3 * three;
      case 5:
        return x + five;
    }
    return x + seven;
  }
};

// The voxel of a tile, if any, that reads a position under a tap. Each voxel is S positions further, or, if S
// is `doubled`, there are two voxels per position; with three taps they begin one earlier.
constexpr int doubled = 0;
constexpr int voxel_at(int place, int tap, int s) {
  if (s == doubled) return 2 * place + tap - 1;
  return place < tap || (place - tap) % s != 0 ? -1 : (place - tap) / s;
}
constexpr int places_of(int voxels, int taps, int s) {
  return s == doubled ? voxels / 2 + 1 : (voxels - 1) * s + taps;
}

// K taps, R registers of lanes, V voxels.
template <class A, int K, int S, int R, int V>
__attribute__((noinline)) void multiply_tile(const Tile& t) {
  constexpr int places = places_of(V, K, S), together = 9;
  const Distances distances(t.voxel);
  typename A::Sum sums[V][R] = {};
  for (const Segment* s = t.segments; s != t.segments + t.count; ++s) {
    const char* x = s->x + t.offset;
    const char* first = t.first_is_there ? x : zeros;
    const char* last = t.last_is_there ? x + (places - 1) * t.voxel : zeros;
    const std::uint32_t* weights = t.weights + s->weights;
    const char* ahead = s->ahead;
    for (const char* const end = x + t.words * A::word; x != end;
         x += A::word, first += A::word, last += A::word, weights += K * R * A::lanes) {
      __builtin_prefetch(ahead);
      __builtin_prefetch(ahead + 64);
      ahead += (S == doubled ? V / 2 : V * S) * A::word;
      typename A::Factor factors[K][R];
#pragma GCC unroll 8
      for (int k = 0; k < K; ++k) {
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) factors[k][r] = A::load(weights + (k * R + r) * A::lanes);
      }
      const char* nine = x;
#pragma GCC unroll 64
      for (int place = 0; place < places; ++place) {
        const char* const at = K > 1 && place == 0            ? first
                               : K > 1 && place == places - 1 ? last
                                                              : distances.at(nine, place % together);
        const auto spread = A::spread(at);
        if (place % together == together - 1) {
          nine += distances.nine;
          asm("" : "+r"(nine));
        }
#pragma GCC unroll 8
        for (int k = 0; k < K; ++k) {
          const int v = voxel_at(place, k, S);
          if (v < 0 || v >= V) continue;
#pragma GCC unroll 8
          for (int r = 0; r < R; ++r) sums[v][r] = A::multiply_add(sums[v][r], factors[k][r], spread);
        }
      }
    }
  }
#pragma GCC unroll 64
  for (int v = 0; v < V; ++v) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) A::store(t.sums + (v * R + r) * A::lanes, sums[v][r]);
  }
}

template <class A>
struct TileKind {
  void (*multiply)(const Tile&);
  std::int64_t voxels, places;  // made and read by a tile
  std::int64_t cost;            // minimal processor cycles for two words
};
constexpr int most_kinds = 7;
template <class A>
struct TileKinds {
  TileKind<A> kind[most_kinds];  // the longest first
  int count;
};

template <class A, int K, int S, int R, int V>
constexpr TileKind<A> kind_of() {
  constexpr int busy = 8, work = V * R > busy ? V * R : busy;  // independent sums needed to hide the latency
  return {multiply_tile<A, K, S, R, V>, V, places_of(V, K, S), K * work + 2 * K};
}
// Number of voxels whose sums fit in registers together with the factors and one number of x.
template <class A, int K, int R>
constexpr int most_voxels() {
  constexpr int left = (A::registers - 1 - K * R) / R, most = A::sums / R;
  return left < most ? left : most;
}
// Rows of 2^n voxels end with two thirds of a tile. Rows of 2^n + 1, as in upsampled convolutions of two
// taps, use tiles with one more voxel.
template <class A, int K, int S, int R>
constexpr TileKinds<A> kinds_of() {
  constexpr int most = most_voxels<A, K, R>(), most_part = most * 2 / 3, half = most / 2, few = most / 4;
  if constexpr (S == doubled) {
    constexpr int part = most_part / 2 * 2, shorter = half / 2 * 2, pairs = few / 2 * 2;
    return {{kind_of<A, K, S, R, most / 2 * 2>(), kind_of<A, K, S, R, part>(), kind_of<A, K, S, R, shorter>(),
             kind_of < A, K, S, R, pairs < 2 ? 2 : pairs > (), kind_of<A, K, S, R, 2>()},
            5};
  } else if constexpr (K == 2 && S == 1 && most > 10) {
    return {{kind_of<A, K, S, R, most + 1>(), kind_of<A, K, S, R, most>(), kind_of<A, K, S, R, most_part>(),
             kind_of<A, K, S, R, half + 1>(), kind_of<A, K, S, R, half>(), kind_of<A, K, S, R, few>(),
             kind_of<A, K, S, R, 1>()},
            7};
  } else if constexpr (few > 1) {
    return {{kind_of<A, K, S, R, most>(), kind_of<A, K, S, R, most_part>(), kind_of<A, K, S, R, half>(),
             kind_of<A, K, S, R, few>(), kind_of<A, K, S, R, 1>()},
            5};
  } else {
    return {{kind_of<A, K, S, R, most>(), kind_of<A, K, S, R, half>(), kind_of<A, K, S, R, 1>()}, 3};
  }
}
template <class A>
const TileKinds<A>& find_tiles(std::int64_t taps, std::int64_t advance, std::int64_t registers) {
  static constexpr TileKinds<A> table[3][2][2] = {
      {{kinds_of<A, 1, 1, 1>(), kinds_of<A, 1, 1, 2>()}, {kinds_of<A, 1, 2, 1>(), kinds_of<A, 1, 2, 2>()}},
      {{kinds_of<A, 2, 1, 1>(), kinds_of<A, 2, 1, 2>()}, {kinds_of<A, 2, 2, 1>(), kinds_of<A, 2, 2, 2>()}},
      {{kinds_of<A, 3, 1, 1>(), kinds_of<A, 3, 1, 2>()}, {kinds_of<A, 3, 2, 1>(), kinds_of<A, 3, 2, 2>()}}};
  static constexpr TileKinds<A> of_doubled[2] = {kinds_of<A, 3, doubled, 1>(), kinds_of<A, 3, doubled, 2>()};
  return advance == doubled ? of_doubled[registers - 1] : table[taps - 1][advance - 1][registers - 1];
}

// Selects the tiles that make a row of this many voxels at the lowest cost. Results do not depend on it.
template <class A>
class RowOfTiles {
 public:
  void set(const TileKinds<A>& kinds, std::int64_t voxels) {
    kinds_ = &kinds;
    std::int64_t cost[planned + 1] = {};
    for (std::int64_t left = 1; left <= planned; ++left)
      for (int i = kinds.count - 1; i >= 0; --i) {
        const TileKind<A>& kind = kinds.kind[i];
        if (kind.voxels > voxels) continue;
        const std::int64_t all = kind.cost + (left > kind.voxels ? cost[left - kind.voxels] : 0);
        if (i + 1 < kinds.count && all >= cost[left]) continue;
        cost[left] = all;
        best_[left] = i;
      }
  }
  // The next tile when `left` voxels of a row are left.
  const TileKind<A>& next(std::int64_t left) const { return kinds_->kind[left > planned ? 0 : best_[left]]; }

 private:
  static constexpr std::int64_t planned = 4 * most_tile_voxels;
  const TileKinds<A>* kinds_ = nullptr;
  int best_[planned + 1] = {};
};

// The input positions that an output voxel reads along one axis, in increasing order.
struct Reads {
  std::int64_t count = 0;
  std::int64_t tap[most_taps], from[most_taps];
};
inline Reads reads_of(const VolumeAxis& axis, bool gradient, std::int64_t made) {
  Reads reads;
  for (std::int64_t i = 0; i < axis.kernel; ++i) {
    const std::int64_t tap = gradient ? axis.kernel - 1 - i : i;
    const std::int64_t place = gradient ? made + axis.before - tap : made * axis.stride - axis.before + tap;
    const std::int64_t from = gradient ? place / axis.stride : place;
    if (place < 0 || (gradient && place % axis.stride != 0) || from >= axis.read) continue;
    reads.tap[reads.count] = tap;
    reads.from[reads.count++] = from;
  }
  return reads;
}

// A whole row is finished. If it is the last row of a part, the observer is called.
inline void notify_row(const VolumeSizes& s, const VolumeUnit& unit, std::int64_t plane, std::int64_t row) {
  if (unit.made == nullptr) return;
  const std::int64_t part = row / unit.part_rows, first = part * unit.part_rows, end = row + 1;
  if (end < first + unit.part_rows && end < s.height.made) return;
  unit.made->call(unit.made->context,
                  {plane, part, first, end - first, 0, s.width.made, unit.first_output, unit.outputs});
}

}  // namespace

}  // namespace voxswap::net::convolution
