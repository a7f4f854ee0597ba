// Training on patches (training.patch) instead of whole prepared volumes, for networks that do not fit
// otherwise and for comparison with whole volumes.
//
// Patches are drawn as in nnU-Net: a fraction (training.foreground) is centred on a voxel of a randomly
// chosen label, so that rare labels are seen; the rest are uniformly distributed. Patches are inside the
// volume. Along an axis where the volume is smaller than the patch (possible with preprocess.spacing), it is
// centred in the patch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "data/prepare/prepare.h"
#include "data/volumes/transforms.h"
#include "pipeline/cases/experiment.h"

namespace voxswap::pipeline {

// Size of the network's input: the patch, or the whole prepared volume.
Size3 input_size(const Experiment& experiment);

// Box of a whole prepared case, padded to the network's input size where it is smaller.
VoxelBox network_box(const Size3& prepared, const Experiment& experiment);

// Position of the unpadded volume of `size` inside that box.
VoxelBox without_padding(const VoxelBox& box, const Size3& size);

// Patches drawn per case and epoch: about as many as cover the volume. 1 without patches.
std::int64_t patches_per_case(const Experiment& experiment);

// How many voxels of each label, other than background and `ignored`, are in each plane of a case, so that
// drawing a patch reads one plane of labels.
using LabelPlanes = std::map<std::int16_t, std::vector<std::int64_t>>;
LabelPlanes label_planes(const std::vector<std::int16_t>& truth, const Size3& size, int ignored = 0);

// `planes`: of `truth`; without any, patches are uniformly distributed. `number`: index among the epoch's
// patches of all cases, below 2^32. `foreground`: fraction centred on a label.
VoxelBox draw_patch(const LabelPlanes& planes, const std::vector<std::int16_t>& truth, const Size3& size,
                    const Size3& patch, std::uint64_t seed, std::uint64_t epoch, std::uint32_t number,
                    double foreground = 1.0 / 3);

// Pads a volume of `size` symmetrically to at least `least` voxels: the box starts below 0 where it is
// larger.
VoxelBox padded_box(const Size3& size, const Size3& least);

// Crops a prepared case; keeps world coordinates and the statistics of the whole volume. Voxels outside the
// volume are background without label.
data::PreparedCase cut_case(const data::PreparedCase& whole, const VoxelBox& box);
data::NormalizedCase cut_case(const data::NormalizedCase& whole, const VoxelBox& box);

// Crops a D,H,W,C array (C innermost) of `size`. REQUIRES: the box is inside.
template <class T>
std::vector<T> cut(const std::vector<T>& voxels, const Size3& size, const VoxelBox& box,
                   std::int64_t channels);

}  // namespace voxswap::pipeline
