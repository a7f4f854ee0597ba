#include "data/cases/read_case.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/cases/check_case.h"
#include "data/cases/grid_trouble.h"
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

// Reads the channels with a file; a 4D file with several of them is decompressed once.
std::vector<Image> read_channels(const Dataset& dataset, const CaseFiles& files) {
  std::vector<Image> channels(files.channels.size());
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (!channels[i].voxels.empty() || files.lacks(i)) continue;
    const fs::path& path = files.channels[i];
    stop_if(channel_trouble(dataset, files, i));
    if (files.components[i] >= 0) stop_if(other_volumes(path, read_header(path).volumes, dataset));
    if (files.components[i] < 0 || std::count(files.channels.begin(), files.channels.end(), path) == 1) {
      channels[i] = read_image(path, files.components[i]);
      continue;
    }
    std::vector<Image> volumes = read_images(path);
    for (std::size_t j = i; j < channels.size(); ++j) {
      if (files.channels[j] != path) continue;
      const auto component = static_cast<std::size_t>(std::max(0, files.components[j]));
      if (component >= volumes.size()) {
        fail(Exit::bad_data,
             "{}: holds {}, but the data set expects channel number {} there (counted from 0)", path.string(),
             counted(volumes.size(), "volume"), component);
      }
      channels[j] = std::move(volumes[component]);
    }
  }
  return channels;
}

// Missing channels are 0 everywhere, on the grid of the first existing channel.
void fill_missing(std::vector<Image>& channels, const CaseFiles& files) {
  const auto there =
      std::find_if(channels.begin(), channels.end(), [](const Image& one) { return !one.voxels.empty(); });
  for (std::size_t i = 0; i < channels.size(); ++i)
    if (files.lacks(i)) channels[i] = {there->geometry, std::vector<float>(there->voxels.size())};
}

}  // namespace

std::vector<Geometry> grids_of(const Dataset& dataset) {
  std::vector<Geometry> grids;
  for (const CaseFiles& files : dataset.cases)
    grids.push_back(canonical(read_header(files.first_channel()).geometry));
  return grids;
}

Volume read_case(const Dataset& dataset, const CaseFiles& files) {
  Volume volume;
  volume.id = files.id;
  volume.channels = read_channels(dataset, files);
  fill_missing(volume.channels, files);
  volume.missing = files.missing;
  volume.file_geometry = volume.channels[0].geometry;
  for (std::size_t i = 0; i < volume.channels.size(); ++i) {
    Image& image = volume.channels[i];
    stop_if(nonfinite_voxels(files.channels[i], image));
    image = canonical(std::move(image));
    const Geometry& grid = volume.geometry();
    if (dataset.align && !same_grid(image.geometry, grid))
      image = resample_onto(grid, image, corner_value(image));
    stop_if(grid_trouble(files.channels[i], image.geometry, files.first_channel(), grid));
    image.geometry = grid;  // remove differences by rounding in file formats
  }
  stop_if(truth_trouble(files));
  if (!files.truth.empty()) {
    LabelMap& truth = volume.truth;
    truth = canonical(read_label_map(files.truth));
    const Geometry& grid = volume.geometry();
    if (dataset.align && !same_grid(truth.geometry, grid)) truth = resample_onto(grid, truth);
    stop_if(grid_trouble(files.truth, truth.geometry, files.first_channel(), grid));
    truth.geometry = grid;
    stop_if(unknown_labels(files.truth, truth, dataset));
    stop_if(untold_labels(files, truth, dataset));
  }
  return volume;
}

}  // namespace voxswap::data
