#include "metrics/distance_map.h"

#include <limits>

namespace voxswap::metrics {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// One line of voxels at a time, with the memory that its parabolas take.
class Line {
 public:
  Line(std::size_t length, double spacing)
      : spacing_(spacing), values_(length), apex_(length), begin_(length + 1) {}

  // The squared distances at `first`, `first + stride`, … become those in one dimension more.
  void pass(double* first, std::size_t stride) {
    const std::size_t length = values_.size();
    for (std::size_t i = 0; i < length; ++i) values_[i] = first[i * stride];
    if (!build_envelope()) return;
    std::size_t k = 0;
    for (std::size_t i = 0; i < length; ++i) {
      while (k + 1 < count_ && begin_[k + 1] < static_cast<double>(i)) ++k;
      const double away = (static_cast<double>(i) - static_cast<double>(apex_[k])) * spacing_;
      first[i * stride] = values_[apex_[k]] + away * away;
    }
  }

 private:
  // Which parabola is lowest from where on. False when all are infinitely high.
  bool build_envelope() {
    count_ = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] == infinity) continue;
      double begin = -infinity;
      while (count_ > 0) {
        begin = crossing(apex_[count_ - 1], i);
        if (begin > begin_[count_ - 1]) break;
        --count_;
        begin = -infinity;
      }
      apex_[count_] = i;
      begin_[count_++] = begin;
    }
    return count_ > 0;
  }

  // Where the parabola of `right` goes below that of `left`, in voxels.
  double crossing(std::size_t left, std::size_t right) const {
    const double a = static_cast<double>(left), b = static_cast<double>(right);
    return (a + b) / 2 + (values_[right] - values_[left]) / (2 * spacing_ * spacing_ * (b - a));
  }

  double spacing_;
  std::vector<double> values_;
  std::vector<std::size_t> apex_;
  std::vector<double> begin_;
  std::size_t count_ = 0;
};

}  // namespace

std::vector<double> squared_distances(const Mask& mask, const Spacing& spacing) {
  std::vector<double> distances(mask.voxels.size());
  for (std::size_t i = 0; i < distances.size(); ++i) distances[i] = mask.voxels[i] != 0 ? 0 : infinity;
  const auto nx = static_cast<std::size_t>(mask.size[0]), ny = static_cast<std::size_t>(mask.size[1]),
             nz = static_cast<std::size_t>(mask.size[2]);
  Line x(nx, spacing[0]), y(ny, spacing[1]), z(nz, spacing[2]);
  for (std::size_t row = 0; row < ny * nz; ++row) x.pass(&distances[row * nx], 1);
  for (std::size_t plane = 0; plane < nz; ++plane) {
    for (std::size_t i = 0; i < nx; ++i) y.pass(&distances[plane * nx * ny + i], nx);
  }
  for (std::size_t i = 0; i < nx * ny; ++i) z.pass(&distances[i], nx * ny);
  return distances;
}

}  // namespace voxswap::metrics
