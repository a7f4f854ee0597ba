// Writes a label map plane by plane, so that it never needs to be in memory as a whole.
//
// The file is compressed from first plane to last, in an element type that fits all labels, while planes
// arrive in the canonical frame, whose order may differ. So they go to a temporary file first, and from there
// into the label map, as many at a time as memory allows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/temporary_file.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

class LabelMapWriter {
 public:
  // Supports compressed NIfTI, whose header allows at most 32767 voxels along an axis.
  static bool can_write(const fs::path& path, const Geometry& stored);

  // `stored`: the grid of the file; `like`: as for write_label_map(). finish() holds `most_voxels`, but at
  // least one plane of the file.
  LabelMapWriter(fs::path path, const Geometry& stored, fs::path like = {},
                 std::int64_t most_voxels = std::int64_t{1} << 23);

  void add(std::span<const std::int16_t> planes);  // the next ones of canonical(stored)
  // Gives the same bytes as write_label_map(path, as_stored(labels, stored), like). REQUIRES: all planes were
  // added
  void finish();
  std::vector<std::int16_t> labels() const;  // all that were added

 private:
  fs::path path_, like_;
  Geometry stored_, grid_;
  std::int64_t most_voxels_;
  TemporaryFile planes_;
  std::int64_t added_ = 0;                 // voxels
  std::int16_t lowest_ = 0, highest_ = 0;  // range of labels
};

}  // namespace voxswap::data
