// Along y and z whole rows are added with one weight each, which the compiler turns into vector instructions;
// along x rows of the filter are short sums.
#include "data/volumes/separable.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/shape.h"

namespace voxswap::data {

namespace {

std::vector<float> along_rows(const std::vector<float>& voxels, const Band& band) {
  const std::size_t rows = voxels.size() / index(band.inputs), outputs = index(band.outputs()),
                    taps = index(band.taps);
  std::vector<float> result(rows * outputs);
  for (std::size_t row = 0; row < rows; ++row) {
    const float* source = voxels.data() + row * index(band.inputs);
    float* target = result.data() + row * outputs;
    for (std::size_t i = 0; i < outputs; ++i) {
      const float* in = source + band.first[i];
      const float* weights = band.weights.data() + i * taps;
      float sum = 0;
      for (std::size_t k = 0; k < taps; ++k) sum += weights[k] * in[k];
      target[i] = sum;
    }
  }
  return result;
}

// `voxels` is made of blocks of band.inputs slices of `slice` voxels each; slices are added.
std::vector<float> along_slices(const std::vector<float>& voxels, std::size_t slice, const Band& band) {
  const std::size_t blocks = voxels.size() / (index(band.inputs) * slice), outputs = index(band.outputs());
  std::vector<float> result(blocks * outputs * slice, 0.0F);
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t i = 0; i < outputs; ++i) {
      float* target = result.data() + (block * outputs + i) * slice;
      for (std::int64_t k = 0; k < band.taps; ++k) {
        const float weight = band.weights[index(static_cast<std::int64_t>(i) * band.taps + k)];
        const float* source = voxels.data() + (block * index(band.inputs) + index(band.first[i] + k)) * slice;
        for (std::size_t v = 0; v < slice; ++v) target[v] += weight * source[v];
      }
    }
  }
  return result;
}

}  // namespace

Band gaussian_band(std::int64_t count, double sigma) {
  assert(sigma > 0);
  const auto radius = static_cast<std::int64_t>(4 * sigma + 0.5);  // as SciPy's gaussian_filter
  std::vector<double> kernel;
  double sum = 0;
  for (std::int64_t k = -radius; k <= radius; ++k) {
    kernel.push_back(std::exp(-0.5 * static_cast<double>(k * k) / (sigma * sigma)));
    sum += kernel.back();
  }
  Band band{count, std::min(2 * radius + 1, count), {}, {}};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = std::clamp<std::int64_t>(i - radius, 0, count - band.taps);
    std::vector<double> weights(index(band.taps), 0.0);
    for (std::int64_t k = -radius; k <= radius; ++k) {
      const std::int64_t source = std::clamp<std::int64_t>(i + k, 0, count - 1);
      weights[index(source - first)] += kernel[index(k + radius)] / sum;
    }
    band.first.push_back(first);
    band.weights.insert(band.weights.end(), weights.begin(), weights.end());
  }
  return band;
}

Band linear_band(std::int64_t from, std::int64_t to) {
  Band band{from, std::min<std::int64_t>(2, from), {}, {}};
  for (std::int64_t i = 0; i < to; ++i) {
    const double exact =
        (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
    const double source = std::clamp(exact, 0.0, static_cast<double>(from - 1));
    const std::int64_t first = std::min(static_cast<std::int64_t>(source), from - band.taps);
    const double part = source - static_cast<double>(first);
    band.first.push_back(first);
    band.weights.push_back(static_cast<float>(1 - part));
    if (band.taps == 2) band.weights.push_back(static_cast<float>(part));
  }
  return band;
}

std::vector<float> filtered(const std::vector<float>& voxels, const Size3& size, const Band& x, const Band& y,
                            const Band& z) {
  assert(static_cast<std::int64_t>(voxels.size()) == size[0] * size[1] * size[2]);
  assert(x.inputs == size[0] && y.inputs == size[1] && z.inputs == size[2]);
  const std::vector<float> rows = along_rows(voxels, x);
  const std::vector<float> columns = along_slices(rows, index(x.outputs()), y);
  return along_slices(columns, index(x.outputs() * y.outputs()), z);
}

}  // namespace voxswap::data
