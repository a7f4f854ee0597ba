// Accuracy of minimal filtering along rows (net/backends/convolution/sizes.h), compared with direct
// products. The reference is computed in double. It computes four voxels of a row from nine rows of three
// taps and CHANNELS channels, in f32, on random numbers, with F(4,3) at points 0, ± near, ± far and infinity,
// and with F(2,3).
//
//   filtering_points CHANNELS     one line of CSV for each; errors are root mean squares, relative to that of
//   the sums
//
// x is uniform with both signs, or normal with negative numbers set to zero, as after a ReLU. Weights have
// the same distribution.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/philox.h"

namespace voxswap {
namespace {

constexpr int voxels = 4, taps = 3, read = voxels + taps - 1;

struct Row {
  std::vector<float> x, w;  // [rows and channels][voxels or taps]
  double exact[voxels] = {};
};

Row random_row(std::int64_t count, bool rectified, std::uint64_t number) {
  const Philox random(1, number);
  std::uint64_t draws = 0;
  const auto uniform = [&] { return 2.0 * random.uniform(draws++) - 1; };
  const auto normal = [&] {
    return std::sqrt(-2 * std::log(1 - 0.5 * (uniform() + 1))) * std::cos(3.141592653589793 * uniform());
  };
  Row row;
  for (std::int64_t i = 0; i < count * read; ++i)
    row.x.push_back(static_cast<float>(rectified ? std::max(normal(), 0.0) : uniform()));
  for (std::int64_t i = 0; i < count * taps; ++i)
    row.w.push_back(static_cast<float>(rectified ? normal() : uniform()));
  for (std::int64_t i = 0; i < count; ++i)
    for (int v = 0; v < voxels; ++v)
      for (int t = 0; t < taps; ++t)
        row.exact[v] += static_cast<double>(row.x[i * read + v + t]) * row.w[i * taps + t];
  return row;
}

void one_by_one(const Row& row, float (&y)[voxels]) {
  for (std::size_t i = 0; i < row.w.size() / taps; ++i)
    for (int v = 0; v < voxels; ++v)
      for (int t = 0; t < taps; ++t) y[v] = std::fma(row.x[i * read + v + t], row.w[i * taps + t], y[v]);
}

void by_two(const Row& row, float (&y)[voxels]) {
  for (int half = 0; half < voxels; half += 2) {
    float sums[4] = {};
    for (std::size_t i = 0; i < row.w.size() / taps; ++i) {
      const float *x = &row.x[i * read + half], *w = &row.w[i * taps];
      const double even = 0.5 * (static_cast<double>(w[0]) + w[2]), odd = 0.5 * w[1];
      const float of_x[4] = {x[0] - x[2], x[1] + x[2], x[2] - x[1], x[1] - x[3]},
                  of_w[4] = {w[0], static_cast<float>(even + odd), static_cast<float>(even - odd), w[2]};
      for (int k = 0; k < 4; ++k) sums[k] = std::fma(of_x[k], of_w[k], sums[k]);
    }
    y[half] = sums[0] + sums[1] + sums[2];
    y[half + 1] = sums[1] - sums[2] - sums[3];
  }
}

// Uses the operations and the order of filtered_planes.h and filtered_rows.h.
void by_four(const Row& row, float n, float f, float (&y)[voxels]) {
  const float n2 = n * n, f2 = f * f;
  const double of_near = 1 / (2.0 * n2 * (n2 - f2)), of_far = 1 / (2.0 * f2 * (f2 - n2));
  float sums[read] = {};
  for (std::size_t i = 0; i < row.w.size() / taps; ++i) {
    const float *x = &row.x[i * read], *w = &row.w[i * taps];
    const float even_near = std::fma(x[2], -f2, x[4]), odd_near = std::fma(x[1], -f2, x[3]),
                even_far = std::fma(x[2], -n2, x[4]), odd_far = std::fma(x[1], -n2, x[3]);
    const float of_x[read] = {std::fma(x[0], n2 * f2, std::fma(x[2], -(n2 + f2), x[4])),
                              std::fma(odd_near, n, even_near),
                              std::fma(odd_near, -n, even_near),
                              std::fma(odd_far, f, even_far),
                              std::fma(odd_far, -f, even_far),
                              std::fma(x[1], n2 * f2, std::fma(x[3], -(n2 + f2), x[5]))};
    const double near = w[0] + static_cast<double>(n2) * w[2], far = w[0] + static_cast<double>(f2) * w[2],
                 n1 = static_cast<double>(n) * w[1], f1 = static_cast<double>(f) * w[1];
    const double of_w[read] = {w[0] / (static_cast<double>(n2) * f2),
                               (near + n1) * of_near,
                               (near - n1) * of_near,
                               (far + f1) * of_far,
                               (far - f1) * of_far,
                               w[2]};
    for (int k = 0; k < read; ++k) sums[k] = std::fma(of_x[k], static_cast<float>(of_w[k]), sums[k]);
  }
  const float even_near = sums[1] + sums[2], odd_near = sums[1] - sums[2], even_far = sums[3] + sums[4],
              odd_far = sums[3] - sums[4];
  y[0] = sums[0] + (even_near + even_far);
  y[1] = std::fma(odd_far, f, odd_near * n);
  y[2] = std::fma(even_far, f2, even_near * n2);
  y[3] = sums[5] + std::fma(odd_far, f2 * f, odd_near * (n2 * n));
}

template <class Make>
void measure(const std::vector<Row>& rows, const char* numbers, const char* method, double one,
             const Make& make, double* error) {
  double squares = 0, scale = 0;
  for (const Row& row : rows) {
    float y[voxels] = {};
    make(row, y);
    for (int v = 0; v < voxels; ++v) {
      squares += (y[v] - row.exact[v]) * (y[v] - row.exact[v]);
      scale += row.exact[v] * row.exact[v];
    }
  }
  *error = std::sqrt(squares / scale);
  std::printf("%s,%s,%.3g,%.2f\n", numbers, method, *error, one == 0 ? 1.0 : *error / one);
}

}  // namespace
}  // namespace voxswap

int main(int count, char** arguments) {
  using namespace voxswap;
  if (count != 2 || std::atoll(arguments[1]) < 1) {
    std::fprintf(stderr, "usage: filtering_points CHANNELS\n");
    return 2;
  }
  constexpr float points[][2] = {{1, 2},        {0.5F, 1},      {0.5F, 1.5F},   {0.5F, 2},
                                 {0.75F, 1.5F}, {0.625F, 1.5F}, {0.6875F, 1.5F}};
  std::printf("numbers,by,error,of_one_by_one\n");
  for (const bool rectified : {false, true}) {
    const char* const numbers = rectified ? "rectified" : "uniform";
    std::vector<Row> rows;
    for (std::uint64_t i = 0; i < 4000; ++i)
      rows.push_back(random_row(9 * std::atoll(arguments[1]), rectified, i));
    double one = 0, other = 0;
    measure(rows, numbers, "one by one", 0, one_by_one, &one);
    measure(rows, numbers, "F(2 3)", one, by_two, &other);
    for (const auto& [near, far] : points) {
      char method[64];
      std::snprintf(method, sizeof method, "F(4 3) with %g and %g", near, far);
      measure(
          rows, numbers, method, one,
          [near = near, far = far](const Row& row, float(&y)[voxels]) { by_four(row, near, far, y); },
          &other);
    }
  }
  return 0;
}
