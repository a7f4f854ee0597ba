#include "pipeline/cases/patches.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/philox.h"
#include "pipeline/cases/windows.h"

namespace voxswap::pipeline {

namespace {

std::int64_t voxels(const data::Size3& size) {
  return size[0] * size[1] * size[2];
}

std::set<std::int16_t> labels_in(const std::vector<std::int16_t>& truth, int ignored) {
  std::set<std::int16_t> labels;
  std::int16_t last = 0;
  for (const std::int16_t label : truth) {
    if (label != last && label != 0 && label != ignored) labels.insert(label);
    last = label;
  }
  return labels;
}

// The number-th voxel of a label, counted in the array's order.
std::int64_t find_voxel(const std::vector<std::int16_t>& truth, std::int16_t label, std::int64_t number) {
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] == label && number-- == 0) return static_cast<std::int64_t>(i);
  }
  return 0;
}

}  // namespace

data::Size3 input_size(const RunOptions& options) {
  return options.training.patch.value_or(options.preprocess.resolution);
}

std::int64_t patches_per_case(const RunOptions& options) {
  const double whole = static_cast<double>(voxels(options.preprocess.resolution));
  return std::max<std::int64_t>(1, std::llround(whole / static_cast<double>(voxels(input_size(options)))));
}

data::Box draw_patch(const std::vector<std::int16_t>& truth, const data::Size3& size,
                     const data::Size3& patch, std::uint64_t seed, std::uint64_t epoch, std::uint32_t number,
                     double foreground, int ignored) {
  const Philox random(seed, epoch, 0x9a7c);
  const std::uint64_t at = 8 * std::uint64_t{number};
  const auto below = [&](std::uint64_t draw, std::int64_t n) {
    return static_cast<std::int64_t>(random.word(at + draw) % static_cast<std::uint64_t>(n));
  };
  data::Box box{{0, 0, 0}, patch};
  for (std::size_t axis = 0; axis < 3; ++axis) box.start[axis] = below(axis, size[axis] - patch[axis] + 1);
  if (random.uniform(at + 3) >= static_cast<float>(foreground)) return box;
  const std::set<std::int16_t> labels = labels_in(truth, ignored);
  if (labels.empty()) return box;
  const std::int16_t label = *std::next(labels.begin(), below(4, static_cast<std::int64_t>(labels.size())));
  const std::int64_t count = std::count(truth.begin(), truth.end(), label);
  const std::int64_t voxel = find_voxel(truth, label, below(5, count));
  const data::Size3 centre{voxel % size[0], voxel / size[0] % size[1], voxel / (size[0] * size[1])};
  for (std::size_t axis = 0; axis < 3; ++axis)
    box.start[axis] = std::clamp<std::int64_t>(centre[axis] - patch[axis] / 2, 0, size[axis] - patch[axis]);
  return box;
}

data::PreparedCase cut_case(const data::PreparedCase& whole, const data::Box& box) {
  data::PreparedCase part;
  part.id = whole.id;
  part.size = box.size;
  part.channels = whole.channels;
  part.image = cut(whole.image, whole.size, box, whole.channels);
  if (!whole.truth.empty()) part.truth = cut(whole.truth, whole.size, box, 1);
  part.mean = whole.mean;
  part.deviation = whole.deviation;
  part.background = whole.background;
  part.missing = whole.missing;
  part.box = box;
  part.original = whole.training_geometry();
  return part;
}

}  // namespace voxswap::pipeline
