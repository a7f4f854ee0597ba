// A prepared case of normal noise, for tests of prediction.
#pragma once

#include <cstdint>

#include "base/philox.h"
#include "data/volumes/prepared_case.h"

namespace voxswap::test {

inline data::PreparedCase noise_case(const Size3& size, std::int64_t channels) {
  data::PreparedCase prepared;
  prepared.size = size;
  prepared.channels = channels;
  prepared.image.resize(static_cast<std::size_t>(channels * size[0] * size[1] * size[2]));
  const Philox random(1, 2);
  for (std::size_t i = 0; i < prepared.image.size(); ++i)
    prepared.image[i] = static_cast<float>(random.normal(i));
  prepared.original.size = size;
  prepared.box = {{0, 0, 0}, size};
  prepared.statistics.mean.assign(static_cast<std::size_t>(channels), 0);
  prepared.statistics.deviation.assign(static_cast<std::size_t>(channels), 1);
  return prepared;
}

}  // namespace voxswap::test
