// The libraries of this room: their versions, for `voxswap info`, and the lock around GDCM.
#pragma once

#include <mutex>
#include <string>

namespace voxswap::data {

std::string data_libraries();  // "ITK 5.2.1"

// A lock around GDCM, whose objects share state without one.
// Whoever has any of GDCM's objects holds this, so that threads may read and write DICOM files at once.
std::unique_lock<std::mutex> gdcm_turn();

}  // namespace voxswap::data
