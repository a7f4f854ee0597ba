// Brain, ventricles, folds and tumour of one subject.
#include <algorithm>
#include <cmath>

#include "data/phantoms/phantom.h"

namespace voxswap::data {

namespace {

double length(double a, double b) {
  return std::sqrt(a * a + b * b);
}

// The smallest of some signed distances; far outside if there are none.
double nearest_of(const std::vector<Ellipsoid>& bodies, const Point& p) {
  double distance = 1000;
  for (const Ellipsoid& body : bodies) distance = std::min(distance, body.distance(p));
  return distance;
}

void add_tumor(Anatomy& anatomy, Draws& draws) {
  const double core_radius = draws.uniform(16, 23), oedema_width = draws.uniform(7, 13);
  const double side = draws.uniform(0, 1) < 0.5 ? -1 : 1;
  const Point direction = {side * draws.uniform(0.45, 1), draws.uniform(-1, 1), draws.uniform(-0.7, 0.9)};
  const double norm = std::hypot(direction[0], direction[1], direction[2]), far = draws.uniform(0.35, 0.58);
  anatomy.rim_thickness = std::min(draws.uniform(7.5, 10.5), 0.55 * core_radius);
  Point centre{}, semi_axes{}, outer_centre{}, outer_axes{};
  for (std::size_t i = 0; i < 3; ++i) {
    centre[i] = anatomy.brain.centre()[i] + far * anatomy.brain.semi_axes()[i] * direction[i] / norm;
    semi_axes[i] = core_radius * draws.uniform(0.86, 1.16);
    outer_centre[i] = centre[i] + draws.uniform(-5, 5);
    outer_axes[i] = semi_axes[i] + oedema_width * draws.uniform(0.8, 1.3);
  }
  anatomy.core = {centre, semi_axes};
  anatomy.whole_tumor = {outer_centre, outer_axes};
}

}  // namespace

Anatomy draw_anatomy(std::uint64_t seed, int index) {
  Draws draws(seed, index, anatomy_draws);
  Anatomy anatomy;
  // Foreground boxes of 124..159 x 151..191 x 121..150 mm, as in the published study.
  const Point semi_axes = {draws.uniform(64, 77), draws.uniform(77, 93), draws.uniform(62, 72)};
  Point centre{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double middle = phantom_field_of_view[i] / 2, play = std::min(8.0, middle - semi_axes[i] - 3);
    centre[i] = middle + draws.uniform(-play, play);
  }
  anatomy.brain = {centre, semi_axes};
  const auto& [x, y, z] = centre;
  anatomy.midline = x + draws.uniform(-1.5, 1.5);
  const double width = draws.uniform(4.5, 8.5);
  for (double side : {-1.0, 1.0}) {
    const double from_midline = 6 + width + draws.uniform(-1, 1);
    anatomy.ventricles.push_back({{anatomy.midline + side * from_midline, y - 8, z + 10}, {width, 24, 9}});
    anatomy.ventricles.push_back(
        {{anatomy.midline + side * (from_midline + 7), y + 18, z + 4}, {width + 1, 15, 12}});
    anatomy.nuclei.push_back({{anatomy.midline + side * 15, y + 2, z - 6}, {10, 15, 11}});
    anatomy.nuclei.push_back({{anatomy.midline + side * 27, y - 12, z - 2}, {6, 16, 9}});
  }
  anatomy.ventricles.push_back({{anatomy.midline, y, z - 6}, {2.5, 12, 8}});
  const int lesions = 5 + static_cast<int>(draws.uniform(0, 8));
  for (int i = 0; i < lesions; ++i) {
    Point place{}, radii{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      place[axis] = centre[axis] + draws.uniform(-0.6, 0.6) * semi_axes[axis];
      radii[axis] = draws.uniform(4, 10);
    }
    anatomy.lesions.emplace_back(place, radii);
  }
  add_tumor(anatomy, draws);
  return anatomy;
}

Ellipsoid::Ellipsoid(const Point& centre, const Point& semi_axes)
    : centre_(centre),
      semi_axes_(semi_axes),
      inverse_{1 / semi_axes[0], 1 / semi_axes[1], 1 / semi_axes[2]},
      mean_radius_(std::cbrt(semi_axes[0] * semi_axes[1] * semi_axes[2])) {}

double Ellipsoid::distance(const Point& p) const {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double along = (p[i] - centre_[i]) * inverse_[i];
    sum += along * along;
  }
  return (std::sqrt(sum) - 1) * mean_radius_;
}

Distances measure(const Anatomy& anatomy, const Point& p, const FieldValues& field) {
  Distances d{};
  d.brain = anatomy.brain.distance(p) + 1.3 * field[shape];
  if (d.brain >= 0) return d;
  d.core = anatomy.core.distance(p) + 2.6 * field[core_edge];
  d.necrosis = d.core + anatomy.rim_thickness + 1.5 * field[rim];
  // Distance to any fluid: the surface, the folds (where a field is 0) and the interhemispheric gap.
  const double depth = -d.brain, fold = 7.5 * std::abs(field[folds]) + std::max(0.0, depth - 15) * 1.0;
  const double gap = std::abs(p[0] - anatomy.midline - 1.5 * field[shape]) + std::max(0.0, depth - 24);
  double to_fluid = std::min({depth, fold, gap});
  // Oedema spreads through white matter rather than cortex, and always surrounds the core.
  d.whole = anatomy.whole_tumor.distance(p) + 3.6 * field[oedema_edge] +
            3 * std::clamp((6 - to_fluid) / 4, 0.0, 1.0);
  d.whole = std::min(d.whole, d.core - 4);
  // Mass effect: folds and ventricles close around the tumour.
  const double pressed = std::max(0.0, 8 - d.whole);
  to_fluid += 0.5 * pressed;
  d.fluid = to_fluid - 1.3;
  d.cortex = to_fluid - 5.5;
  d.ventricle = nearest_of(anatomy.ventricles, p) + 1.2 * field[core_edge] + pressed;
  d.nucleus = nearest_of(anatomy.nuclei, p) + 1.0 * field[texture];
  d.lesion = nearest_of(anatomy.lesions, p) + 1.2 * field[oedema_edge];
  // Vessels are the curves where two fields are both 0; the large vein runs along the top of the gap.
  d.vessel = 12 * length(field[vessels_a], field[vessels_b]) - 2.2;
  // Patches of the meninges also enhance.
  d.vessel = std::min(d.vessel, std::max(depth - 4, 2 - 6 * field[vessels_a]));
  if (p[2] > anatomy.brain.centre()[2])
    d.vessel = std::min(d.vessel, length(gap, std::max(0.0, depth - 2)) - 4.5);
  return d;
}

}  // namespace voxswap::data
