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

// The samples of a training: all of one size.
struct SampleShape {
  data::AugmentOptions options;
  Size3 size;
  std::int64_t channels = 0;
  std::int64_t target_bytes = 0;                  // per voxel; 0: the labels are not encoded
  net::ElementType type = net::ElementType::f32;  // of the image
  bool operator==(const SampleShape&) const = default;
};

struct SampleNodes {
  net::Graph graph{};
  // Inputs: the voxels and labels of cases, what was drawn, control points of an elastic deformation (or
  // none), and the target of each label and of all voxels (or none).
  net::ValueId image = net::none, labels = net::none, space = net::none, channels = net::none,
               controls = net::none, table = net::none, always = net::none;
  // The image after the map, the image, labels, and targets (or none).
  net::ValueId mapped = net::none, result = net::none, mapped_labels = net::none, target = net::none;
};
// `voxels`: size of the memory that holds the cases. `controls`: maximum number of control points along each
// axis, or 0.
SampleNodes sample_nodes(const SampleShape& shape, std::int64_t voxels, std::int64_t controls);

// Approximate memory, in bytes, to make the samples of a batch one by one: values, workspaces, the box of a
// case, and the batch.
std::int64_t sample_bytes(const SampleShape& shape, std::int64_t batch_size);

// The random choices for a sample, in the form that these nodes read.
struct SampleNumbers {
  std::vector<double> space, channels;
  std::vector<float> controls;  // along x, y, z one after the other
};
// `first`: number of the case's first voxel in the memory that holds it.
SampleNumbers sample_numbers(const data::Augmentation& drawn, const data::NormalizedCase& whole,
                             const VoxelBox& box, std::int64_t first = 0);
// Copies control points to [3, each].
void place_controls(const SampleNumbers& numbers, std::int64_t each, float* to);

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
