// Convolutions with emulated tiles: the same results as AMX, slowly, on any processor.
#include "net/backends/convolution/round.h"
#include "net/backends/convolution/tiled_rows.h"
#include "net/backends/convolution/tiled_units.h"
#include "net/backends/convolution/tiles_emulated.h"

namespace voxswap::net::convolution {

namespace {

struct Emulated {
  using Tiles = EmulatedTiles;

  static inline void finish(Bf16* y, const float* sums, const float* bias, const Bf16* start,
                            std::int64_t count) {
    finish_lanes<tile_lanes>(y, sums, bias, start, count);
  }
};

}  // namespace

const MakeTiledPlanes make_tiled_planes_emulated = make_tiled_planes<Emulated>;

}  // namespace voxswap::net::convolution
