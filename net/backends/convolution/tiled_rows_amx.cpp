// Convolutions with AMX.
#include "net/backends/convolution/finish_avx512_bf16.h"
#include "net/backends/convolution/tiled_rows.h"
#include "net/backends/convolution/tiled_units.h"
#include "net/backends/convolution/tiles_amx.h"

namespace voxswap::net::convolution {

namespace {

struct Amx {
  using Tiles = AmxTiles;

  static inline void finish(Bf16* y, const float* sums, const float* bias, const Bf16* start,
                            std::int64_t count) {
    finish_by_avx512_bf16(y, sums, bias, start, static_cast<__mmask16>((1u << count) - 1));
  }
};

}  // namespace

const MakeTiledPlanes make_tiled_planes_amx = make_tiled_planes<Amx>;

}  // namespace voxswap::net::convolution
