// Shared by the tests of data/: small volumes with a pattern, and damage to files.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/philox.h"
#include "data/layouts/dataset.h"
#include "data/volumes/volume.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::test {

inline data::Geometry geometry(const Size3& size) {
  data::Geometry result;
  result.size = size;
  return result;
}

// Random voxels between 1 and 2, the same for the same seed.
inline data::Image random_image(const data::Geometry& grid, std::uint64_t seed = 1) {
  data::Image image{grid, std::vector<float>(static_cast<std::size_t>(grid.count()))};
  const Philox random(seed, 0);
  for (std::size_t i = 0; i < image.voxels.size(); ++i) image.voxels[i] = 1 + random.uniform(i);
  return image;
}

inline data::LabelMap random_labels(const data::Geometry& grid, const std::vector<int>& values,
                                    std::uint64_t seed = 2) {
  data::LabelMap labels{grid, std::vector<std::int16_t>(static_cast<std::size_t>(grid.count()))};
  const Philox random(seed, 0);
  for (std::size_t i = 0; i < labels.voxels.size(); ++i) {
    labels.voxels[i] = static_cast<std::int16_t>(values[random.word(i) % values.size()]);
  }
  return labels;
}

// Rotated about an oblique axis (a Rodrigues rotation), with one axis flipped, like real scans.
inline data::Geometry oblique_geometry(const Size3& size) {
  data::Geometry grid = geometry(size);
  grid.spacing = {0.9, 1.2, 2.5};
  grid.origin = {-80.5, 33.25, 12.125};
  const double c = std::cos(0.4), s = std::sin(0.4), k = 1 / std::sqrt(3.0), t = (1 - c) / 3;
  const double rotation[9] = {c + t,     t - s * k, t + s * k, t + s * k, c + t,
                              t - s * k, t - s * k, t + s * k, c + t};
  for (std::size_t i = 0; i < 9; ++i) grid.direction[i] = i % 3 == 1 ? -rotation[i] : rotation[i];
  return grid;
}

inline void truncate_file(const fs::path& path, double part) {
  fs::resize_file(path, static_cast<std::uintmax_t>(static_cast<double>(fs::file_size(path)) * part));
}

inline data::DatasetOptions at(const fs::path& root) {
  data::DatasetOptions options;
  options.root = root;
  return options;
}

inline fs::path shared_data() {
  return fs::path(VOXSWAP_SOURCE_DIR) / ".." / "shared" / "data";
}

}  // namespace voxswap::test
