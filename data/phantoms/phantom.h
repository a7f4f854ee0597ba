// Synthetic multimodal brain images with nested tumours, for training and tests without patient data.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/philox.h"
#include "data/phantoms/phantom_layouts.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// Incremented whenever the same seed gives different phantoms.
inline constexpr int phantom_generation = 1;

void check_phantom_size(const Size3& size);  // throws Exit::usage unless each side is 16 to 1024

// One subject: t1, t1ce, t2, flair and the ground truth (1 necrosis, 2 oedema, 4 enhancing); images are 0
// outside the brain. A pure function of seed, index and size. The grid always covers 240 x 240 x 155 mm, so
// spacing depends on size.
Volume phantom(std::uint64_t seed, int index, const Size3& size);

// Writes `cases` phantoms as a data set, in any of the arrangements of phantom_layouts.h. A complete data set
// with the same options is kept (returns false); phantoms with other options from an earlier call are
// replaced; other files are never overwritten.
bool write_phantoms(const PhantomOptions& options);

// The anatomy of a phantom subject: shapes in millimetres, as signed distances that a grid samples.
//
// All shapes are in a field of view of 240 x 240 x 155 mm (that of BraTS) and deformed by smooth random
// fields, so grids of any size show the same subject. Signed distances are in mm, negative inside.
using Point = std::array<double, 3>;
inline constexpr Point phantom_field_of_view = {240, 240, 155};

// The random streams of a subject; its fields use `first_field` onwards.
enum PhantomStream : std::uint32_t { anatomy_draws, contrast_draws, voxel_noise, first_field };

// Draws successive numbers from one stream.
class Draws {
 public:
  Draws(std::uint64_t seed, int index, PhantomStream stream)
      : random_(seed, static_cast<std::uint64_t>(index), stream) {}
  double uniform(double low, double high) { return low + (high - low) * random_.uniform(next_++); }
  double normal(double mean, double deviation) { return mean + deviation * random_.normal(1000 + next_++); }

 private:
  Philox random_;
  std::uint64_t next_ = 0;
};

enum Field : std::uint32_t {
  shape,
  folds,
  texture,
  vessels_a,
  vessels_b,
  core_edge,
  oedema_edge,
  rim,
  mottle,
  bias_common,
  bias_t1,
  bias_t1ce,
  bias_t2,
  bias_flair,
  field_count
};
// Size of the features in mm.
inline constexpr std::array<double, field_count> field_scale = {45, 15, 8,  30, 30, 18, 20,
                                                                14, 11, 90, 70, 70, 70, 70};
using FieldValues = std::array<double, field_count>;  // at one point

class Ellipsoid {
 public:
  Ellipsoid() = default;
  Ellipsoid(const Point& centre, const Point& semi_axes);
  double distance(const Point& p) const;  // approximate signed distance
  const Point& centre() const { return centre_; }
  const Point& semi_axes() const { return semi_axes_; }

 private:
  Point centre_{}, semi_axes_{1, 1, 1}, inverse_{1, 1, 1};
  double mean_radius_ = 1;
};

struct Anatomy {
  Ellipsoid brain, core, whole_tumor;
  std::vector<Ellipsoid> ventricles, nuclei, lesions;  // lesions: white-matter hyperintensities, not tumour
  double midline = 0, rim_thickness = 0;
};

struct Distances {
  double brain, fluid, cortex, ventricle, nucleus, lesion, vessel, whole, core, necrosis;
};

Anatomy draw_anatomy(std::uint64_t seed, int index);
// Where d.brain >= 0, the other distances are not computed.
Distances measure(const Anatomy& anatomy, const Point& p, const FieldValues& field);

}  // namespace voxswap::data
