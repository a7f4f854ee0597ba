// Kernels with AVX2: eight lanes, in f32; bf16 is widened.
#include <immintrin.h>

#include "net/backends/convolution/filtered_rows.h"
#include "net/backends/convolution/filtered_weights.h"
#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/sizes.h"
#include "net/backends/convolution/volume_rows.h"
#include "net/backends/convolution/weight_rows.h"

namespace voxswap::net::convolution {

namespace {

inline __m256 spread_of(const float* x) {
  return _mm256_broadcast_ss(x);
}
inline __m256 spread_of(const Bf16* x) {
  const __m256i words = _mm256_set1_epi16(static_cast<short>(x->bits));
  return _mm256_castsi256_ps(_mm256_slli_epi32(words, 16));
}
inline __m256 eight(const float* from) {
  return _mm256_loadu_ps(from);
}
inline __m256 eight(const Bf16* from) {
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

template <class T>
struct Avx2 {
  using Element = T;
  using Packed = float;
  using Sum = __m256;
  using Factor = __m256;
  static constexpr int lanes = 8, registers = 16, sums = 12, step = 1, word = sizeof(T);

  static inline __m256 load(const std::uint32_t* from) {
    return _mm256_loadu_ps(reinterpret_cast<const float*>(from));
  }
  static inline __m256 spread(const char* x) { return spread_of(reinterpret_cast<const T*>(x)); }
  static inline __m256 multiply_add(__m256 sum, __m256 factor, __m256 x) {
    return _mm256_fmadd_ps(factor, x, sum);
  }
  static inline void store(float* to, __m256 sum) { _mm256_storeu_ps(to, sum); }
  static inline std::int64_t mask(std::int64_t count) { return count; }
  static inline void finish(T* y, const float* sums, const float* bias, const T* start, std::int64_t count) {
    finish_lanes<lanes>(y, sums, bias, start, count);
  }

  // For weight gradients.
  static inline Factor load(const T* dy, std::int64_t, std::int64_t count) {
    if (count == lanes) return eight(dy);
    alignas(32) float some[lanes] = {};
    for (std::int64_t i = 0; i < count; ++i) some[i] = widened(dy[i]);
    return _mm256_load_ps(some);
  }
  static inline Factor load_last(const T* dy, std::int64_t count) { return load(dy, 0, count); }
  static inline __m256 spread(const float* x) { return _mm256_broadcast_ss(x); }
  static inline void add(float* to, Sum sum) {
    _mm256_storeu_ps(to, _mm256_add_ps(_mm256_loadu_ps(to), sum));
  }
  template <int P>
  static void pack(float* to, const T* x, const PackedRow& row) {
    pack_floats<P>(to, x, row);
  }
};

}  // namespace

const VolumeMaker volume_maker_avx2[2] = {maker_of<Avx2<float>>, maker_of<Avx2<Bf16>>};
const FilteredMaker filtered_maker_avx2 = filtered_maker_of<Avx2<float>>;
const AddWeightUnit add_filtered_unit_avx2 = add_filtered_unit<Avx2<float>>;
const AddWeightUnit add_weight_unit_avx2[2] = {add_weight_unit<Avx2<float>>, add_weight_unit<Avx2<Bf16>>};

}  // namespace voxswap::net::convolution
