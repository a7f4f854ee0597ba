// Augmentation as a graph of operations (net/ops/spatial_map.cpp, net/ops/intensities.cpp). It contains the
// changes that the options may draw; what was drawn for a sample is a block of numbers that they read.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "data/augment/augment.h"
#include "data/volumes/prepared_case.h"
#include "net/backends/backend.h"

namespace voxswap::pipeline {

// For samples of one size. One thread at a time; its kernels use one core.
class SampleGraph {
 public:
  SampleGraph(const data::AugmentOptions& options, const Size3& size, std::int64_t channels);
  ~SampleGraph();
  SampleGraph(SampleGraph&&) noexcept;
  SampleGraph& operator=(SampleGraph&&) noexcept;

  // A part of a normalised case, augmented. Without any drawn change, every bit stays the same. Labels are
  // interpolated as one indicator per label and the largest wins, so no new label values appear. Positions
  // outside the box read its edge voxel. REQUIRES: drawn with the options, for a box of this size; a symmetry
  // that preserves the box size.
  data::NormalizedCase make(const data::Augmentation& drawn, const data::NormalizedCase& whole,
                            const VoxelBox& box);
  // The same with the image in memory that is there. Returns the labels.
  std::vector<std::int16_t> make(const data::Augmentation& drawn, const data::NormalizedCase& whole,
                                 const VoxelBox& box, std::span<float> image);

  // Whether it was made with these arguments.
  bool suits(const data::AugmentOptions& options, const Size3& size, std::int64_t channels) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Sample graphs for several threads at a time.
class SampleGraphs {
 public:
  // As SampleGraph::make(), from any thread.
  std::vector<std::int16_t> make(const data::AugmentOptions& options, const data::Augmentation& drawn,
                                 const data::NormalizedCase& whole, const VoxelBox& box,
                                 std::span<float> image);

 private:
  std::mutex mutex_;
  std::vector<SampleGraph> idle_;
};

}  // namespace voxswap::pipeline
