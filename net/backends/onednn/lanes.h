// Vectors of sixteen floats on any x86, with exponentials: GCC's vector types, compiled three times (AVX-512,
// AVX2, baseline) and selected at run time.
//
// Loops are written once, as templates on V: Floats for whole rows, float for the remainder. Sums are kept in
// sixteen lanes on every instruction set, and multiply-adds are never fused, so results are identical on all
// of them.
#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#define VOXSWAP_INLINE inline __attribute__((always_inline))

namespace voxswap::net::onednn {

using Floats = float __attribute__((vector_size(64)));
using Doubles = double __attribute__((vector_size(128)));

struct Bf16 {  // the upper half of a float
  std::uint16_t bits;
};

template <class V>
constexpr std::int64_t lanes = static_cast<std::int64_t>(sizeof(V) / sizeof(float));

// The bits of V's floats. Lane-by-lane moves to and from stored bf16 compile to single instructions; GCC's
// own vector conversions do not.
template <class V>
struct Bits;
template <>
struct Bits<Floats> {
  using Word = std::uint32_t __attribute__((vector_size(64)));
  static VOXSWAP_INLINE Word widened(const Bf16* from) {
    Word word;
    for (int lane = 0; lane < 16; ++lane) word[lane] = static_cast<std::uint32_t>(from[lane].bits) << 16;
    return word;
  }
  static VOXSWAP_INLINE void narrow(Bf16* to, const Word& word) {
    for (int lane = 0; lane < 16; ++lane) to[lane].bits = static_cast<std::uint16_t>(word[lane]);
  }
};
template <>
struct Bits<float> {
  using Word = std::uint32_t;
  static VOXSWAP_INLINE Word widened(const Bf16* from) { return static_cast<Word>(from->bits) << 16; }
  static VOXSWAP_INLINE void narrow(Bf16* to, Word word) { to->bits = static_cast<std::uint16_t>(word); }
};

template <class To, class From>
VOXSWAP_INLINE To same_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

template <class V>
VOXSWAP_INLINE V load(const float* from) {
  V value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <class V>
VOXSWAP_INLINE V load(const Bf16* from) {
  return same_bits<V>(Bits<V>::widened(from));
}

template <class V>
VOXSWAP_INLINE void store(float* to, const V& value) {
  __builtin_memcpy(to, &value, sizeof value);
}

// Rounded to the nearest bf16, ties to even; NaN stays NaN.
template <class V>
VOXSWAP_INLINE void store(Bf16* to, const V& value) {
  using Word = typename Bits<V>::Word;
  const Word bits = same_bits<Word>(value);
  const Word rounded = (bits + (((bits >> 16) & 1u) + 0x7fffu)) >> 16;
  const Word quiet = (bits >> 16) | 0x40u;
  Bits<V>::narrow(to, value != value ? quiet : rounded);
}

// Non-temporal stores, for data too large to stay in cache until it is read: full lines are written without
// reading them first, which saves a third of a copy's traffic. Call finish_streams() afterwards, so that
// other threads see the data. REQUIRES: `to` and `bytes` are multiples of 16 bytes.
VOXSWAP_INLINE void stream_bytes(void* to, const void* from, std::int64_t bytes) {
#if defined(__x86_64__)
  for (std::int64_t i = 0; i < bytes; i += 16) {
    _mm_stream_ps(reinterpret_cast<float*>(static_cast<char*>(to) + i),
                  _mm_loadu_ps(reinterpret_cast<const float*>(static_cast<const char*>(from) + i)));
  }
#else
  __builtin_memcpy(to, from, static_cast<std::size_t>(bytes));
#endif
}
template <class T>
VOXSWAP_INLINE void stream(T* to, const Floats& value) {
  T numbers[lanes<Floats>];
  store(numbers, value);
  stream_bytes(to, numbers, sizeof numbers);
}
template <class T>
VOXSWAP_INLINE void stream(T* to, float value) {
  store(to, value);
}
VOXSWAP_INLINE void finish_streams() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

template <class V>
VOXSWAP_INLINE V all_lanes(float value) {
  return value - V{};
}

VOXSWAP_INLINE void add_to(double* sums, const Floats& values) {
  Doubles sum;
  __builtin_memcpy(&sum, sums, sizeof sum);
  sum += __builtin_convertvector(values, Doubles);
  __builtin_memcpy(sums, &sum, sizeof sum);
}
VOXSWAP_INLINE void add_to(double* sums, float value) {
  *sums += static_cast<double>(value);
}

VOXSWAP_INLINE Floats square_root(const Floats& value) {
  Floats root;
  for (int lane = 0; lane < 16; ++lane) root[lane] = __builtin_sqrtf(value[lane]);
  return root;
}
VOXSWAP_INLINE float square_root(float value) {
  return __builtin_sqrtf(value);
}

// A task is called as task(begin, end), its operator() always inlined into one of these three.
enum class InstructionSet { baseline, avx2, avx512 };
InstructionSet instruction_set();  // the best that this CPU has

template <class Task>
void run_baseline(const Task& task, std::int64_t begin, std::int64_t end) {
  task(begin, end);
}
#if defined(__x86_64__)
template <class Task>
__attribute__((target("avx2"))) void run_avx2(const Task& task, std::int64_t begin, std::int64_t end) {
  task(begin, end);
}
template <class Task>
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"))) void run_avx512(
    const Task& task, std::int64_t begin, std::int64_t end) {
  task(begin, end);
}
#endif

template <class Task>
void run_task(const Task& task, std::int64_t begin, std::int64_t end) {
#if defined(__x86_64__)
  switch (instruction_set()) {
    case InstructionSet::avx512:
      return run_avx512(task, begin, end);
    case InstructionSet::avx2:
      return run_avx2(task, begin, end);
    case InstructionSet::baseline:
      break;
  }
#endif
  run_baseline(task, begin, end);
}

// Vectorised sigmoid and log(1 + exp), accurate to about one unit in the last place of a float.

// exp(x) for x <= 0; NaN stays NaN. x = n ln 2 + r with |r| <= ln 2 / 2; exp(r) by its Taylor polynomial,
// whose remainder r^8 / 8! is below 6e-9; 2^n by the float's exponent bits.
template <class V>
VOXSWAP_INLINE V exp_of_negative(const V& x) {
  using Word = typename Bits<V>::Word;
  constexpr float shift = 12582912.0f;  // 1.5 * 2^23: adding it leaves a whole number in the lowest bits
  const V clamped = x < -87.0f ? all_lanes<V>(-87.0f) : x;
  const V shifted = clamped * 1.44269504f + shift;
  const V n = shifted - shift;
  const V r = clamped - n * 0.693359375f + n * 2.12194440e-4f;  // ln 2 in two parts
  V power = r * (1.0f / 5040.0f) + 1.0f / 720.0f;
  power = power * r + 1.0f / 120.0f;
  power = power * r + 1.0f / 24.0f;
  power = power * r + 1.0f / 6.0f;
  power = power * r + 0.5f;
  power = power * r + 1.0f;
  power = power * r + 1.0f;
  const Word exponent = (same_bits<Word>(shifted) - (0x4b400000u - 127u)) << 23;
  return power * same_bits<V>(exponent);
}

template <class V>
VOXSWAP_INLINE V magnitude(const V& x) {
  return x < 0.0f ? -x : x;
}

// 1 / (1 + exp(-x)), given e = exp(-|x|)
template <class V>
VOXSWAP_INLINE V sigmoid_from(const V& x, const V& e) {
  const V one = all_lanes<V>(1.0f);
  return (x < 0.0f ? e : one) / (one + e);
}

// log(1 + u) for u in [0, 1]: 2 artanh(s) with s = u / (2 + u) <= 1/3, whose series loses below 1e-8 after
// s^15.
template <class V>
VOXSWAP_INLINE V log_of_one_plus(const V& u) {
  const V s = u / (u + 2.0f), q = s * s;
  V series = q * (1.0f / 15.0f) + 1.0f / 13.0f;
  series = series * q + 1.0f / 11.0f;
  series = series * q + 1.0f / 9.0f;
  series = series * q + 1.0f / 7.0f;
  series = series * q + 1.0f / 5.0f;
  series = series * q + 1.0f / 3.0f;
  series = series * q + 1.0f;
  return s * 2.0f * series;
}

// log(x) for normal x > 0: x = m 2^e with m between sqrt(1/2) and sqrt(2), so that it is exact near 1.
template <class V>
VOXSWAP_INLINE V log_of(const V& x) {
  using Word = typename Bits<V>::Word;
  const Word bits = same_bits<Word>(x);
  const V m = same_bits<V>(Word((bits & 0x7fffffu) | 0x3f800000u));
  // 2^23 + e + 127 as a float has e + 127 in its lowest bits.
  const V e = same_bits<V>(Word((bits >> 23) | 0x4b000000u)) - (8388608.0f + 127.0f);
  const V half = m > 1.41421356f ? m * 0.5f : m, exponent = m > 1.41421356f ? e + 1.0f : e;
  return exponent * 0.693147181f + log_of_one_plus<V>(half - 1.0f);
}

// cos(2 pi t) and sin(2 pi t) for 0 <= t < 1, by quarter turns and Taylor polynomials within an eighth.
template <class V>
VOXSWAP_INLINE void cos_and_sin_of_turn(const V& t, V& cosine, V& sine) {
  const V quarters = t * 4.0f;
  const V q = (quarters + 8388608.0f) - 8388608.0f;  // rounded to a whole number
  const V a = (quarters - q) * 1.57079633f, b = a * a;
  V s = b * (1.0f / 362880.0f) - 1.0f / 5040.0f;
  s = s * b + 1.0f / 120.0f;
  s = s * b - 1.0f / 6.0f;
  s = s * b * a + a;
  V c = b * (1.0f / 40320.0f) - 1.0f / 720.0f;
  c = c * b + 1.0f / 24.0f;
  c = c * b - 0.5f;
  c = c * b + 1.0f;
  cosine = q == 1.0f ? -s : q == 2.0f ? -c : q == 3.0f ? s : c;
  sine = q == 1.0f ? c : q == 2.0f ? -s : q == 3.0f ? -c : s;
}

}  // namespace voxswap::net::onednn
