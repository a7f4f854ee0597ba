#include "data/cases/read_case.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "data/cases/case_rules.h"
#include "data/formats/image_io.h"
#include "data/layouts/incomplete.h"
#include "data/volumes/orientation.h"
#include "data/volumes/transforms.h"

namespace voxswap::data {

namespace {

void stop_if(const FileTrouble& trouble) {
  if (trouble) fail(Exit::bad_data, "{}. To fix it, {}", trouble.what, trouble.fix);
}

void stop_if(const std::string& problem) {
  if (!problem.empty()) throw Error(Exit::bad_data, problem);
}

// Stage 1: the channels as they are in their files, each in its own orientation and on its own grid.
struct StoredChannels {
  std::vector<Image> images;
};

// A 4D file with several channels, of which `first` is the first one, is decompressed once.
void read_shared_file(const Dataset& dataset, const CaseFiles& files, std::size_t first,
                      const CheckVolumes& check, std::vector<Image>& channels) {
  const fs::path& path = files.channels[first];
  std::vector<Image> volumes = read_images(path, check);
  for (std::size_t i = first; i < channels.size(); ++i) {
    if (files.channels[i] != path) continue;
    const auto component = static_cast<std::size_t>(std::max(0, files.components[i]));
    if (component >= volumes.size()) {
      fail(Exit::bad_data, "{}: holds {}, but {} are expected there: {}", path.string(),
           counted(volumes.size(), "volume"), counted(dataset.modalities.size(), "channel"),
           join(dataset.modalities, ", "));
    }
    channels[i] = std::move(volumes[component]);
  }
}

// Missing channels are 0 everywhere, on the grid of the first existing channel.
void fill_missing(std::vector<Image>& channels, const CaseFiles& files) {
  const auto there =
      std::find_if(channels.begin(), channels.end(), [](const Image& one) { return !one.voxels.empty(); });
  for (std::size_t i = 0; i < channels.size(); ++i)
    if (files.lacks(i)) channels[i] = {there->geometry, std::vector<float>(there->voxels.size())};
}

StoredChannels read_channels(const Dataset& dataset, const CaseFiles& files) {
  std::vector<Image> channels(files.channels.size());
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (!channels[i].voxels.empty() || files.lacks(i)) continue;
    const fs::path& path = files.channels[i];
    const int component = files.components[i];
    stop_if(channel_trouble(dataset, files, i));
    const auto check = [&](std::int64_t volumes) {
      if (component >= 0) stop_if(other_volumes(path, volumes, dataset));
    };
    if (component < 0 || std::count(files.channels.begin(), files.channels.end(), path) == 1)
      channels[i] = read_image(path, component, check);
    else
      read_shared_file(dataset, files, i, check, channels);
  }
  fill_missing(channels, files);
  return {std::move(channels)};
}

// Stage 2: the channels in the canonical frame, on the grid of the first one; no ground truth yet.
Volume on_one_grid(const Dataset& dataset, const CaseFiles& files, StoredChannels stored) {
  Volume volume;
  volume.id = files.id;
  volume.channels = std::move(stored.images);
  volume.missing = files.missing;
  volume.file_geometry = volume.channels[0].geometry;
  for (std::size_t i = 0; i < volume.channels.size(); ++i) {
    Image& image = volume.channels[i];
    stop_if(nonfinite_voxels(files.channels[i], image));
    image = canonical(std::move(image));
    const Geometry& grid = volume.geometry();
    if (dataset.align && !same_grid(image.geometry, grid))
      image = resample_onto(grid, image, outside_value(image));
    stop_if(grid_trouble(files.channels[i], image.geometry, files.first_channel(), grid));
    image.geometry = grid;  // remove differences by rounding in file formats
  }
  return volume;
}

// Stage 3: the ground truth on the same grid; empty if the case has none.
LabelMap read_truth(const Dataset& dataset, const CaseFiles& files, const Geometry& grid) {
  stop_if(truth_trouble(files));
  if (files.truth.empty()) return {};
  LabelMap truth = canonical(read_label_map(files.truth));
  if (dataset.align && !same_grid(truth.geometry, grid)) truth = resample_onto(grid, truth);
  stop_if(grid_trouble(files.truth, truth.geometry, files.first_channel(), grid));
  truth.geometry = grid;
  stop_if(unknown_labels(files.truth, truth, dataset));
  stop_if(unannotated_labels(files, truth, dataset));
  return truth;
}

}  // namespace

Volume read_case(const Dataset& dataset, const CaseFiles& files) {
  StoredChannels stored = read_channels(dataset, files);
  if (const FileTrouble trouble = other_patient(files)) log::warn("{}; {}", trouble.what, trouble.fix);
  Volume volume = on_one_grid(dataset, files, std::move(stored));
  volume.truth = read_truth(dataset, files, volume.geometry());
  return volume;
}

std::vector<Geometry> grids_of(const Dataset& dataset) {
  std::vector<Geometry> grids;
  for (const CaseFiles& files : dataset.cases)
    grids.push_back(canonical(read_header(files.first_channel()).geometry));
  return grids;
}

}  // namespace voxswap::data
