// Layout classes: 2D images sorted into one folder per class, named after the class. In a folder that
// contains only images, their class is unknown.
#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/keys.h"
#include "base/text.h"
#include "data/formats/formats.h"
#include "data/layouts/folders.h"
#include "data/layouts/layouts.h"
#include "data/layouts/pictures.h"

namespace voxswap::data {

namespace {

std::vector<std::string> folders_in(const fs::path& root) {
  std::vector<std::string> names;
  error_code ignored;
  for (const std::string& name : entries(root))
    if (fs::is_directory(root / name, ignored)) names.push_back(name);
  return names;
}

// The label of a folder's images. Fails for a class that data.labels does not name: it would be trained as no
// class.
int label_of(const std::string& folder, const fs::path& root, const Labels& labels) {
  const auto found =
      std::find_if(labels.begin(), labels.end(), [&](const auto& label) { return label.first == folder; });
  if (found == labels.end())
    fail(Exit::bad_data, "{}: its class is not in {}. Name it there, or remove the folder",
         (root / folder).string(), key::data_labels);
  return found->second;
}

}  // namespace

std::optional<std::string> recognise_classes(const DatasetOptions& options) {
  std::int64_t classes = 0;
  for (const std::string& folder : folders_in(options.root))
    classes += !pictures_in(options.root / folder).empty();
  if (classes < 2) return std::nullopt;
  return format("{} with 2D images", counted(classes, "folder"));
}

Dataset list_classes(const DatasetOptions& options) {
  constexpr std::size_t most_classes = 256;  // a target is one byte
  Dataset dataset;
  dataset.recognised = recognise_classes(options).value_or("");
  dataset.classes = true;
  for (const std::string& name : pictures_in(options.root))
    dataset.cases.push_back(picture_case(raster_stem(name), options.root / name));
  const std::vector<std::string> folders =
      dataset.cases.empty() ? folders_in(options.root) : std::vector<std::string>();
  for (const std::string& folder : folders)
    dataset.labels.emplace_back(folder, static_cast<int>(dataset.labels.size()) + 1);
  if (!options.labels.empty()) dataset.labels = options.labels;
  if (!folders.empty() && (folders.size() < 2 || folders.size() > most_classes))
    fail(Exit::bad_data, "{}: {} of classes found. Expected 2 to {}", options.root.string(),
         counted(folders.size(), "folder"), most_classes);
  for (const std::string& folder : folders) {
    const fs::path path = options.root / folder;
    const std::vector<std::string> pictures = pictures_in(path);
    if (pictures.empty())
      fail(Exit::bad_data, "{}: this folder of a class contains no image ({}). Add images or remove it",
           path.string(), raster_extensions_text());
    for (const std::string& name : pictures) {
      CaseFiles files = picture_case(format("{}_{}", folder, raster_stem(name)), path / name);
      files.label = label_of(folder, options.root, dataset.labels);
      dataset.cases.push_back(std::move(files));
    }
  }
  name_colours(dataset, options);
  return dataset;
}

}  // namespace voxswap::data
