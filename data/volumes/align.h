// Resamples a volume onto another grid by world coordinates, for channels of a case that have different grids
// (`data.align`).
//
// No registration: positions in the files are believed. A voxel centre outside the moving grid, which reaches
// half a voxel beyond its outermost centres, gets `outside`.
#pragma once

#include "data/volumes/volume.h"

namespace voxswap::data {

Image resample_onto(const Geometry& grid, const Image& moving, float outside);  // linear
LabelMap resample_onto(const Geometry& grid, const LabelMap& moving);           // nearest, 0 outside

}  // namespace voxswap::data
