#include "data/formats/gdcm_turn.h"

namespace voxswap::data {

std::unique_lock<std::mutex> gdcm_turn() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
}

}  // namespace voxswap::data
