// Contrast and acquisition of one phantom subject: its anatomy in four sequences.
//
// Edges are one voxel wide, which imitates partial volume. The result depends only on seed, index and size.
#include "data/phantoms/phantom.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/volumes/smooth_field.h"

namespace voxswap::data {

namespace {

using Sequences = std::array<double, 4>;  // t1, t1ce, t2, flair; healthy white matter in t1 is 1

constexpr std::size_t flair = 3;
constexpr std::int16_t necrosis = 1, oedema = 2, enhancing = 4;

// Mean intensity per tissue and modality, and the acquisition of this subject.
struct Appearance {
  Sequences white{1.00, 0.98, 0.62, 0.72}, grey{0.76, 0.80, 0.86, 0.94}, fluid{0.34, 0.34, 1.55, 0.30};
  Sequences lesion{0.80, 0.82, 1.05, 1.22}, vessel{0.72, 1.38, 0.90, 0.98};
  Sequences oedema{0.76, 0.79, 1.06, 1.20}, core{0.70, 1.25, 0.96, 1.04}, necrosis{0.52, 0.54, 1.24, 0.78};
  Sequences scale{}, noise{}, bias{};
};

Appearance draw_appearance(std::uint64_t seed, int index) {
  Draws draws(seed, index, contrast_draws);
  Appearance look;
  for (Sequences* tissue : {&look.white, &look.grey, &look.fluid, &look.lesion, &look.vessel}) {
    for (double& mean : *tissue) mean *= draws.normal(1, 0.035);
  }
  for (Sequences* tissue : {&look.oedema, &look.core, &look.necrosis}) {
    for (double& mean : *tissue) mean *= std::clamp(draws.normal(1, 0.08), 0.85, 1.15);
  }
  for (std::size_t m = 0; m < 4; ++m) {
    look.scale[m] = 300 * std::exp(draws.uniform(-0.7, 1.2));  // MR intensities have no unit
    look.noise[m] = draws.uniform(0.04, 0.07);
    look.bias[m] = draws.uniform(0.08, 0.15);
  }
  return look;
}

// The fraction of a voxel inside a surface at this signed distance, for an edge of this half width.
double inside(double distance, double edge) {
  const double t = std::clamp(0.5 - distance / (2 * edge), 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

double mix(double a, double b, double part) {
  return a + (b - a) * part;
}

// Fraction of a voxel per tissue; later tissues cover earlier ones.
struct Parts {
  double grey, cap, lesion, fluid, vessel, whole, core, necrosis;
};

Parts parts_of(const Distances& d, double edge) {
  return {std::max(inside(d.cortex, edge), inside(d.nucleus, edge)),
          0.6 * inside(d.ventricle - 3.5, edge + 1),
          inside(d.lesion, edge),
          std::max(inside(d.fluid, edge), inside(d.ventricle, edge)),
          inside(d.vessel, edge),
          inside(d.whole, edge),
          inside(d.core, edge),
          inside(d.necrosis, edge)};
}

double intensity(const Appearance& look, const Parts& parts, const FieldValues& field, std::size_t modality) {
  double value = mix(look.white[modality], look.grey[modality], parts.grey);
  // Periventricular white matter is slightly bright in FLAIR at any age.
  if (modality == flair) value = mix(value, look.lesion[modality], parts.cap);
  value = mix(value, look.lesion[modality], parts.lesion);
  value = mix(value, look.fluid[modality], parts.fluid);
  value = mix(value, look.vessel[modality], parts.vessel);
  value *= 1 + 0.03 * field[texture];
  if (parts.whole > 0) {
    double tumor = mix(look.oedema[modality], look.core[modality], parts.core);
    tumor = mix(tumor, look.necrosis[modality], parts.necrosis) * (1 + 0.08 * field[mottle]);
    value = mix(value, tumor, parts.whole);
  }
  return value * std::exp(look.bias[modality] * (field[bias_common] + 0.7 * field[bias_t1 + modality]));
}

std::int16_t label(const Distances& d) {
  if (d.whole >= 0) return 0;
  if (d.core >= 0) return oedema;
  return d.necrosis >= 0 ? enhancing : necrosis;
}

// Magnitude images have Rician noise. Integers, at least 1 in the brain, as in a scanner's files.
float acquire(double value, double noise, double scale, const Philox::Block& random) {
  const double u = (random[0] + 0.5) * 0x1.0p-32, angle = 6.283185307179586 * (random[1] + 0.5) * 0x1.0p-32;
  const double length =
      noise * std::sqrt(-2 * std::log(u));  // Box-Muller; gives the real and the imaginary part
  const double magnitude = std::sqrt(value * value + length * (2 * value * std::cos(angle) + length));
  return static_cast<float>(std::max(1.0, std::round(scale * magnitude)));
}

// On a very coarse grid, a part of the tumour can fall between voxels; then the nearest voxel gets its label.
class NearestVoxels {
 public:
  void visit(std::size_t voxel, const Distances& d) {
    offer(0, voxel, d.necrosis);
    offer(1, voxel, std::abs(d.core + d.necrosis));
    offer(2, voxel, std::abs(d.whole + d.core));
  }
  void complete(std::vector<std::int16_t>& labels) const {
    constexpr std::array<std::int16_t, 3> values = {necrosis, enhancing, oedema};
    for (std::size_t i = 0; i < 3; ++i) {
      if (std::find(labels.begin(), labels.end(), values[i]) == labels.end()) labels[voxel_[i]] = values[i];
    }
  }

 private:
  void offer(std::size_t part, std::size_t voxel, double distance) {
    if (distance < distance_[part]) distance_[part] = distance, voxel_[part] = voxel;
  }
  std::array<double, 3> distance_{1e9, 1e9, 1e9};
  std::array<std::size_t, 3> voxel_{};
};

// The grid of BraTS, stretched over the same field of view.
Geometry phantom_geometry(const Size3& size) {
  Geometry geometry;
  geometry.size = size;
  const Point corner = {-0.5, -239.5, -0.5};  // so that 240x240x155 voxels of 1 mm start at (0, -239, 0)
  for (std::size_t i = 0; i < 3; ++i) {
    geometry.spacing[i] = phantom_field_of_view[i] / static_cast<double>(size[i]);
    geometry.origin[i] = corner[i] + geometry.spacing[i] / 2;
  }
  return geometry;
}

// The random fields of a subject, read row by row.
class Fields {
 public:
  Fields(std::uint64_t seed, int index, const Geometry& geometry) : geometry_(geometry) {
    for (std::uint32_t f = 0; f < field_count; ++f) {
      fields_.emplace_back(Philox(seed, static_cast<std::uint64_t>(index), first_field + f),
                           phantom_field_of_view, field_scale[f]);
      rows_.emplace_back(static_cast<std::size_t>(geometry.size[0]));
    }
  }
  void read_row(double y, double z) {
    const double step = geometry_.spacing[0];
    for (std::size_t f = 0; f < field_count; ++f) fields_[f].row(step / 2, step, y, z, rows_[f]);
  }
  FieldValues at(std::size_t x) const {
    FieldValues values;
    for (std::size_t f = 0; f < field_count; ++f) values[f] = rows_[f][x];
    return values;
  }

 private:
  Geometry geometry_;
  std::vector<SmoothField> fields_;
  std::vector<std::vector<float>> rows_;
};

}  // namespace

void check_phantom_size(const Size3& size) {
  for (std::int64_t side : size) {
    if (side < 16 || side > 1024) {
      fail(Exit::usage, "a phantom of {}x{}x{} voxels: each side must be 16 to 1024", size[0], size[1],
           size[2]);
    }
  }
}

Volume phantom(std::uint64_t seed, int index, const Size3& size) {
  check_phantom_size(size);
  const Geometry geometry = phantom_geometry(size);
  const std::size_t count = static_cast<std::size_t>(geometry.count());
  const Anatomy anatomy = draw_anatomy(seed, index);
  const Appearance look = draw_appearance(seed, index);
  const Philox noise(seed, static_cast<std::uint64_t>(index), voxel_noise);
  const auto& spacing = geometry.spacing;
  const double edge = std::max(1.0, 0.5 * std::cbrt(voxel_volume(spacing)));
  Fields fields(seed, index, geometry);
  NearestVoxels nearest;

  Volume volume{format("BraTS2021_{:05}", index), {}, {geometry, std::vector<std::int16_t>(count)}};
  for (int m = 0; m < 4; ++m) volume.channels.push_back({geometry, std::vector<float>(count)});
  constexpr double reach = 8;  // mm that the brain may bulge: six standard deviations of its shape field
  std::size_t voxel = 0;
  for (std::int64_t k = 0; k < size[2]; ++k) {
    for (std::int64_t j = 0; j < size[1]; ++j) {
      const double y = (static_cast<double>(j) + 0.5) * spacing[1],
                   z = (static_cast<double>(k) + 0.5) * spacing[2];
      if (anatomy.brain.distance({anatomy.brain.centre()[0], y, z}) > reach) {
        voxel += static_cast<std::size_t>(size[0]);
        continue;
      }
      fields.read_row(y, z);
      for (std::int64_t i = 0; i < size[0]; ++i, ++voxel) {
        const FieldValues field = fields.at(static_cast<std::size_t>(i));
        const Distances d = measure(anatomy, {(static_cast<double>(i) + 0.5) * spacing[0], y, z}, field);
        if (d.brain >= 0) continue;
        const Parts parts = parts_of(d, edge);
        nearest.visit(voxel, d);
        volume.truth.voxels[voxel] = label(d);
        for (std::size_t m = 0; m < 4; ++m) {
          const Philox::Block random = noise.block(static_cast<std::uint32_t>(4 * voxel + m));
          volume.channels[m].voxels[voxel] =
              acquire(intensity(look, parts, field, m), look.noise[m], look.scale[m], random);
        }
      }
    }
  }
  nearest.complete(volume.truth.voxels);
  return volume;
}

}  // namespace voxswap::data
