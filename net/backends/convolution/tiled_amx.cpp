// Convolutions and weight gradients with AMX.
#include <immintrin.h>

#include "net/backends/convolution/finish_avx512_bf16.h"
#include "net/backends/convolution/sizes.h"
#include "net/backends/convolution/tiled_rows.h"
#include "net/backends/convolution/tiled_weights.h"
#include "net/backends/convolution/tiles_amx.h"

namespace voxswap::net::convolution {

namespace {

constexpr int eight = 8;  // channels of a quarter of a register

struct Amx {
  using Tiles = AmxTiles;

  static inline void finish(Bf16* y, const float* sums, const float* bias, const Bf16* start,
                            std::int64_t count) {
    finish_by_avx512_bf16(y, sums, bias, start, static_cast<__mmask16>((1u << count) - 1));
  }

  // Transposes eight voxels' channels in each quarter of the registers: interleaving the first half of the
  // rows with the second half three times moves the bits of the row number to the position.
  static inline void transpose_eight(Bf16* to, std::int64_t channel, const Bf16* const (&from)[tile_numbers],
                                     std::int64_t first, std::int64_t channels) {
    const auto mask = static_cast<__mmask8>((1u << (channels < eight ? channels : eight)) - 1);
    __m512i rows[eight];
    for (int i = 0; i < eight; ++i) {
      rows[i] = _mm512_castsi128_si512(_mm_maskz_loadu_epi16(mask, from[i] + first));
      rows[i] = _mm512_inserti32x4(rows[i], _mm_maskz_loadu_epi16(mask, from[eight + i] + first), 1);
      rows[i] = _mm512_inserti32x4(rows[i], _mm_maskz_loadu_epi16(mask, from[2 * eight + i] + first), 2);
      rows[i] = _mm512_inserti32x4(rows[i], _mm_maskz_loadu_epi16(mask, from[3 * eight + i] + first), 3);
    }
    for (int round = 0; round < 3; ++round) {
      __m512i mixed[eight];
      for (int i = 0; i < eight / 2; ++i) {
        mixed[2 * i] = _mm512_unpacklo_epi16(rows[i], rows[eight / 2 + i]);
        mixed[2 * i + 1] = _mm512_unpackhi_epi16(rows[i], rows[eight / 2 + i]);
      }
      for (int i = 0; i < eight; ++i) rows[i] = mixed[i];
    }
    for (int i = 0; i < eight; ++i)
      if (i < channels) _mm512_storeu_si512(to + i * channel, rows[i]);
  }
  static inline void transpose(Bf16* to, std::int64_t channel, const Bf16* const (&from)[tile_numbers],
                               std::int64_t channels) {
    transpose_eight(to, channel, from, 0, channels);
    if (channels > eight) transpose_eight(to + eight * channel, channel, from, eight, channels - eight);
  }

  static inline void pair(Bf16* to, const Bf16* a, const Bf16* b, std::int64_t channels) {
    const auto mask = static_cast<__mmask16>((1u << channels) - 1);
    constexpr __mmask16 all = 0xffff;
    const __m512i low = _mm512_maskz_cvtepu16_epi32(all, _mm256_maskz_loadu_epi16(mask, a)),
                  high = _mm512_maskz_cvtepu16_epi32(all, _mm256_maskz_loadu_epi16(mask, b));
    _mm512_storeu_si512(to, _mm512_or_si512(low, _mm512_maskz_slli_epi32(all, high, 16)));
  }
};

}  // namespace

const MakeTiledPlanes make_tiled_planes_amx = make_tiled_planes<Amx>;
const AddWeightUnit add_weight_unit_amx = add_tiled_weight_unit<Amx>;

}  // namespace voxswap::net::convolution
