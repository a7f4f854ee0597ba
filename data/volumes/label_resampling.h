// Resampling of label maps, by the nearest voxel or by the labels' shares.
//
// Voxel centres are aligned as in transforms.h. At every even ratio, and in part at others, a centre lies
// halfway between voxels. A rule that always prefers one side would shift all labels against their image by
// half a voxel, and one that prefers a label would make the others smaller: majorities decide, then the
// voxels of alternating sides.
#pragma once

#include <optional>

#include "data/volumes/volume.h"

namespace voxswap::data {

// The label of the nearest voxel; among equally near ones, the most frequent label.
LabelMap resample_nearest(const LabelMap& labels, const Size3& size);

// The label with the largest share of a voxel when each is resampled linearly. `slices_along`: the axis along
// which the nearest voxel is taken. Ties are won by the label of the nearest voxel if it is among them. In
// nnU-Net, the nearest of two equally near voxels is the upper one, and positions are rounded as in SciPy,
// which decides what is a tie.
enum class Ties { alternating, as_in_nnunet };
LabelMap resample_shares(const LabelMap& labels, const Size3& size,
                         std::optional<std::size_t> slices_along = {}, Ties ties = Ties::alternating);

}  // namespace voxswap::data
