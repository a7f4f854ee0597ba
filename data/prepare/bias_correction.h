// N4 bias field correction as in ITK (Tustison et al., "N4ITK: improved N3 bias correction", IEEE
// Transactions on Medical Imaging 29, 2010): estimates the smooth multiplicative field of the coil and
// divides it out.
#pragma once

#include <string>
#include <vector>

#include "data/volumes/volume.h"

namespace voxswap::data {

// Which of the modalities `wanted` means: none of them for {}, for {"n4"} those that are T1- or T2-weighted
// by their names (not FLAIR, in which bright lesions near the ventricles look like a field), else the ones
// named. Throws Exit::usage when a name is unknown, or when n4 finds none.
std::vector<bool> corrected_channels(const std::vector<std::string>& wanted,
                                     const std::vector<std::string>& modalities);

// `image` without its field. Fitted on a grid that is coarser where there are many voxels, to those that
// differ from `background`; what lies outside them stays as it is. The same bits whatever the number of
// threads. Throws Exit::bad_data naming `what` when the foreground holds values that have no logarithm.
Image correct_bias(const Image& image, float background, const std::string& what);

}  // namespace voxswap::data
