// A lock around GDCM, whose objects share state without one, in readers and writers.
#pragma once

#include <mutex>

namespace voxswap::data {

// Whoever has any of GDCM's objects holds this, so that threads may read and write DICOM files at once.
std::unique_lock<std::mutex> gdcm_turn();

}  // namespace voxswap::data
