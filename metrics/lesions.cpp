#include "metrics/lesions.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "metrics/surface.h"

namespace voxswap::metrics {

namespace {

constexpr double penalty = 374;  // mm

// Each iteration extends the region by one voxel from the voxels added last.
Mask dilated(const Mask& mask, std::int64_t times) {
  static const std::vector<Size3> offsets = neighbours(2);
  Mask result = mask;
  std::vector<std::size_t> rim, next;
  for (std::size_t i = 0; i < mask.voxels.size(); ++i) {
    if (mask.voxels[i] != 0) rim.push_back(i);
  }
  for (; times > 0; --times) {
    for (const std::size_t voxel : rim) {
      for_neighbours(voxel, mask.size, offsets, [&](std::size_t j) {
        if (std::exchange(result.voxels[j], std::uint8_t{1}) == 0) next.push_back(j);
      });
    }
    rim = std::exchange(next, {});
  }
  return result;
}

// Bounding boxes of the voxels of labels 1, 2, … that satisfy `counts`.
template <class Counts>
std::vector<VoxelBox> boxes(const std::vector<std::int32_t>& labels, std::size_t count, const Size3& size,
                            Counts counts) {
  std::vector<VoxelBox> found(count);
  std::size_t i = 0;
  for (std::int64_t z = 0; z < size[2]; ++z) {
    for (std::int64_t y = 0; y < size[1]; ++y) {
      for (std::int64_t x = 0; x < size[0]; ++x, ++i) {
        if (labels[i] == 0 || !counts(i)) continue;
        include(found[static_cast<std::size_t>(labels[i] - 1)], {{x, y, z}, {1, 1, 1}});
      }
    }
  }
  return found;
}

// Components of a case: lesions are numbered by the components of the dilated ground truth.
struct Scene {
  const Mask& truth;
  Components lesions, predicted;
  std::vector<std::set<std::int32_t>> found_by;  // per lesion: components of the prediction that overlap it
  std::vector<VoxelBox> lesion_boxes, predicted_boxes;
};

Scene look_at(const Mask& truth, const Mask& prediction, std::int64_t dilation) {
  Scene scene{truth, connected_components(dilated(truth, dilation)), connected_components(prediction), {}, {},
              {}};
  const std::vector<std::int32_t>&lesion = scene.lesions.labels, &component = scene.predicted.labels;
  scene.found_by.resize(scene.lesions.sizes.size());
  for (std::size_t i = 0; i < lesion.size(); ++i) {
    if (lesion[i] != 0 && component[i] != 0)
      scene.found_by[static_cast<std::size_t>(lesion[i] - 1)].insert(component[i]);
  }
  scene.lesion_boxes =
      boxes(lesion, scene.found_by.size(), truth.size, [&](std::size_t i) { return truth.voxels[i] != 0; });
  scene.predicted_boxes =
      boxes(component, scene.predicted.sizes.size(), truth.size, [](std::size_t) { return true; });
  return scene;
}

// A lesion and the components that found it, cut to their bounding box.
struct Pair {
  Mask truth, prediction;
};

Pair cut_lesion(const Scene& scene, std::size_t lesion) {
  const std::set<std::int32_t>& components = scene.found_by[lesion];
  VoxelBox box = scene.lesion_boxes[lesion];
  for (const std::int32_t component : components) {
    include(box, scene.predicted_boxes[static_cast<std::size_t>(component - 1)]);
  }
  Pair pair;
  pair.truth.size = pair.prediction.size = box.size;
  pair.truth.in_slice = pair.prediction.in_slice = scene.truth.in_slice;
  const Size3& size = scene.truth.size;
  for (std::int64_t z = box.start[2]; z < box.end()[2]; ++z) {
    for (std::int64_t y = box.start[1]; y < box.end()[1]; ++y) {
      for (std::int64_t x = box.start[0]; x < box.end()[0]; ++x) {
        const auto i = static_cast<std::size_t>((z * size[1] + y) * size[0] + x);
        const bool in_lesion = static_cast<std::size_t>(scene.lesions.labels[i]) == lesion + 1;
        pair.truth.voxels.push_back(scene.truth.voxels[i] != 0 && in_lesion);
        pair.prediction.voxels.push_back(components.contains(scene.predicted.labels[i]));
      }
    }
  }
  return pair;
}

std::int64_t false_positives(const Scene& scene) {
  std::set<std::int32_t> used;
  for (const auto& components : scene.found_by) used.insert(components.begin(), components.end());
  return static_cast<std::int64_t>(scene.predicted.sizes.size() - used.size());
}

}  // namespace

LesionScores lesion_scores(const Mask& truth, const Mask& prediction, const Spacing& spacing,
                           const LesionOptions& options, EmptyRule rule) {
  const Scene scene = look_at(truth, prediction, options.dilation);
  LesionScores scores;
  scores.false_positives = false_positives(scene);
  scores.hd95 = penalty * static_cast<double>(scores.false_positives);
  for (std::size_t lesion = 0; lesion < scene.found_by.size(); ++lesion) {
    const Pair pair = cut_lesion(scene, lesion);
    const double volume = static_cast<double>(pair.truth.count()) * spacing[0] * spacing[1] * spacing[2];
    if (volume <= options.volume) continue;
    if (scene.found_by[lesion].empty()) {
      ++scores.missed;
      scores.hd95 += penalty;
      continue;
    }
    ++scores.found;
    scores.dice += dice(overlap(pair.truth, pair.prediction), rule);
    scores.hd95 += hd95(surface_distances(pair.truth, pair.prediction, spacing), rule);
  }
  const std::int64_t parts = scores.found + scores.missed + scores.false_positives;
  if (parts == 0) {
    scores.dice = empty_score(true, rule);
    scores.hd95 = empty_distance(true, rule);
  } else {
    scores.dice /= static_cast<double>(parts);
    scores.hd95 /= static_cast<double>(parts);
  }
  return scores;
}

Components connected_components(const Mask& mask) {
  static const std::vector<Size3> all = neighbours(3);
  Components found;
  found.labels.assign(mask.voxels.size(), 0);
  std::vector<std::size_t> reached;
  for (std::size_t first = 0; first < mask.voxels.size(); ++first) {
    if (mask.voxels[first] == 0 || found.labels[first] != 0) continue;
    const auto label = static_cast<std::int32_t>(found.sizes.size() + 1);
    found.sizes.push_back(0);
    const auto take = [&](std::size_t voxel) {
      if (mask.voxels[voxel] == 0 || found.labels[voxel] != 0) return;
      found.labels[voxel] = label;
      reached.push_back(voxel);
    };
    take(first);
    while (!reached.empty()) {
      const std::size_t voxel = reached.back();
      reached.pop_back();
      ++found.sizes.back();
      for_neighbours(voxel, mask.size, all, take);
    }
  }
  return found;
}

}  // namespace voxswap::metrics
