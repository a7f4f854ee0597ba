#include "data/augment/intensity.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "data/volumes/separable.h"

namespace voxswap::data {

namespace {

struct Moments {
  double mean = 0, deviation = 0;  // population standard deviation
  float low = 0, high = 0;
};

// Sums in double precision with eight independent accumulators, so that additions do not wait for each other.
template <class Term>
double sum_of(const std::vector<float>& values, Term term) {
  std::array<double, 8> sums{};
  const std::size_t whole = values.size() / 8 * 8;
  for (std::size_t i = 0; i < whole; i += 8)
    for (std::size_t k = 0; k < 8; ++k) sums[k] += term(values[i + k]);
  for (std::size_t i = whole; i < values.size(); ++i) sums[0] += term(values[i]);
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

Moments moments(const std::vector<float>& values) {
  Moments result;
  const auto count = static_cast<double>(values.size());
  result.mean = sum_of(values, [](float v) { return static_cast<double>(v); }) / count;
  const double mean = result.mean;
  result.deviation = std::sqrt(sum_of(values, [mean](float v) { return (v - mean) * (v - mean); }) / count);
  result.low = result.high = values.front();
  for (const float v : values) {
    result.low = v < result.low ? v : result.low;
    result.high = v > result.high ? v : result.high;
  }
  return result;
}

void scale_and_shift(std::vector<float>& values, double factor, double shift) {
  const auto a = static_cast<float>(factor), b = static_cast<float>(shift);
  for (float& v : values) v = v * a + b;
}

void change_contrast(std::vector<float>& values, double factor) {
  const Moments old = moments(values);
  const auto mean = static_cast<float>(old.mean), a = static_cast<float>(factor);
  for (float& v : values) v = std::min(std::max(mean + (v - mean) * a, old.low), old.high);
}

void change_gamma(std::vector<float>& values, double gamma) {
  const Moments old = moments(values);
  const float range = old.high - old.low;
  if (!(range > 0)) return;
  const auto exponent = static_cast<float>(gamma);
  for (float& v : values) v = std::pow(std::max((v - old.low) / range, 0.0F), exponent) * range + old.low;
  const Moments made = moments(values);
  const double factor = made.deviation > 0 ? old.deviation / made.deviation : 1;
  scale_and_shift(values, factor, old.mean - made.mean * factor);
}

void change_inverted_gamma(std::vector<float>& values, double gamma) {
  for (float& v : values) v = -v;
  change_gamma(values, gamma);
  for (float& v : values) v = -v;
}

std::vector<float> blurred(const std::vector<float>& values, const Size3& size, double sigma) {
  return filtered(values, size, gaussian_band(size[0], sigma), gaussian_band(size[1], sigma),
                  gaussian_band(size[2], sigma));
}

std::vector<float> coarsened(const std::vector<float>& values, const Size3& size, double part) {
  Size3 coarse;
  for (std::size_t axis = 0; axis < 3; ++axis)
    coarse[axis] = std::max<std::int64_t>(1, std::llround(static_cast<double>(size[axis]) * part));
  const std::vector<float> small = filtered(values, size, linear_band(size[0], coarse[0]),
                                            linear_band(size[1], coarse[1]), linear_band(size[2], coarse[2]));
  return filtered(small, coarse, linear_band(coarse[0], size[0]), linear_band(coarse[1], size[1]),
                  linear_band(coarse[2], size[2]));
}

bool nothing(const IntensityChange& c) {
  return c.noise == 0 && c.blur == 0 && c.brightness == 1 && c.shift == 0 && c.contrast == 1 &&
         c.low_resolution == 1 && c.inverted_gamma == 1 && c.gamma == 1;
}

// Quantiles of the standard normal distribution at (i + 1/2) / 65536: one for each 16-bit random number.
// Computed outwards from the median by Newton's method, each starting from the previous one, then scaled to
// variance 1.
std::vector<float> normal_quantiles() {
  constexpr std::size_t half = 1 << 15;
  std::vector<double> upper(half);
  double x = 0, squares = 0;
  for (std::size_t i = 0; i < half; ++i) {
    const double tail = 0.5 - (static_cast<double>(i) + 0.5) / (2 * half);  // beyond x
    for (int step = 0; step < 6; ++step) {
      const double excess = 0.5 * std::erfc(x / std::sqrt(2.0)) - tail;
      x += excess * std::sqrt(2 * 3.14159265358979323846) * std::exp(x * x / 2);
    }
    upper[i] = x;
    squares += x * x;
  }
  const double unit = std::sqrt(half / squares);
  std::vector<float> table(2 * half);
  for (std::size_t i = 0; i < half; ++i) {
    table[half + i] = static_cast<float>(upper[i] * unit);
    table[half - 1 - i] = -table[half + i];
  }
  return table;
}

}  // namespace

void add_noise(std::vector<float>& values, const Philox& random, float deviation) {
  static const std::vector<float> quantile = normal_quantiles();
  constexpr std::size_t per_block = 8;
  for (std::size_t start = 0; start < values.size(); start += per_block) {
    const Philox::Block block = random.block(static_cast<std::uint32_t>(start / per_block));
    const std::size_t count = std::min(per_block, values.size() - start);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t bits = i % 2 == 0 ? block[i / 2] & 0xffff : block[i / 2] >> 16;
      values[start + i] += deviation * quantile[bits];
    }
  }
}

void change_intensities(const IntensityChange& change, const Philox& voxels, std::vector<float>& image,
                        const Size3& size, std::int64_t channels, std::int64_t channel) {
  if (nothing(change)) return;
  const auto stride = static_cast<std::size_t>(channels), first = static_cast<std::size_t>(channel);
  std::vector<float> values(image.size() / stride);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = image[i * stride + first];
  if (change.noise > 0) add_noise(values, voxels, static_cast<float>(change.noise));
  if (change.blur > 0) values = blurred(values, size, change.blur);
  if (change.brightness != 1 || change.shift != 0) scale_and_shift(values, change.brightness, change.shift);
  if (change.contrast != 1) change_contrast(values, change.contrast);
  if (change.low_resolution != 1) values = coarsened(values, size, change.low_resolution);
  if (change.inverted_gamma != 1) change_inverted_gamma(values, change.inverted_gamma);
  if (change.gamma != 1) change_gamma(values, change.gamma);
  for (std::size_t i = 0; i < values.size(); ++i) image[i * stride + first] = values[i];
}

}  // namespace voxswap::data
