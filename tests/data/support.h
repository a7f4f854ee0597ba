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
#include "data/volumes/label_resampling.h"
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

// The inverse of crop and resample: labels of a box, resampled onto its size, in the grid that it was cut
// from.
inline data::LabelMap restored(const data::LabelMap& labels, const VoxelBox& box,
                               const data::Geometry& whole) {
  const data::LabelMap part = data::resample_nearest(labels, box.size);
  data::LabelMap result{whole, std::vector<std::int16_t>(static_cast<std::size_t>(whole.count()))};
  const std::int16_t* row = part.voxels.data();
  for (std::int64_t z = 0; z < box.size[2]; ++z)
    for (std::int64_t y = 0; y < box.size[1]; ++y, row += box.size[0])
      std::copy(row, row + box.size[0], &result.at(box.start[0], box.start[1] + y, box.start[2] + z));
  return result;
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

// Writes these bytes over those of the file from `at` on.
inline void overwrite(const fs::path& path, std::size_t at, const std::string& bytes) {
  fs::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline void flip_bits(const fs::path& path, std::size_t at, int bits) {
  overwrite(path, at, std::string(1, static_cast<char>(read_file(path)[at] ^ bits)));
}

// Calls visit(x, y, z) for all voxels of a box, x fastest.
template <class Visit>
void for_each_voxel(const Size3& begin, const Size3& end, const Visit& visit) {
  for (std::int64_t z = begin[2]; z < end[2]; ++z)
    for (std::int64_t y = begin[1]; y < end[1]; ++y)
      for (std::int64_t x = begin[0]; x < end[0]; ++x) visit(x, y, z);
}
template <class Visit>
void for_each_voxel(const Size3& size, const Visit& visit) {
  for_each_voxel({0, 0, 0}, size, visit);
}

inline data::DatasetOptions at(const fs::path& root) {
  data::DatasetOptions options;
  options.root = root;
  return options;
}

// Files such as a_t1.nii.gz and a_truth.nii.gz, with these labels.
inline data::DatasetOptions files_by_name(const fs::path& root, const data::Labels& labels,
                                          const std::vector<std::string>& channels = {"t1", "t2"}) {
  data::DatasetOptions options = at(root);
  for (const std::string& name : channels) options.files[name] = "{case}_" + name + ".nii.gz";
  options.files["truth"] = "{case}_truth.nii.gz";
  options.labels = labels;
  return options;
}

inline fs::path shared_data() {
  return fs::path(VOXSWAP_SOURCE_DIR) / ".." / "shared" / "data";
}

}  // namespace voxswap::test
