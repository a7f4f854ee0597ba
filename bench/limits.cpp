#include "bench/limits.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace voxswap::bench {

namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The best rate of several trials that each do `amount` of work.
template <class Run>
double best_rate(double amount, const Run& run) {
  double best = 0;
  for (int trial = 0; trial < 10; ++trial) {
    const double begin = processor_seconds();
    run();
    best = std::max(best, amount / (processor_seconds() - begin));
  }
  return best;
}

constexpr long turns = 2'000'000;
constexpr int chains = 20;  // independent chains of products

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void multiply_avx512(float* to) {
  __m512 sums[chains], factor = _mm512_loadu_ps(to);
#pragma GCC unroll 20
  for (int i = 0; i < chains; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  for (long turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 20
    for (int i = 0; i < chains; ++i) sums[i] = _mm512_fmadd_ps(factor, factor, sums[i]);
  }
#pragma GCC unroll 20
  for (int i = 1; i < chains; ++i) sums[0] = _mm512_add_ps(sums[0], sums[i]);
  _mm512_storeu_ps(to, sums[0]);
}
__attribute__((target("avx512f,avx512bf16"))) void multiply_bf16(float* to) {
  __m512 sums[chains];
#pragma GCC unroll 20
  for (int i = 0; i < chains; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  const auto factor = reinterpret_cast<__m512bh>(_mm512_loadu_ps(to));
  for (long turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 20
    for (int i = 0; i < chains; ++i) sums[i] = _mm512_dpbf16_ps(sums[i], factor, factor);
  }
#pragma GCC unroll 20
  for (int i = 1; i < chains; ++i) sums[0] = _mm512_add_ps(sums[0], sums[i]);
  _mm512_storeu_ps(to, sums[0]);
}
__attribute__((target("avx2,fma"))) void multiply_avx2(float* to) {
  constexpr int few = 12;
  __m256 sums[few], factor = _mm256_loadu_ps(to);
#pragma GCC unroll 12
  for (int i = 0; i < few; ++i) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  for (long turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 12
    for (int i = 0; i < few; ++i) sums[i] = _mm256_fmadd_ps(factor, factor, sums[i]);
  }
#pragma GCC unroll 12
  for (int i = 1; i < few; ++i) sums[0] = _mm256_add_ps(sums[0], sums[i]);
  _mm256_storeu_ps(to, sums[0]);
}
#endif

double copy_rate() {
  constexpr std::size_t bytes = std::size_t{128} << 20;
  const auto from = std::make_unique<char[]>(bytes), to = std::make_unique<char[]>(bytes);
  std::memset(from.get(), 1, bytes);
  std::memset(to.get(), 2, bytes);
  return best_rate(2.0 * bytes, [&] { std::memcpy(to.get(), from.get(), bytes); });
}

}  // namespace

Limits measure_limits() {
  Limits limits;
  float numbers[16] = {};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    limits.f32 = best_rate(turns * chains * 32.0, [&] { multiply_avx512(numbers); });
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    limits.f32 = best_rate(turns * 12 * 16.0, [&] { multiply_avx2(numbers); });
  if (__builtin_cpu_supports("avx512bf16"))
    limits.bf16 = best_rate(turns * chains * 64.0, [&] { multiply_bf16(numbers); });
#endif
  limits.copy = copy_rate();
  return limits;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

}  // namespace voxswap::bench
