// Kernels with AVX-512's bf16 products. In convolutions one product takes a pair of input channels for
// sixteen output channels (REQUIRES: an even number of channels); in weight gradients, a pair of neighbouring
// voxels of a row.
#include <immintrin.h>

#include "net/backends/convolution/finish_avx512_bf16.h"
#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/sizes.h"
#include "net/backends/convolution/volume_rows.h"
#include "net/backends/convolution/weight_rows.h"

namespace voxswap::net::convolution {

namespace {

// Interleaves the lanes of two voxels.
inline __m512i pairs(__m256i a, __m256i b) {
  constexpr __mmask16 all = 0xffff;
  const __m512i low = _mm512_maskz_cvtepu16_epi32(all, a),
                high = _mm512_maskz_slli_epi32(all, _mm512_maskz_cvtepu16_epi32(all, b), 16);
  return _mm512_or_si512(low, high);
}

// For each channel, its values at voxels a and b as a pair.
template <int P>
inline __attribute__((always_inline)) void pack_pairs(std::uint32_t* to, const Bf16* a, const Bf16* b,
                                                      std::int64_t channels) {
  if (P == 16 && channels >= 16) {
    _mm512_storeu_si512(to, pairs(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a)),
                                  _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b))));
  } else if (P == 8 && channels >= 8) {
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a)),
                  high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_unpacklo_epi16(low, high));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to) + 1, _mm_unpackhi_epi16(low, high));
  } else if (P == 4 && channels >= 4) {
    const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(a)),
                  high = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(b));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_unpacklo_epi16(low, high));
  } else {
    for (int i = 0; i < P; ++i)
      to[i] = i < channels ? a[i].bits | static_cast<std::uint32_t>(b[i].bits) << 16 : 0;
  }
}

struct Avx512Bf16 {
  using Element = Bf16;
  using Packed = std::uint32_t;
  using Sum = __m512;
  using Factor = __m512bh;
  static constexpr int lanes = 16, registers = 32, sums = 24, step = 2, word = 4;

  static inline __m512bh load(const std::uint32_t* from) {
    return reinterpret_cast<__m512bh>(_mm512_loadu_si512(from));
  }
  static inline __m512bh spread(const char* x) {
    int pair;
    __builtin_memcpy(&pair, x, sizeof pair);
    return reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
  }
  static inline __m512 multiply_add(__m512 sum, __m512bh factor, __m512bh x) {
    return _mm512_dpbf16_ps(sum, factor, x);
  }
  static inline void store(float* to, __m512 sum) { _mm512_storeu_ps(to, sum); }
  static inline __mmask16 mask(std::int64_t count) { return static_cast<__mmask16>((1u << count) - 1); }
  static inline void finish(Bf16* y, const float* sums, const float* bias, const Bf16* start,
                            __mmask16 mask) {
    finish_by_avx512_bf16(y, sums, bias, start, mask);
  }

  // For weight gradients.
  static inline Factor load(const Bf16* dy, std::int64_t voxel, __mmask16 mask) {
    return reinterpret_cast<__m512bh>(
        pairs(_mm256_maskz_loadu_epi16(mask, dy), _mm256_maskz_loadu_epi16(mask, dy + voxel)));
  }
  static inline Factor load_last(const Bf16* dy, __mmask16 mask) {
    return reinterpret_cast<__m512bh>(pairs(_mm256_maskz_loadu_epi16(mask, dy), _mm256_setzero_si256()));
  }
  static inline __m512bh spread(const std::uint32_t* x) {
    return reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(*x)));
  }
  static inline void add(float* to, Sum sum) {
    _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), sum));
  }

  // The second voxel of a pair is the one for the next voxel of dy.
  template <int P>
  static void pack(std::uint32_t* to, const Bf16* x, const PackedRow& row) {
    static constexpr Bf16 no_voxel[packed_channels] = {};
    over_places(
        row, [=](std::int64_t place, std::int64_t voxel, bool here, bool there)
                 __attribute__((always_inline)) {
                   const Bf16* const from = x + voxel * row.voxel;
                   fetch_beyond(from);
                   pack_pairs<P>(to + place * P, here ? from : no_voxel,
                                 there ? from + row.second * row.voxel : no_voxel, row.channels);
                 });
  }
};

}  // namespace

const VolumeMaker volume_maker_avx512_bf16 = maker_of<Avx512Bf16>;
const AddWeightUnit add_weight_unit_avx512_bf16 = add_weight_unit<Avx512Bf16>;

}  // namespace voxswap::net::convolution
