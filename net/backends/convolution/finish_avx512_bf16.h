// Rounds sums to voxels of bf16 with AVX-512. Included only by sources compiled for instruction sets that
// have it.
#pragma once

#include <immintrin.h>

#include "net/backends/convolution/pack.h"

namespace voxswap::net::convolution {
namespace {

// For the channels in the mask: sums + bias + start (if not null), rounded.
inline void finish_by_avx512_bf16(Bf16* y, const float* sums, const float* bias, const Bf16* start,
                                  __mmask16 mask) {
  __m512 values = _mm512_add_ps(_mm512_loadu_ps(sums), _mm512_loadu_ps(bias));
  if (start != nullptr) {
    const __m512i words = _mm512_maskz_cvtepu16_epi32(mask, _mm256_maskz_loadu_epi16(mask, start));
    values = _mm512_add_ps(values, _mm512_castsi512_ps(_mm512_maskz_slli_epi32(mask, words, 16)));
  }
  _mm256_mask_storeu_epi16(y, mask, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(values)));
}

}  // namespace
}  // namespace voxswap::net::convolution
