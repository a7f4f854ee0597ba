// Weight gradients with AVX2: eight lanes, in f32; bf16 is widened.
#include <immintrin.h>

#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/weight_rows.h"
#include "net/backends/convolution/weight_units.h"

namespace voxswap::net::convolution {

namespace {

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
  static constexpr int lanes = 8, step = 1;
  static constexpr bool many_registers = false;

  static inline std::int64_t mask(std::int64_t count) { return count; }
  static inline Factor load(const T* dy, std::int64_t, std::int64_t count) {
    if (count == lanes) return eight(dy);
    alignas(32) float some[lanes] = {};
    for (std::int64_t i = 0; i < count; ++i) some[i] = widened(dy[i]);
    return _mm256_load_ps(some);
  }
  static inline Factor load_last(const T* dy, std::int64_t count) { return load(dy, 0, count); }
  static inline __m256 spread(const float* x) { return _mm256_broadcast_ss(x); }
  static inline Sum multiply_add(Sum sum, Factor dy, __m256 x) { return _mm256_fmadd_ps(dy, x, sum); }
  static inline void add(float* to, Sum sum) {
    _mm256_storeu_ps(to, _mm256_add_ps(_mm256_loadu_ps(to), sum));
  }
  template <int P>
  static void pack(float* to, const T* x, const PackedRow& row) {
    pack_floats<P>(to, x, row);
  }
};

}  // namespace

const AddWeightUnit add_weight_unit_avx2[2] = {add_weight_unit<Avx2<float>>, add_weight_unit<Avx2<Bf16>>};

}  // namespace voxswap::net::convolution
