#include "data/cases/case_checks.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/counts.h"
#include "base/filesystem.h"
#include "base/keys.h"
#include "base/text.h"

namespace voxswap::data {

std::string nonfinite_voxels(const fs::path& path, const Image& image) {
  std::size_t count = 0, first = 0;
  for (std::size_t i = image.voxels.size(); i-- > 0;) {
    if (!std::isfinite(image.voxels[i])) {
      ++count;
      first = i;
    }
  }
  if (count == 0) return {};
  const auto nx = static_cast<std::size_t>(image.geometry.size[0]),
             ny = static_cast<std::size_t>(image.geometry.size[1]);
  return format("{}: {} of {} are NaN or infinite, the first ({}) at ({}, {}, {}). Repair or remove the case",
                path.string(), count, counted(image.voxels.size(), "voxel"), number(image.voxels[first]),
                first % nx, first / nx % ny, first / (nx * ny));
}

std::string different_grids(const fs::path& path, const Geometry& grid, const fs::path& reference_path,
                            const Geometry& reference) {
  if (same_grid(grid, reference)) return {};
  return format("{}: has a different grid ({}) than {} ({}). Set {}: true to resample it onto the first",
                path.string(), describe(grid), reference_path.filename().string(), describe(reference),
                key::data_align);
}

std::string other_volumes(const fs::path& path, std::int64_t volumes, const Dataset& dataset) {
  const std::size_t channels = dataset.all_modalities.size();
  if (dataset.images && volumes != static_cast<std::int64_t>(channels))
    return format("{}: is {}, but the data set's first image is {}. Convert all of them to one kind",
                  path.string(), volumes == 1 ? "greyscale" : "colour",
                  channels == 1 ? "greyscale" : "colour");
  if (channels == 0 || volumes <= static_cast<std::int64_t>(channels)) return {};
  return format(
      "{}: holds {}, but the data set has {} ({}). Name them all in dataset.json, or save only the channels "
      "that you need",
      path.string(), counted(volumes, "volume"), counted(channels, "channel"),
      join(dataset.all_modalities, ", "));
}

std::string unknown_labels(const fs::path& path, const LabelMap& truth, const Dataset& dataset) {
  std::set<int> known{0, dataset.ignore_label}, unknown;
  for (const auto& [name, value] : dataset.labels) known.insert(value);
  // Runs of one value are long: only changes are looked up.
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

std::string untold_labels(const CaseFiles& files, const LabelMap& truth, const Dataset& dataset) {
  if (!files.told) return {};
  for (const auto& [name, value] : dataset.labels)
    if (!files.told->contains(value) &&
        std::find(truth.voxels.begin(), truth.voxels.end(), value) != truth.voxels.end())
      return format(
          "{}: contains the label {}, which is not annotated in this case according to {}. Correct one of "
          "them",
          files.truth.string(), name, key::data_annotated);
  return {};
}

}  // namespace voxswap::data
