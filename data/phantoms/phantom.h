// Multimodal brain phantoms with nested tumours, for training and tests without patient data.
#pragma once

#include <cstdint>

#include "data/volumes/volume.h"

namespace voxswap::data {

// Changes whenever the same seed gives other phantoms than before.
inline constexpr int phantom_generation = 1;

void check_phantom_size(const Size3& size);  // throws Exit::usage unless each side is 16 to 1024

// One subject: t1, t1ce, t2, flair and the truth (1 necrosis, 2 oedema, 4 enhancing), 0 outside the brain in
// each image. A pure function of seed, index and size. The grid always covers 240 x 240 x 155 mm, so spacing
// follows from size.
Volume phantom(std::uint64_t seed, int index, const Size3& size);

}  // namespace voxswap::data
