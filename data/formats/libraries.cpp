#include "data/formats/libraries.h"

#include <itkVersion.h>

namespace voxswap::data {

std::string data_libraries() {
  return std::string("ITK ") + itk::Version::GetITKVersion();
}

}  // namespace voxswap::data
