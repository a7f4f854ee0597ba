// Convolved volumes with AMX.
#include <immintrin.h>

#include "net/backends/convolution/tiled_rows.h"
#include "net/backends/convolution/tiled_units.h"
#include "net/backends/convolution/tiles_amx.h"

namespace voxswap::net::convolution {

namespace {

struct Amx {
  using Tiles = AmxTiles;

  static inline void finish(Bf16* y, const float* sums, const float* bias, const Bf16* start,
                            std::int64_t count) {
    const auto mask = static_cast<__mmask16>((1u << count) - 1);
    __m512 values = _mm512_add_ps(_mm512_loadu_ps(sums), _mm512_loadu_ps(bias));
    if (start != nullptr) {
      const __m512i words = _mm512_maskz_cvtepu16_epi32(mask, _mm256_maskz_loadu_epi16(mask, start));
      values = _mm512_add_ps(values, _mm512_castsi512_ps(_mm512_maskz_slli_epi32(mask, words, 16)));
    }
    _mm256_mask_storeu_epi16(y, mask, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(values)));
  }
};

}  // namespace

const MakeTiledPlanes make_tiled_planes_amx = make_tiled_planes<Amx>;

}  // namespace voxswap::net::convolution
