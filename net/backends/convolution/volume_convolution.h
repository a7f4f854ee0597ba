// Our own convolution kernels, forward and data gradient. Results do not depend on threads or slabs.
// Activations are read in place, and the workspace holds only the weights.
#pragma once

#include <memory>
#include <optional>

#include "net/backends/backend.h"
#include "net/backends/convolution/instruction_set.h"
#include "net/backends/convolution/sizes.h"
#include "net/graph/axes.h"

namespace voxswap::net::convolution {

// Sizes of y = w x with these axes, or of its data gradient: then `read` is dy and `made` dx. Nullopt if
// there is no kernel for it: more than three taps along an axis, dilation, strides above two, or thousands of
// channels.
std::optional<VolumeSizes> volume_sizes(const Shape& read, const Shape& made, const KernelAxes& axes,
                                        bool gradient);

// An ObservableKernel for a node with inputs x, w (, b or s), or dy, w (, b). REQUIRES: f32 or bf16.
std::unique_ptr<Kernel> make_volume_convolution(const VolumeSizes& sizes, ElementType type,
                                                Instructions instructions, Added added);

// Division of planes and output channels of a convolution among threads. It depends only on shapes and
// does not change results. If all weights fit in a core's L2 cache, a unit makes whole planes; else it makes
// some channels of several planes.
struct VolumeCut {
  std::int64_t tile = 1;                // output channels computed together
  std::int64_t block = 1, blocks = 1;   // output channels of a unit, and blocks with that many
  std::int64_t rest = 0;                // remaining output channels, fewer than a tile
  std::int64_t planes = 1, groups = 1;  // of all samples
  std::int64_t part_rows = 1;           // rows of a part of a plane, which fits in L2 cache

  std::int64_t units() const { return (blocks + (rest > 0 ? 1 : 0)) * groups; }
  VolumeUnit unit(const VolumeSizes& sizes, std::int64_t index, const PartMade* made) const;
};

// `words`: of the weights of an output channel. Up to `lanes` channels after the last tile form the rest.
VolumeCut cut_volume(const VolumeSizes& sizes, std::int64_t tile, std::int64_t lanes, std::int64_t words);

std::int64_t taps_of(const VolumeSizes& sizes);
std::int64_t parts_of(std::int64_t whole, std::int64_t part);
std::int64_t whole_parts(std::int64_t whole, std::int64_t part);

// A kernel that reports each part of a plane as soon as it is finished, so that it can be summed while in
// cache.
class ObservableKernel : public Kernel {
 public:
  virtual std::int64_t parts() const = 0;  // per plane; depends only on its shape
  virtual void run_observed(const KernelArguments& arguments, const PartMade* made) = 0;  // null: no observer
  void run(const KernelArguments& arguments) final { run_observed(arguments, nullptr); }
};

// Convolutions in bf16, forward and data gradient, by tile products (tiled_rows.h). Activations are read in
// place. The workspace holds only the weights, and each thread needs some kilobytes of stack.
//
// False if a voxel reads a single number of a row, because products take two.
bool is_tiled(const VolumeSizes& sizes);

// REQUIRES: is_tiled(sizes); amx or emulated_amx.
std::unique_ptr<Kernel> make_tiled_convolution(const VolumeSizes& sizes, Instructions instructions,
                                               Added added);

// Convolutions by minimal filtering along rows (sizes.h), forward and data gradient, for kernels of three
// taps along a row, without strides, in f32. They take about half of the products.
//
// Whether minimal filtering is faster. The answer depends on channels and sides of planes but not on the
// depth, because slabs of a volume must be computed like the whole volume.
bool is_filtered(const VolumeSizes& sizes);

// REQUIRES: is_filtered; portable, avx2 or avx512.
std::unique_ptr<Kernel> make_filtered_convolution(const VolumeSizes& sizes, Instructions instructions,
                                                  Added added);

}  // namespace voxswap::net::convolution
