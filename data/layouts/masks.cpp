// Layout masks: 2D images in `images` and masks with the same names in `masks` (or `labels`), optionally with
// _mask or _seg. Images alone, in the folder itself, have no masks.
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "data/formats/formats.h"
#include "data/layouts/folders.h"
#include "data/layouts/layouts.h"
#include "data/layouts/pictures.h"

namespace voxswap::data {

namespace {

constexpr const char* folder_of_images = "images";

fs::path folder_of_masks(const fs::path& root) {
  error_code ignored;
  for (const char* name : {"masks", "labels"})
    if (fs::is_directory(root / name, ignored)) return root / name;
  return {};
}

// Masks by the name of their image.
std::map<std::string, fs::path> masks_in(const fs::path& folder) {
  std::map<std::string, fs::path> masks;
  for (const std::string& name : folder.empty() ? std::vector<std::string>{} : pictures_in(folder)) {
    std::string stem = raster_stem(name);
    for (const char* mark : {"_mask", "_seg"})
      if (ends_with(stem, mark)) stem.resize(stem.size() - std::string(mark).size());
    const auto [found, fresh] = masks.try_emplace(stem, folder / name);
    if (!fresh)
      fail(Exit::bad_data, "{} and {} are both masks of {}. Remove one of them", found->second.string(),
           (folder / name).string(), stem);
  }
  return masks;
}

}  // namespace

std::optional<std::string> recognise_masks(const DatasetOptions& options) {
  const fs::path masks = folder_of_masks(options.root);
  if (masks.empty() || pictures_in(options.root / folder_of_images).empty()) return std::nullopt;
  return format("it has 2D images in {} and a folder {}", folder_of_images, masks.filename().string());
}

Dataset list_masks(const DatasetOptions& options) {
  Dataset dataset;
  dataset.recognised = recognise_masks(options).value_or("");
  error_code ignored;
  const bool by_folder = fs::is_directory(options.root / folder_of_images, ignored);
  const fs::path images = by_folder ? options.root / folder_of_images : options.root;
  std::map<std::string, fs::path> masks = masks_in(folder_of_masks(options.root));
  for (const std::string& name : pictures_in(images)) {
    CaseFiles files = picture_case(raster_stem(name), images / name);
    if (const auto mask = masks.extract(files.id); !mask.empty()) files.truth = mask.mapped();
    dataset.cases.push_back(std::move(files));
  }
  for (const auto& [stem, mask] : masks)
    dataset.left_out.push_back(
        {"warning", mask, format("a mask without an image {} in {}", stem, images.filename().string())});
  name_colours(dataset, options);
  if (options.labels.empty()) dataset.labels = observed_labels(dataset, options);
  return dataset;
}

}  // namespace voxswap::data
