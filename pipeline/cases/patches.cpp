#include "pipeline/cases/patches.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/philox.h"
#include "base/shape.h"

namespace voxswap::pipeline {

namespace {

// Index of the number-th voxel with this label, in storage order. `planes`: of the label.
std::int64_t find_voxel(const std::vector<std::int64_t>& planes, const std::vector<std::int16_t>& truth,
                        std::int64_t plane, std::int16_t label, std::int64_t number) {
  std::int64_t z = 0;
  for (; number >= planes[index(z)]; ++z) number -= planes[index(z)];
  std::int64_t at = z * plane;
  while (truth[index(at)] != label || number-- > 0) ++at;
  return at;
}

}  // namespace

Size3 input_size(const Experiment& experiment) {
  return experiment.training.patch.value_or(experiment.preprocess.resolution);
}

VoxelBox network_box(const Size3& prepared, const Experiment& experiment) {
  return experiment.preprocess.by_spacing() ? padded_box(prepared, input_size(experiment))
                                            : VoxelBox{{0, 0, 0}, prepared};
}

VoxelBox without_padding(const VoxelBox& box, const Size3& size) {
  return {{-box.start[0], -box.start[1], -box.start[2]}, size};
}

std::int64_t patches_per_case(const Experiment& experiment) {
  const double whole = static_cast<double>(voxels_in(experiment.preprocess.resolution));
  return std::max<std::int64_t>(1,
                                std::llround(whole / static_cast<double>(voxels_in(input_size(experiment)))));
}

LabelPlanes label_planes(const std::vector<std::int16_t>& truth, const Size3& size, int ignored) {
  LabelPlanes planes;
  const std::int64_t plane = size[0] * size[1];
  std::int16_t last = 0;
  std::vector<std::int64_t>* counts = nullptr;  // of the label `last`
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const std::int16_t label = truth[i];
    if (label == 0 || label == ignored) continue;
    if (label != std::exchange(last, label)) {
      counts = &planes[label];
      counts->resize(index(size[2]));
    }
    ++(*counts)[i / index(plane)];
  }
  return planes;
}

VoxelBox draw_patch(const LabelPlanes& planes, const std::vector<std::int16_t>& truth, const Size3& size,
                    const Size3& patch, std::uint64_t seed, std::uint64_t epoch, std::uint32_t number,
                    double foreground) {
  const Philox random(seed, epoch, 0x9a7c);
  const std::uint64_t at = 8 * std::uint64_t{number};
  const auto below = [&](std::uint64_t draw, std::int64_t n) {
    return static_cast<std::int64_t>(random.word(at + draw) % static_cast<std::uint64_t>(n));
  };
  VoxelBox box{{0, 0, 0}, patch};
  const VoxelBox padded = padded_box(size, patch);  // contains all patches
  const auto last = [&](std::size_t axis) { return padded.start[axis] + padded.size[axis] - patch[axis]; };
  for (std::size_t axis = 0; axis < 3; ++axis)
    box.start[axis] = padded.start[axis] + below(axis, padded.size[axis] - patch[axis] + 1);
  if (random.uniform(at + 3) >= static_cast<float>(foreground)) return box;
  if (planes.empty()) return box;
  const auto& [label, counts] = *std::next(planes.begin(), below(4, std::ssize(planes)));
  const std::int64_t count = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const std::int64_t voxel = find_voxel(counts, truth, size[0] * size[1], label, below(5, count));
  const Size3 centre{voxel % size[0], voxel / size[0] % size[1], voxel / (size[0] * size[1])};
  for (std::size_t axis = 0; axis < 3; ++axis)
    box.start[axis] =
        std::clamp<std::int64_t>(centre[axis] - patch[axis] / 2, padded.start[axis], last(axis));
  return box;
}

VoxelBox padded_box(const Size3& size, const Size3& least) {
  VoxelBox box;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box.size[axis] = std::max(size[axis], least[axis]);
    box.start[axis] = (size[axis] - box.size[axis]) / 2;
  }
  return box;
}

namespace {

// Intersection of the box with the volume.
VoxelBox inside(const VoxelBox& box, const Size3& size) {
  VoxelBox part;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    part.start[axis] = std::max<std::int64_t>(box.start[axis], 0);
    part.size[axis] = std::min(box.start[axis] + box.size[axis], size[axis]) - part.start[axis];
  }
  return part;
}

// Copies the voxels of `part` into an array for `box`; all other voxels are set to `values`.
template <class T>
std::vector<T> padded(const std::vector<T>& voxels, const VoxelBox& part, const VoxelBox& box,
                      const std::vector<T>& values) {
  const auto channels = static_cast<std::int64_t>(values.size());
  std::vector<T> result;
  result.reserve(index(voxels_in(box.size) * channels));
  while (result.size() < result.capacity()) result.insert(result.end(), values.begin(), values.end());
  auto row = voxels.begin();
  for (std::int64_t z = 0; z < part.size[2]; ++z) {
    for (std::int64_t y = 0; y < part.size[1]; ++y, row += part.size[0] * channels) {
      const std::int64_t at =
          ((part.start[2] - box.start[2] + z) * box.size[1] + part.start[1] - box.start[1] + y) *
              box.size[0] +
          part.start[0] - box.start[0];
      std::copy(row, row + part.size[0] * channels, result.begin() + at * channels);
    }
  }
  return result;
}

// Sets size, image and truth of a part.
template <class Case>
void cut_voxels(const Case& whole, const VoxelBox& box, Case& part) {
  const VoxelBox there = inside(box, whole.size);
  part.size = box.size;
  part.channels = whole.channels;
  part.image = cut(whole.image, whole.size, there, whole.channels);
  if (!whole.truth.empty()) part.truth = cut(whole.truth, whole.size, there, 1);
  if (there == box) return;
  part.image = padded(part.image, there, box, whole.background);
  if (!whole.truth.empty()) part.truth = padded(part.truth, there, box, {0});
}

}  // namespace

data::NormalizedCase cut_case(const data::NormalizedCase& whole, const VoxelBox& box) {
  data::NormalizedCase part;
  cut_voxels(whole, box, part);
  part.spacing = whole.spacing;
  part.background = whole.background;
  return part;
}

data::PreparedCase cut_case(const data::PreparedCase& whole, const VoxelBox& box) {
  data::PreparedCase part;
  cut_voxels(whole, box, part);
  part.id = whole.id;
  const data::CaseStatistics& all = whole.statistics;
  part.statistics = {all.mean, all.deviation, {}, all.missing};
  part.background = whole.background;
  part.box = box;
  part.original = whole.training_geometry();
  return part;
}

template <class T>
std::vector<T> cut(const std::vector<T>& voxels, const Size3& size, const VoxelBox& box,
                   std::int64_t channels) {
  assert(static_cast<std::int64_t>(voxels.size()) == voxels_in(size) * channels);
  std::vector<T> part;
  part.reserve(index(voxels_in(box.size) * channels));
  for (std::int64_t z = 0; z < box.size[2]; ++z) {
    for (std::int64_t y = 0; y < box.size[1]; ++y) {
      const std::int64_t row = ((box.start[2] + z) * size[1] + box.start[1] + y) * size[0] + box.start[0];
      const auto first = voxels.begin() + row * channels;
      part.insert(part.end(), first, first + box.size[0] * channels);
    }
  }
  return part;
}

template std::vector<float> cut(const std::vector<float>&, const Size3&, const VoxelBox&, std::int64_t);
template std::vector<std::uint8_t> cut(const std::vector<std::uint8_t>&, const Size3&, const VoxelBox&,
                                       std::int64_t);
template std::vector<std::int16_t> cut(const std::vector<std::int16_t>&, const Size3&, const VoxelBox&,
                                       std::int64_t);

}  // namespace voxswap::pipeline
