// Kernels with AVX-512: sixteen lanes, in f32; bf16 is widened.
#include <immintrin.h>

#include "net/backends/convolution/filtered_rows.h"
#include "net/backends/convolution/filtered_weights.h"
#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/sizes.h"
#include "net/backends/convolution/volume_rows.h"
#include "net/backends/convolution/weight_rows.h"

namespace voxswap::net::convolution {

namespace {

constexpr __mmask16 all = 0xffff;

inline __m512 spread_of(const float* x) {
  return _mm512_set1_ps(*x);
}
inline __m512 spread_of(const Bf16* x) {
  const __m512i words = _mm512_set1_epi16(static_cast<short>(x->bits));
  return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(all, words, 16));
}
inline __m512 load_some(const float* from, __mmask16 mask) {
  return _mm512_maskz_loadu_ps(mask, from);
}
inline __m512 load_some(const Bf16* from, __mmask16 mask) {
  const __m512i words = _mm512_maskz_cvtepu16_epi32(mask, _mm256_maskz_loadu_epi16(mask, from));
  return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(mask, words, 16));
}
inline void store_some(float* to, __m512 values, __mmask16 mask) {
  _mm512_mask_storeu_ps(to, mask, values);
}
// Rounds to nearest, ties to even; NaN stays NaN.
inline void store_some(Bf16* to, __m512 values, __mmask16 mask) {
  const __m512i bits = _mm512_castps_si512(values), upper = _mm512_maskz_srli_epi32(all, bits, 16);
  const __m512i odd = _mm512_maskz_and_epi32(all, upper, _mm512_set1_epi32(1));
  const __m512i raised = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __m512i quiet = _mm512_maskz_or_epi32(all, upper, _mm512_set1_epi32(0x40));
  const __mmask16 unordered = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
  const __m512i rounded = _mm512_mask_mov_epi32(_mm512_maskz_srli_epi32(all, raised, 16), unordered, quiet);
  _mm256_mask_storeu_epi16(to, mask, _mm512_maskz_cvtepi32_epi16(all, rounded));
}

template <class T>
struct Avx512 {
  using Element = T;
  using Packed = float;
  using Sum = __m512;
  using Factor = __m512;
  static constexpr int lanes = 16, registers = 32, sums = 24, step = 1, word = sizeof(T);

  static inline __m512 load(const std::uint32_t* from) { return _mm512_loadu_ps(from); }
  static inline __m512 spread(const char* x) { return spread_of(reinterpret_cast<const T*>(x)); }
  static inline __m512 multiply_add(__m512 sum, __m512 factor, __m512 x) {
    return _mm512_fmadd_ps(factor, x, sum);
  }
  static inline void store(float* to, __m512 sum) { _mm512_storeu_ps(to, sum); }
  static inline __mmask16 mask(std::int64_t count) { return static_cast<__mmask16>((1u << count) - 1); }
  static inline void finish(T* y, const float* sums, const float* bias, const T* start, __mmask16 mask) {
    __m512 values = _mm512_add_ps(_mm512_loadu_ps(sums), _mm512_loadu_ps(bias));
    if (start != nullptr) values = _mm512_add_ps(values, load_some(start, mask));
    store_some(y, values, mask);
  }

  // For weight gradients.
  static inline Factor load(const T* dy, std::int64_t, __mmask16 mask) { return load_some(dy, mask); }
  static inline Factor load_last(const T* dy, __mmask16 mask) { return load_some(dy, mask); }
  static inline __m512 spread(const float* x) { return _mm512_set1_ps(*x); }
  static inline void add(float* to, Sum sum) {
    _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), sum));
  }
  template <int P>
  static void pack(float* to, const T* x, const PackedRow& row) {
    pack_floats<P>(to, x, row);
  }
};

}  // namespace

const VolumeMaker volume_maker_avx512[2] = {maker_of<Avx512<float>>, maker_of<Avx512<Bf16>>};
const FilteredMaker filtered_maker_avx512 = filtered_maker_of<Avx512<float>>;
const AddWeightUnit add_filtered_unit_avx512 = add_filtered_unit<Avx512<float>>;
const AddWeightUnit add_weight_unit_avx512[2] = {add_weight_unit<Avx512<float>>,
                                                 add_weight_unit<Avx512<Bf16>>};

}  // namespace voxswap::net::convolution
