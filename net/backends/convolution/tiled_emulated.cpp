// Convolutions and weight gradients with emulated tiles: the same results as AMX, slowly, on any processor.
#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/sizes.h"
#include "net/backends/convolution/tiled_rows.h"
#include "net/backends/convolution/tiled_weights.h"
#include "net/backends/convolution/tiles_emulated.h"

namespace voxswap::net::convolution {

namespace {

struct Emulated {
  using Tiles = EmulatedTiles;

  static inline void finish(Bf16* y, const float* sums, const float* bias, const Bf16* start,
                            std::int64_t count) {
    finish_lanes<tile_lanes>(y, sums, bias, start, count);
  }

  static void transpose(Bf16* to, std::int64_t channel, const Bf16* const (&from)[tile_numbers],
                        std::int64_t channels) {
    for (std::int64_t i = 0; i < channels; ++i)
      for (int voxel = 0; voxel < tile_numbers; ++voxel) to[i * channel + voxel] = from[voxel][i];
  }
  static void pair(Bf16* to, const Bf16* a, const Bf16* b, std::int64_t channels) {
    for (int i = 0; i < tile_lanes; ++i) {
      to[2 * i] = i < channels ? a[i] : Bf16{0};
      to[2 * i + 1] = i < channels ? b[i] : Bf16{0};
    }
  }
};

}  // namespace

const MakeTiledPlanes make_tiled_planes_emulated = make_tiled_planes<Emulated>;
const AddWeightUnit add_weight_unit_emulated_amx = add_tiled_weight_unit<Emulated>;

}  // namespace voxswap::net::convolution
