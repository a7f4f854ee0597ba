// Writes a label map as its planes are decided, so that nobody holds all of it.
//
// A file is compressed from its first plane to its last, and in an element type that all labels fit. The
// planes come in the canonical frame, whose order may be another. So they go to a temporary file first, and
// from there into the label map, as many at a time as there is room for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/temporary_file.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

class LabelMapWriter {
 public:
  // Where this writes: compressed NIfTI, whose header counts at most 32767 voxels along an axis.
  static bool can_write(const fs::path& path, const Geometry& stored);

  // `stored`: the grid of the file. finish() holds `most_voxels`, but at least a plane of the file.
  LabelMapWriter(fs::path path, const Geometry& stored, std::int64_t most_voxels = std::int64_t{1} << 23);

  void add(std::span<const std::int16_t> planes);  // the next of canonical(stored)
  // The same bytes as write_label_map(path, as_stored(labels, stored)). REQUIRES: all planes were added
  void finish();
  std::vector<std::int16_t> labels() const;  // all that were added

 private:
  fs::path path_;
  Geometry stored_, grid_;
  std::int64_t most_voxels_;
  TemporaryFile planes_;
  std::int64_t added_ = 0;                 // voxels
  std::int16_t lowest_ = 0, highest_ = 0;  // of them
};

}  // namespace voxswap::data
