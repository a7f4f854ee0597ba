// Computes 16 neighbouring outputs at a time, whose sums stay in registers. Along x these are in neighbouring
// rows, which are transposed first. Each sum adds its taps in the same order.
#include "data/volumes/separable.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <memory>

#include "base/shape.h"

namespace voxswap::data {

namespace {

using FourFloats = float __attribute__((vector_size(16), aligned(4), may_alias));
constexpr std::size_t sums_at_once = 16;
constexpr std::size_t strip = 1024;  // voxels of a slice that stay in the cache while all slices are filtered

// result[i] = sum of weights[k] * in[k * stride + i], for 16 values of i.
void weighted_sums(const float* in, std::size_t stride, const float* weights, std::size_t taps,
                   float* result) {
  FourFloats a{}, b{}, c{}, d{};
  for (std::size_t k = 0; k < taps; ++k, in += stride) {
    const auto* four = reinterpret_cast<const FourFloats*>(in);
    a += weights[k] * four[0];
    b += weights[k] * four[1];
    c += weights[k] * four[2];
    d += weights[k] * four[3];
  }
  auto* four = reinterpret_cast<FourFloats*>(result);
  four[0] = a;
  four[1] = b;
  four[2] = c;
  four[3] = d;
}

void along_rows(const float* voxels, std::size_t rows, const Band& band, float* result) {
  const std::size_t inputs = index(band.inputs), outputs = index(band.outputs()), taps = index(band.taps);
  std::vector<float> columns(inputs * sums_at_once);
  std::array<float, sums_at_once> sums{};
  for (std::size_t first = 0; first < rows; first += sums_at_once) {
    const std::size_t count = std::min(sums_at_once, rows - first);
    for (std::size_t i = 0; i < inputs; ++i)
      for (std::size_t row = 0; row < count; ++row)
        columns[i * sums_at_once + row] = voxels[(first + row) * inputs + i];
    for (std::size_t i = 0; i < outputs; ++i) {
      weighted_sums(columns.data() + index(band.first[i]) * sums_at_once, sums_at_once,
                    band.weights.data() + i * taps, taps, sums.data());
      for (std::size_t row = 0; row < count; ++row) result[(first + row) * outputs + i] = sums[row];
    }
  }
}

// Filters along the slowest axis; each slice has `slice` voxels.
void along_slices(const float* voxels, std::size_t slice, const Band& band, float* result) {
  const std::size_t taps = index(band.taps);
  for (std::size_t from = 0; from < slice; from += strip) {
    const std::size_t to = std::min(from + strip, slice);
    for (std::size_t i = 0; i < index(band.outputs()); ++i) {
      const float* weights = band.weights.data() + i * taps;
      const float* in = voxels + index(band.first[i]) * slice;
      float* out = result + i * slice;
      std::size_t v = from;
      for (; v + sums_at_once <= to; v += sums_at_once) weighted_sums(in + v, slice, weights, taps, out + v);
      for (; v < to; ++v) {
        float sum = 0;
        for (std::size_t k = 0; k < taps; ++k) sum += weights[k] * in[k * slice + v];
        out[v] = sum;
      }
    }
  }
}

}  // namespace

std::vector<float> filtered(const std::vector<float>& voxels, const Size3& size, const Band& x, const Band& y,
                            const Band& z) {
  assert(static_cast<std::int64_t>(voxels.size()) == voxels_in(size));
  assert(x.inputs == size[0] && y.inputs == size[1] && z.inputs == size[2]);
  const std::size_t width = index(x.outputs()), height = index(y.outputs()),
                    in_slice = index(size[0] * size[1]);
  std::vector<float> rows(width * index(size[1]));  // of one slice, stays in the cache
  const auto slices = std::make_unique_for_overwrite<float[]>(width * height * index(size[2]));
  for (std::size_t k = 0; k < index(size[2]); ++k) {
    along_rows(voxels.data() + k * in_slice, index(size[1]), x, rows.data());
    along_slices(rows.data(), width, y, slices.get() + k * width * height);
  }
  std::vector<float> result(width * height * index(z.outputs()));
  along_slices(slices.get(), width * height, z, result.data());
  return result;
}

}  // namespace voxswap::data
