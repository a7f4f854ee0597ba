// N4 bias field correction as in ITK (Tustison et al., "N4ITK: improved N3 bias correction", IEEE
// Transactions on Medical Imaging 29, 2010): estimates the smooth multiplicative field of the coil and
// divides by it.
#pragma once

#include <string>
#include <vector>

#include "data/volumes/volume.h"

namespace voxswap::data {

// The modalities selected by `wanted`: none for {}; for {"n4"} those with T1- or T2-weighted names (not
// FLAIR, where bright periventricular lesions resemble a bias field); else the named ones. Throws Exit::usage
// if a name is unknown, or if n4 finds none.
std::vector<bool> corrected_channels(const std::vector<std::string>& wanted,
                                     const std::vector<std::string>& modalities);

// `image` divided by its bias field. The field is fitted to the voxels that differ from `background`, on a
// coarser grid if there are many; other voxels do not change. The result does not depend on the number of
// threads. Throws Exit::bad_data naming `what` if the foreground has values without a logarithm.
Image correct_bias(const Image& image, float background, const std::string& what);

}  // namespace voxswap::data
