#include "data/layouts/pictures.h"

#include "base/error.h"
#include "data/formats/formats.h"
#include "data/formats/image_io.h"
#include "data/layouts/folders.h"

namespace voxswap::data {

namespace {

// Unreadable images are reported when their case is read.
std::int64_t colours_of_first(const Dataset& dataset) {
  for (const CaseFiles& files : dataset.cases) {
    try {
      return read_header(files.channels.front()).volumes;
    } catch (const Error& error) {
      if (error.exit() != Exit::bad_data) throw;
    }
  }
  return 1;
}

}  // namespace

std::vector<std::string> pictures_in(const fs::path& folder) {
  std::vector<std::string> names;
  error_code ignored;
  for (const std::string& name : entries(folder))
    if (is_raster(name) && !fs::is_directory(folder / name, ignored)) names.push_back(name);
  return names;
}

CaseFiles picture_case(const std::string& id, const fs::path& picture) {
  CaseFiles files;
  files.id = id;
  files.channels = {picture};
  return files;
}

void name_colours(Dataset& dataset, const DatasetOptions& options) {
  dataset.images = true;
  dataset.modalities = options.known_modalities;
  if (dataset.modalities.empty() && colours_of_first(dataset) == 1)
    dataset.modalities = {"grey"};
  else if (dataset.modalities.empty())
    dataset.modalities = {"red", "green", "blue"};
  const std::size_t channels = dataset.modalities.size();
  for (CaseFiles& files : dataset.cases) {
    files.channels.resize(channels, files.channels.front());
    for (std::size_t c = 0; c < channels; ++c) files.components.push_back(static_cast<int>(c));
  }
}

}  // namespace voxswap::data
