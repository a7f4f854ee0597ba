// Weight gradients with AVX-512: sixteen lanes, in f32; bf16 is widened.
#include <immintrin.h>

#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/weight_rows.h"
#include "net/backends/convolution/weight_units.h"

namespace voxswap::net::convolution {

namespace {

inline __m512 widened(const float* from, __mmask16 mask) {
  return _mm512_maskz_loadu_ps(mask, from);
}
inline __m512 widened(const Bf16* from, __mmask16 mask) {
  const __m512i words = _mm512_maskz_cvtepu16_epi32(mask, _mm256_maskz_loadu_epi16(mask, from));
  return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(mask, words, 16));
}

template <class T>
struct Avx512 {
  using Element = T;
  using Packed = float;
  using Sum = __m512;
  using Factor = __m512;
  static constexpr int lanes = 16, step = 1;
  static constexpr bool many_registers = true;

  static inline __mmask16 mask(std::int64_t count) { return static_cast<__mmask16>((1u << count) - 1); }
  static inline Factor load(const T* dy, std::int64_t, __mmask16 mask) { return widened(dy, mask); }
  static inline Factor load_last(const T* dy, __mmask16 mask) { return widened(dy, mask); }
  static inline __m512 spread(const float* x) { return _mm512_set1_ps(*x); }
  static inline Sum multiply_add(Sum sum, Factor dy, __m512 x) { return _mm512_fmadd_ps(dy, x, sum); }
  static inline void add(float* to, Sum sum) {
    _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), sum));
  }
  template <int P>
  static void pack(float* to, const T* x, const PackedRow& row) {
    pack_floats<P>(to, x, row);
  }
};

}  // namespace

const AddWeightUnit add_weight_unit_avx512[2] = {add_weight_unit<Avx512<float>>,
                                                 add_weight_unit<Avx512<Bf16>>};

}  // namespace voxswap::net::convolution
