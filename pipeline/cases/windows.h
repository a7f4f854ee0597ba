// Sliding-window inference, as in nnU-Net (Isensee et al., Nature Methods 2021): overlapping windows are
// evenly spaced, and probabilities are averaged with Gaussian weights, since predictions are most accurate in
// the centre of a window. Weights are products of one factor per axis, and each axis is normalised
// separately. The weights of all windows at a voxel therefore sum to 1, no final division is needed, and the
// weight of a single window is exactly 1.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/voxel_grid.h"
#include "pipeline/cases/plane_ring.h"

namespace voxswap::pipeline {

constexpr double window_sigma = 1.0 / 8;  // standard deviation relative to the window, as in nnU-Net

struct WindowAxis {
  std::vector<std::int64_t> starts;         // ascending, in voxels
  std::vector<std::vector<float>> weights;  // for each start, the weights along its window
};

struct Windows {
  Size3 volume{0, 0, 0}, window{0, 0, 0};  // voxels
  std::array<WindowAxis, 3> axes;

  std::size_t count() const;
  VoxelBox box(std::size_t index) const;
};

// `overlap`: minimum fraction of a window that the next one overlaps, in [0, 1); nnU-Net uses 0.5. REQUIRES:
// no side of the window is longer than the volume's.
Windows make_windows(const Size3& volume, const Size3& window, double overlap);

// Receives the planes of a volume (D,H,W,C) in order, several per call.
using TakePlanes = std::function<void(std::span<const float>)>;

// Receives all planes of a volume of `size` and forwards those inside the box.
TakePlanes planes_of(const VoxelBox& box, const Size3& size, std::int64_t channels, const TakePlanes& take);

// Averages the windows of a volume a layer at a time: the windows with the same first plane. Holds one window
// depth of planes.
class WindowSums {
 public:
  // Sums of `channels` values per voxel.
  WindowSums(const Size3& volume, const Size3& window, std::int64_t channels, Scratch& scratch);
  virtual ~WindowSums() = default;
  // The windows of the next layer; none after the last.
  virtual std::vector<VoxelBox> layer() const = 0;
  // Adds planes of one of these windows, from its plane `first` on. REQUIRES: windows in their order.
  void add(const VoxelBox& window, std::int64_t first, std::span<const float> planes);
  // Passes on the planes that no further window covers, and goes to the next layer.
  virtual void finish_layer(const TakePlanes& take) = 0;

 protected:
  // `first`: plane of the volume.
  virtual void add_planes(const VoxelBox& window, std::int64_t first, std::span<const float> planes) = 0;

  Size3 volume_, window_;
  std::int64_t channels_;
  PlaneRing sums_;
};

// Averages with the weights above.
class GaussianSums : public WindowSums {
 public:
  GaussianSums(Windows windows, std::int64_t channels, Scratch& scratch);
  std::vector<VoxelBox> layer() const override;
  void finish_layer(const TakePlanes& take) override;

 private:
  void add_planes(const VoxelBox& window, std::int64_t first, std::span<const float> planes) override;

  Windows windows_;
  std::size_t layer_ = 0;
};

// Averages the results of `compute` for each window's box (D,H,W,`channels`) and passes planes to `take`.
void stitch(const Windows& windows, std::int64_t channels,
            const std::function<std::vector<float>(const VoxelBox&)>& compute, const TakePlanes& take,
            Scratch scratch = {});
// Returns all planes at once.
std::vector<float> stitch(const Windows& windows, std::int64_t channels,
                          const std::function<std::vector<float>(const VoxelBox&)>& compute);

}  // namespace voxswap::pipeline
