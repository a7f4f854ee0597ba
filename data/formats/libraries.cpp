#include "data/formats/libraries.h"

#include <itkVersion.h>

namespace voxswap::data {

std::string data_libraries() {
  return std::string("ITK ") + itk::Version::GetITKVersion();
}

std::unique_lock<std::mutex> gdcm_turn() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
}

}  // namespace voxswap::data
