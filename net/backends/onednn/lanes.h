// Sixteen floats on any x86, with exponentials: one, two or four of GCC's vectors, compiled three times
// (AVX-512, AVX2, baseline) and selected at run time.
//
// Loops are written once, as templates: on Floats for whole rows, then on float for the remainder. Sums are
// kept in sixteen lanes on every instruction set, and multiply-adds are never fused, so results are identical
// on all of them.
#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#define VOXSWAP_INLINE inline __attribute__((always_inline))

namespace voxswap::net::onednn {

// A vector as two halves. GCC compares and selects vectors that exceed a register lane by lane, so Floats
// consists of vectors that fit.
template <class Half>
struct Pair {
  Half low, high;
};
template <class Half>
Pair(Half, Half) -> Pair<Half>;  // Clang before 17 does not deduce it

using Floats4 = float __attribute__((vector_size(16)));
using Floats8 = float __attribute__((vector_size(32)));
using Floats16 = float __attribute__((vector_size(64)));

// The type Floats of each instruction set.
using BaselineFloats = Pair<Pair<Floats4>>;
using Avx2Floats = Pair<Floats8>;
using Avx512Floats = Floats16;
constexpr std::int64_t lane_count = 16;  // lanes of Floats
static_assert(sizeof(BaselineFloats) == 64 && sizeof(Avx2Floats) == 64);

template <class V>
constexpr std::int64_t lanes = static_cast<std::int64_t>(sizeof(V) / sizeof(float));

struct Bf16 {  // the upper half of a float
  std::uint16_t bits;
};

// Words: the bits of V's floats.
template <class V>
struct Bits;
template <>
struct Bits<float> {
  using Words = std::uint32_t;
};
template <>
struct Bits<Floats4> {
  using Words = std::uint32_t __attribute__((vector_size(16)));
};
template <>
struct Bits<Floats8> {
  using Words = std::uint32_t __attribute__((vector_size(32)));
};
template <>
struct Bits<Floats16> {
  using Words = std::uint32_t __attribute__((vector_size(64)));
};
template <class Half>
struct Bits<Pair<Half>> {
  using Words = Pair<typename Bits<Half>::Words>;
};
template <class V>
using WordsOf = typename Bits<V>::Words;

template <class T>
constexpr bool is_pair = false;
template <class Half>
constexpr bool is_pair<Pair<Half>> = true;

// The halves of a pair; a number goes with both halves of another operand.
template <class T>
VOXSWAP_INLINE auto low_of(const T& value) {
  if constexpr (is_pair<T>)
    return value.low;
  else
    return value;
}
template <class T>
VOXSWAP_INLINE auto high_of(const T& value) {
  if constexpr (is_pair<T>)
    return value.high;
  else
    return value;
}

#define VOXSWAP_PAIR_OPERATOR(op)                                                              \
  template <class A, class B>                                                                  \
  requires(is_pair<A> || is_pair<B>) VOXSWAP_INLINE auto operator op(const A& a, const B& b) { \
    return Pair{low_of(a) op low_of(b), high_of(a) op high_of(b)};                             \
  }
VOXSWAP_PAIR_OPERATOR(+)
VOXSWAP_PAIR_OPERATOR(-)
VOXSWAP_PAIR_OPERATOR(*)
VOXSWAP_PAIR_OPERATOR(/)
VOXSWAP_PAIR_OPERATOR(<)
VOXSWAP_PAIR_OPERATOR(>)
VOXSWAP_PAIR_OPERATOR(==)
VOXSWAP_PAIR_OPERATOR(!=)
VOXSWAP_PAIR_OPERATOR(<<)
VOXSWAP_PAIR_OPERATOR(>>)
VOXSWAP_PAIR_OPERATOR(&)
VOXSWAP_PAIR_OPERATOR(|)
#undef VOXSWAP_PAIR_OPERATOR
template <class Half>
VOXSWAP_INLINE auto operator-(const Pair<Half>& a) {
  return Pair{-a.low, -a.high};
}
template <class Half, class B>
VOXSWAP_INLINE void operator+=(Pair<Half>& a, const B& b) {
  a = a + b;
}

// In each lane `yes` where the comparison holds, else `no`.
template <class Mask, class V>
VOXSWAP_INLINE V choose(const Mask& mask, const V& yes, const V& no) {
  if constexpr (is_pair<V>)
    return {choose(mask.low, yes.low, no.low), choose(mask.high, yes.high, no.high)};
  else
    return mask ? yes : no;
}

template <class V>
VOXSWAP_INLINE V all_lanes(float value) {
  if constexpr (is_pair<V>) {
    using Half = decltype(V::low);
    return {all_lanes<Half>(value), all_lanes<Half>(value)};
  } else {
    return value - V{};
  }
}

// Lane by lane, which compiles to few instructions where `number(lane)` reads memory.
template <class V, class Number>
VOXSWAP_INLINE V gathered(const Number& number) {
  V all;
  if constexpr (is_pair<V>) {
    using Half = decltype(V::low);
    constexpr std::int64_t half = lanes<Half>;
    all.low = gathered<Half>(number);
    all.high =
        gathered<Half>([&](std::int64_t lane) __attribute__((always_inline)) { return number(half + lane); });
  } else if constexpr (lanes<V> == 1) {
    all = number(0);
  } else {
    for (std::int64_t lane = 0; lane < lanes<V>; ++lane) all[lane] = number(lane);
  }
  return all;
}

template <class To, class From>
VOXSWAP_INLINE To same_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  if constexpr (is_pair<To>) {
    using Half = decltype(To::low);
    return {same_bits<Half>(from.low), same_bits<Half>(from.high)};
  } else {
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
  }
}

template <class V>
VOXSWAP_INLINE V load(const float* from) {
  if constexpr (is_pair<V>) {
    using Half = decltype(V::low);
    return {load<Half>(from), load<Half>(from + lanes<Half>)};
  } else {
    V value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
  }
}

template <class V>
VOXSWAP_INLINE V load(const Bf16* from) {
  const auto bits = [&](std::int64_t lane) __attribute__((always_inline)) {
    return static_cast<std::uint32_t>(from[lane].bits) << 16;
  };
  return same_bits<V>(gathered<WordsOf<V>>(bits));
}

template <class V>
VOXSWAP_INLINE void store(float* to, const V& value) {
  if constexpr (is_pair<V>) {
    store(to, value.low);
    store(to + lanes<V> / 2, value.high);
  } else {
    __builtin_memcpy(to, &value, sizeof value);
  }
}

// Rounded to the nearest bf16, ties to even; NaN stays NaN.
template <class V>
VOXSWAP_INLINE void store(Bf16* to, const V& value) {
  if constexpr (is_pair<V>) {
    store(to, value.low);
    store(to + lanes<V> / 2, value.high);
  } else {
    using Words = WordsOf<V>;
    const Words bits = same_bits<Words>(value);
    const Words rounded = (bits + (((bits >> 16) & 1u) + 0x7fffu)) >> 16;
    const Words quiet = (bits >> 16) | 0x40u;
    const Words result = choose(value != value, quiet, rounded);
    if constexpr (lanes<V> == 1)
      to->bits = static_cast<std::uint16_t>(result);
    else
      for (std::int64_t lane = 0; lane < lanes<V>; ++lane)
        to[lane].bits = static_cast<std::uint16_t>(result[lane]);
  }
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
template <class T, class V>
VOXSWAP_INLINE void stream(T* to, const V& value) {
  if constexpr (lanes<V> == 1) return store(to, value);
  T numbers[lanes<V>];
  store(numbers, value);
  stream_bytes(to, numbers, sizeof numbers);
}
VOXSWAP_INLINE void finish_streams() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

template <class V>
VOXSWAP_INLINE void add_to(double* sums, const V& values) {
  if constexpr (lanes<V> == 16 && !is_pair<V>) {
    using Doubles = double __attribute__((vector_size(128)));
    Doubles sum;
    __builtin_memcpy(&sum, sums, sizeof sum);
    sum += __builtin_convertvector(values, Doubles);
    __builtin_memcpy(sums, &sum, sizeof sum);
  } else {
    float numbers[lanes<V>];
    store(numbers, values);
    for (std::int64_t lane = 0; lane < lanes<V>; ++lane) sums[lane] += static_cast<double>(numbers[lane]);
  }
}

template <class V>
VOXSWAP_INLINE V square_root(const V& value) {
  if constexpr (is_pair<V>) {
    return {square_root(value.low), square_root(value.high)};
  } else if constexpr (lanes<V> == 1) {
    return __builtin_sqrtf(value);
  } else {
    V root;
    for (std::int64_t lane = 0; lane < lanes<V>; ++lane) root[lane] = __builtin_sqrtf(value[lane]);
    return root;
  }
}

// A task is called as task(begin, end), or as task.operator()<Floats>(begin, end) where it has such an
// operator, which is always inlined into one of these three.
enum class InstructionSet { baseline, avx2, avx512 };
InstructionSet instruction_set();  // the best that this CPU has

template <class Floats, class Task>
VOXSWAP_INLINE void run_with(const Task& task, std::int64_t begin, std::int64_t end) {
  if constexpr (requires { task.template operator()<Floats>(begin, end); })
    task.template operator()<Floats>(begin, end);
  else
    task(begin, end);
}

template <class Task>
void run_baseline(const Task& task, std::int64_t begin, std::int64_t end) {
  run_with<BaselineFloats>(task, begin, end);
}
#if defined(__x86_64__)
template <class Task>
__attribute__((target("avx2"))) void run_avx2(const Task& task, std::int64_t begin, std::int64_t end) {
  run_with<Avx2Floats>(task, begin, end);
}
template <class Task>
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"))) void run_avx512(
    const Task& task, std::int64_t begin, std::int64_t end) {
  run_with<Avx512Floats>(task, begin, end);
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
  using Words = WordsOf<V>;
  constexpr float shift = 12582912.0f;  // 1.5 * 2^23: adding it leaves a whole number in the lowest bits
  const V clamped = choose(x < -87.0f, all_lanes<V>(-87.0f), x);
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
  const Words exponent = (same_bits<Words>(shifted) - (0x4b400000u - 127u)) << 23;
  return power * same_bits<V>(exponent);
}

template <class V>
VOXSWAP_INLINE V magnitude(const V& x) {
  return choose(x < 0.0f, V(-x), x);
}

// 1 / (1 + exp(-x)), given e = exp(-|x|)
template <class V>
VOXSWAP_INLINE V sigmoid_from(const V& x, const V& e) {
  const V one = all_lanes<V>(1.0f);
  return choose(x < 0.0f, e, one) / (one + e);
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
  using Words = WordsOf<V>;
  const Words bits = same_bits<Words>(x);
  const V m = same_bits<V>(Words((bits & 0x7fffffu) | 0x3f800000u));
  // 2^23 + e + 127 as a float has e + 127 in its lowest bits.
  const V e = same_bits<V>(Words((bits >> 23) | 0x4b000000u)) - (8388608.0f + 127.0f);
  const V half = choose(m > 1.41421356f, V(m * 0.5f), m);
  const V exponent = choose(m > 1.41421356f, V(e + 1.0f), e);
  return exponent * 0.693147181f + log_of_one_plus<V>(half - 1.0f);
}

// cos(2 pi t) and sin(2 pi t) for 0 <= t < 1, by quarter turns and Taylor polynomials within an eighth.
VOXSWAP_INLINE void cos_and_sin_of_turn(float t, float& cosine, float& sine) {
  const float quarters = t * 4.0f;
  const float q = (quarters + 8388608.0f) - 8388608.0f;  // rounded to a whole number
  const float a = (quarters - q) * 1.57079633f, b = a * a;
  float s = b * (1.0f / 362880.0f) - 1.0f / 5040.0f;
  s = s * b + 1.0f / 120.0f;
  s = s * b - 1.0f / 6.0f;
  s = s * b * a + a;
  float c = b * (1.0f / 40320.0f) - 1.0f / 720.0f;
  c = c * b + 1.0f / 24.0f;
  c = c * b - 0.5f;
  c = c * b + 1.0f;
  cosine = q == 1.0f ? -s : q == 2.0f ? -c : q == 3.0f ? s : c;
  sine = q == 1.0f ? c : q == 2.0f ? -s : q == 3.0f ? -c : s;
}

}  // namespace voxswap::net::onednn
