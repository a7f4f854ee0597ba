// Training on patches: boxes of the prepared volume in place of all of it (training.patch), for networks that
// do not fit otherwise, and for the comparison with whole volumes.
//
// Where a patch lies is drawn as nnU-Net draws it: some of them (training.foreground) around a voxel of a
// label that is drawn first, so that rare labels are seen, the others anywhere. Patches lie inside the
// volume; along an axis where it is smaller, as with preprocess.spacing, it lies in the middle of the patch.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "data/prepare/prepare.h"
#include "data/volumes/transforms.h"
#include "pipeline/cases/options.h"

namespace voxswap::pipeline {

// What the network sees at a time: the patch, or the whole prepared volume.
data::Size3 input_size(const RunOptions& options);

// All of a prepared case, padded to what the network sees where it is smaller.
data::Box network_box(const data::PreparedCase& prepared, const RunOptions& options);

// Where the volume of `size` lies in that box.
data::Box without_padding(const data::Box& box, const data::Size3& size);

// How many patches an epoch takes of each case: as many as make about a whole volume. 1 without patches.
std::int64_t patches_per_case(const RunOptions& options);

// `number`: which of the epoch's patches of all cases, below 2^32. `foreground`: the share around
// a label, but the one to be ignored. `truth` may be empty: then anywhere.
data::Box draw_patch(const std::vector<std::int16_t>& truth, const data::Size3& size,
                     const data::Size3& patch, std::uint64_t seed, std::uint64_t epoch, std::uint32_t number,
                     double foreground = 1.0 / 3, int ignored = 0);

// A volume of `size` in the middle of at least `least` voxels: the box starts before 0 where they are more.
data::Box padded_box(const data::Size3& size, const data::Size3& least);

// The part of a prepared case, with its place in the world and the statistics of the whole. What lies outside
// of the volume is background, and has no label.
data::PreparedCase cut_case(const data::PreparedCase& whole, const data::Box& box);

// Sliding windows: how a network that sees a part of a volume at a time predicts all of it.
//
// As nnU-Net does it (Isensee et al., Nature Methods 2021): windows lie evenly and overlap, and where several
// see a voxel their probabilities are averaged with Gaussian weights, since a network knows the middle of its
// window best. Weights are a product over the axes and so are their sums, so each axis is normalised by
// itself: the weights of all windows at a voxel sum to 1, nothing is divided at the end, and where there is
// one window its weight is exactly 1.
constexpr double window_sigma = 1.0 / 8;  // of the Gaussian, in windows: nnU-Net's

struct WindowAxis {
  std::vector<std::int64_t> starts;         // ascending, in voxels
  std::vector<std::vector<float>> weights;  // of each start, along its window
};

struct Windows {
  data::Size3 volume{0, 0, 0}, window{0, 0, 0};  // voxels
  std::array<WindowAxis, 3> axes;

  std::size_t count() const;
  data::Box box(std::size_t index) const;
};

// `overlap`: the part of a window that the next one sees again, at least; from 0 to below 1. nnU-Net's is
// 0.5. REQUIRES: no side of the window is longer than the volume's.
Windows make_windows(const data::Size3& volume, const data::Size3& window, double overlap);

// The box of a D,H,W,C array (C innermost) of `size`. REQUIRES: it lies inside.
template <class T>
std::vector<T> cut(const std::vector<T>& voxels, const data::Size3& size, const data::Box& box,
                   std::int64_t channels);

// What takes the planes of a volume, D,H,W,C, one after the other in order, some at a time.
using TakePlanes = std::function<void(std::span<const float>)>;

// Takes all planes of a volume of `size` and hands on those of the box.
TakePlanes planes_of(const data::Box& box, const data::Size3& size, std::int64_t channels,
                     const TakePlanes& take);

// Puts together what `compute` says about each window's box, D,H,W,`channels`, and hands planes on as soon as
// no window is left that sees them: no more of them are held than a window is deep.
void stitch(const Windows& windows, std::int64_t channels,
            const std::function<std::vector<float>(const data::Box&)>& compute, const TakePlanes& take);
// All of them at once.
std::vector<float> stitch(const Windows& windows, std::int64_t channels,
                          const std::function<std::vector<float>(const data::Box&)>& compute);

}  // namespace voxswap::pipeline
