#include "data/formats/label_map_writer.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/formats/formats.h"
#include "data/formats/gzip_file.h"
#include "data/formats/image_writing.h"
#include "data/volumes/orientation.h"

namespace voxswap::data {

namespace {

// Planes of the canonical grid in a file, and the positions of their voxels on the stored grid.
class PlaneFile {
 public:
  PlaneFile(const fs::path& path, const Geometry& stored, const Size3& grid)
      : path_(path), file_(open_file(path)), size_(grid) {
    const Symmetry symmetry = to_canonical(stored);
    const Size3 strides = {1, stored.size[0], stored.size[0] * stored.size[1]};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto source = static_cast<std::size_t>(symmetry.axes[axis]);
      if (source == 2) normal_ = axis;
      flips_[axis] = symmetry.flips[axis];
      step_[axis] = (symmetry.flips[axis] ? -1 : 1) * strides[source];
      if (symmetry.flips[axis]) first_ += (grid[axis] - 1) * strides[source];
    }
    plane_ = strides[2];
  }

  // Reads planes from..to-1 of the stored grid.
  void read(std::int64_t from, std::int64_t to, std::vector<std::int16_t>& planes) {
    planes.resize(static_cast<std::size_t>((to - from) * plane_));
    std::array<std::int64_t, 3> begin{}, end = size_;  // in the canonical grid
    begin[normal_] = flips_[normal_] ? size_[normal_] - to : from;
    end[normal_] = begin[normal_] + to - from;
    row_.resize(static_cast<std::size_t>(size_[0] * (end[1] - begin[1])));
    for (std::int64_t z = begin[2]; z < end[2]; ++z) {
      read_labels((z * size_[1] + begin[1]) * size_[0], row_);
      const std::int16_t* row = row_.data();
      for (std::int64_t y = begin[1]; y < end[1]; ++y, row += size_[0]) {
        const std::int64_t place = first_ + z * step_[2] + y * step_[1] - from * plane_;
        for (std::int64_t x = begin[0]; x < end[0]; ++x)
          planes[static_cast<std::size_t>(place + x * step_[0])] = row[x];
      }
    }
  }

  void read_labels(std::int64_t first, std::span<std::int16_t> labels) {
    const auto place = first * static_cast<std::int64_t>(sizeof(std::int16_t));
    if (::lseek(file_.number(), place, SEEK_SET) < 0) fail_reading(path_, errno);
    const ssize_t got = read_up_to(file_.number(), labels.data(), labels.size_bytes());
    if (got != static_cast<ssize_t>(labels.size_bytes())) fail_reading(path_, got < 0 ? errno : EIO);
  }

 private:
  const fs::path& path_;
  Descriptor file_;
  Size3 size_;
  std::array<bool, 3> flips_{};
  Size3 step_{};            // steps in the stored grid, per voxel along each canonical axis
  std::int64_t first_ = 0;  // position of the canonical grid's first voxel
  std::int64_t plane_ = 0;  // voxels per plane of the stored grid
  std::size_t normal_ = 2;  // the canonical axis across its planes
  std::vector<std::int16_t> row_;
};

}  // namespace

bool LabelMapWriter::can_write(const fs::path& path, const Geometry& stored) {
  return has_extension(path, {".nii.gz"}) && *std::max_element(stored.size.begin(), stored.size.end()) <=
                                                 std::numeric_limits<std::int16_t>::max();
}

LabelMapWriter::LabelMapWriter(fs::path path, const Geometry& stored, fs::path like, std::int64_t most_voxels)
    : path_(std::move(path)),
      like_(std::move(like)),
      stored_(stored),
      grid_(canonical(stored)),
      most_voxels_(most_voxels),
      planes_(path_) {}

void LabelMapWriter::add(std::span<const std::int16_t> planes) {
  for (const std::int16_t label : planes) {
    lowest_ = std::min(lowest_, label);
    highest_ = std::max(highest_, label);
  }
  planes_.append(planes.data(), planes.size_bytes());
  added_ += static_cast<std::int64_t>(planes.size());
}

void LabelMapWriter::finish() {
  assert(added_ == grid_.count());
  const bool wide = lowest_ < 0 || highest_ > 255;
  const std::int64_t plane = stored_.size[0] * stored_.size[1],
                     at_once = std::max<std::int64_t>(1, most_voxels_ / plane);
  write_through(path_, [&](const fs::path& temporary) {
    const std::string header = nifti_label_header(temporary, stored_, wide, like_);
    GzipFile file(temporary, path_);
    file.append(header.data(), header.size());
    PlaneFile source(planes_.path(), stored_, grid_.size);
    std::vector<std::int16_t> labels;
    for (std::int64_t from = 0; from < stored_.size[2]; from += at_once) {
      source.read(from, std::min(from + at_once, stored_.size[2]), labels);
      if (wide) {
        file.append(labels.data(), labels.size() * sizeof(std::int16_t));
        continue;
      }
      auto* const bytes =
          reinterpret_cast<std::uint8_t*>(labels.data());  // in place: writes never overtake reads
      for (std::size_t v = 0; v < labels.size(); ++v) bytes[v] = static_cast<std::uint8_t>(labels[v]);
      file.append(bytes, labels.size());
    }
    file.close();
  });
}

std::vector<std::int16_t> LabelMapWriter::labels() const {
  std::vector<std::int16_t> labels(static_cast<std::size_t>(added_));
  PlaneFile(planes_.path(), stored_, grid_.size).read_labels(0, labels);
  return labels;
}

}  // namespace voxswap::data
