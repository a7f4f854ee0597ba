// Multimodal brain phantoms with nested tumours, written as real data sets: something to train and test
// on where no patient data may go.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "data/volume.h"

namespace voxswap {

struct PhantomOptions {
  std::filesystem::path out;
  int cases = 20;
  Size3 size{64, 64, 64};
  std::uint64_t seed = 1;
  std::string layout = "brats2021";  // a row of phantom_layouts.h
};

// Changes whenever the same seed gives other phantoms than before.
inline constexpr int phantom_generation = 1;

void check_phantom_size(const Size3& size);  // throws Exit::usage unless each side is 16 to 1024

// One subject: t1, t1ce, t2, flair and the truth (1 necrosis, 2 oedema, 4 enhancing), 0 outside the brain in
// each image. A pure function of seed, index and size. The grid always covers 240 x 240 x 155 mm, so spacing
// follows from size.
Volume phantom(std::uint64_t seed, int index, const Size3& size);

// Writes `cases` of them. Already complete data sets of the same options are left alone (and said so: returns
// false); phantoms of other options that an earlier call wrote there are replaced; any other file is never
// overwritten.
bool write_phantoms(const PhantomOptions& options);

}  // namespace voxswap
