#include "data/cases/case_rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/keys.h"
#include "base/text.h"
#include "data/formats/dicom.h"

namespace voxswap::data {

std::string other_volumes(const fs::path& path, std::int64_t volumes, const Dataset& dataset) {
  const std::size_t channels = dataset.all_modalities.size();
  if (dataset.images && volumes != static_cast<std::int64_t>(channels))
    return format("{}: is {}, but the data set's first image is {}. Convert all images to one kind",
                  path.string(), volumes == 1 ? "greyscale" : "colour",
                  channels == 1 ? "greyscale" : "colour");
  if (channels == 0 || volumes <= static_cast<std::int64_t>(channels)) return {};
  return format(
      "{}: holds {}, but the data set has {} ({}). Name them all in dataset.json, or save only the channels "
      "that you need",
      path.string(), counted(volumes, "volume"), counted(channels, "channel"),
      join(dataset.all_modalities, ", "));
}

std::string nonfinite_voxels(const fs::path& path, const Image& image) {
  constexpr std::uint32_t exponent = 0x7f800000;  // all of these bits are set in NaN and infinity
  std::uint32_t any = 0;
  for (const float value : image.voxels) any |= (std::bit_cast<std::uint32_t>(value) & exponent) == exponent;
  if (any == 0) return {};
  std::size_t count = 0, first = 0;
  for (std::size_t i = image.voxels.size(); i-- > 0;) {
    if (!std::isfinite(image.voxels[i])) {
      ++count;
      first = i;
    }
  }
  const auto nx = static_cast<std::size_t>(image.geometry.size[0]),
             ny = static_cast<std::size_t>(image.geometry.size[1]);
  return format("{}: {} of {} are NaN or infinite, the first ({}) at ({}, {}, {}). Repair or remove the case",
                path.string(), count, counted(image.voxels.size(), "voxel"), number(image.voxels[first]),
                first % nx, first / nx % ny, first / (nx * ny));
}

namespace {

struct Bounds {
  std::array<double, 3> low, high;  // mm along the world axes
  double volume() const {
    double product = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) product *= std::max(0.0, high[axis] - low[axis]);
    return product;
  }
};

// The bounding box of a grid's voxels.
Bounds bounds_of(const Geometry& grid) {
  Bounds box{grid.origin, grid.origin};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t side = 0; side < 3; ++side) {
      const double step = grid.direction[3 * axis + side] * grid.spacing[side];
      (step < 0 ? box.low : box.high)[axis] += step * static_cast<double>(grid.size[side] - 1);
      box.low[axis] -= std::abs(step) / 2;
      box.high[axis] += std::abs(step) / 2;
    }
  }
  return box;
}

// Images of one patient cover the same anatomy.
bool hardly_overlap(const Geometry& grid, const Geometry& reference) {
  const Bounds a = bounds_of(grid), b = bounds_of(reference);
  Bounds shared;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    shared.low[axis] = std::max(a.low[axis], b.low[axis]);
    shared.high[axis] = std::min(a.high[axis], b.high[axis]);
  }
  return shared.volume() < 0.1 * std::min(a.volume(), b.volume());
}

}  // namespace

FileTrouble grid_trouble(const fs::path& path, const Geometry& grid, const fs::path& reference_path,
                         const Geometry& reference) {
  if (same_grid(grid, reference)) return {};
  FileTrouble trouble{format("{}: has a different grid ({}) than {} ({})", path.string(), describe(grid),
                             reference_path.filename().string(), describe(reference)),
                      {}};
  if (hardly_overlap(grid, reference)) {
    trouble.what += ", and they hardly overlap";
    trouble.fix = "replace the file if it belongs to another patient or session, or correct its origin";
  } else {
    trouble.fix = format("set {}: true if both are of one patient and session, or else replace the file",
                         key::data_align);
  }
  return trouble;
}

FileTrouble other_patient(const CaseFiles& files) {
  const fs::path* reference = nullptr;
  std::string patient;
  for (std::size_t i = 0; i < files.channels.size(); ++i) {
    error_code ignored;
    if (files.lacks(i) || !fs::is_directory(files.channels[i], ignored)) continue;
    const std::string other = dicom_patient(files.channels[i]);
    if (other.empty()) continue;
    if (reference != nullptr && other != patient)
      return {format("{}: its PatientID differs from that of {}", files.channels[i].string(),
                     reference->filename().string()),
              "check that the series are of one patient"};
    reference = &files.channels[i];
    patient = other;
  }
  return {};
}

std::string unknown_labels(const fs::path& path, const LabelMap& truth, const Dataset& dataset) {
  std::set<int> known{0, dataset.ignore_label}, unknown;
  for (const auto& [name, value] : dataset.labels) known.insert(value);
  // Runs of equal values are long, so only changes are looked up.
  int previous = 0;
  for (const std::int16_t value : truth.voxels) {
    if (value == previous) continue;
    previous = value;
    if (!known.contains(value)) unknown.insert(value);
  }
  if (unknown.empty()) return {};
  std::vector<std::string> found, listed{"0 background"};
  for (const int value : unknown) found.push_back(std::to_string(value));
  for (const auto& [name, value] : dataset.labels) listed.push_back(format("{} {}", value, name));
  if (dataset.ignore_label != 0) listed.push_back(format("{} ignored", dataset.ignore_label));
  if (found.size() > 8) {
    found.resize(8);
    found.push_back("…");
  }
  return format("{}: the label {} is not in the list ({}). Correct {} or the file", path.string(),
                join(found, ", "), join(listed, ", "), key::data_labels);
}

std::string unannotated_labels(const CaseFiles& files, const LabelMap& truth, const Dataset& dataset) {
  if (!files.annotated) return {};
  for (const auto& [name, value] : dataset.labels)
    if (!files.annotated->contains(value) &&
        std::find(truth.voxels.begin(), truth.voxels.end(), value) != truth.voxels.end())
      return format(
          "{}: contains the label {}, which is not annotated in this case according to {}. Correct one of "
          "them",
          files.truth.string(), name, key::data_annotated);
  return {};
}

}  // namespace voxswap::data
