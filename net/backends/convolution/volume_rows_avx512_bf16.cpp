// Convolutions with AVX-512's bf16 products: one product takes a pair of input channels for sixteen output
// channels. REQUIRES: an even number of channels.
#include <immintrin.h>

#include "net/backends/convolution/finish_avx512_bf16.h"
#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/volume_rows.h"
#include "net/backends/convolution/volume_units.h"

namespace voxswap::net::convolution {

namespace {

struct Avx512Bf16 {
  using Element = Bf16;
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
};

}  // namespace

const VolumeMaker volume_maker_avx512_bf16 = maker_of<Avx512Bf16>;

}  // namespace voxswap::net::convolution
