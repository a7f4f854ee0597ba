// Versions of the libraries used here, for `voxswap info`, and the lock for GDCM.
#pragma once

#include <mutex>
#include <string>

namespace voxswap::data {

std::string data_libraries();  // "ITK 5.2.1"

// Lock for GDCM, whose objects share unprotected state. Hold it while any GDCM object exists, so that several
// threads can read and write DICOM files.
std::unique_lock<std::mutex> gdcm_turn();

}  // namespace voxswap::data
