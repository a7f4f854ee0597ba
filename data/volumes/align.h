// Voxels of one grid read on another, wherever both lie in the world: for channels of a case that were
// scanned on grids of their own (`data.align`).
//
// No registration: positions in the files are believed. A voxel centre outside the moving grid, which reaches
// half a voxel beyond its outermost centres, gets `outside`.
#pragma once

#include "data/volumes/volume.h"

namespace voxswap::data {

Image resample_onto(const Geometry& grid, const Image& moving, float outside);  // linear
LabelMap resample_onto(const Geometry& grid, const LabelMap& moving);           // nearest, 0 outside

}  // namespace voxswap::data
