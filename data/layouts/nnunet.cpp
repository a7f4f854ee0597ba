// nnU-Net: one file per channel, CASE_0000.nii.gz, CASE_0001.nii.gz, …, in imagesTr and imagesTs, ground
// truths as CASE.nii.gz in labelsTr, and dataset.json, which names channels, labels and, as lists of labels,
// regions. The older dataset.json similar to the Decathlon's is read too, and so is a folder of images alone
// (imagesTs itself, images to predict). Cases of imagesTs get no ground truth, so that nobody trains on them.
#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/formats/formats.h"
#include "data/layouts/dataset.h"
#include "data/layouts/dataset_json.h"
#include "data/layouts/folders.h"
#include "data/layouts/layouts.h"

namespace voxswap::data {

namespace {

constexpr std::size_t digits = 4;  // in a channel's number

struct NumberedFile {
  std::string id;
  std::size_t channel = 0;
  std::string ending;
};

// "BRATS_001_0003.nii.gz" -> BRATS_001, 3, ".nii.gz"; nullopt for other names.
std::optional<NumberedFile> numbered_file(const std::string& name) {
  const std::string stem = image_stem(name);
  if (stem.size() < digits + 2 || stem[stem.size() - digits - 1] != '_') return std::nullopt;
  const std::string number = stem.substr(stem.size() - digits);
  if (number.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return NumberedFile{stem.substr(0, stem.size() - digits - 1), std::stoul(number), name.substr(stem.size())};
}

// The first numbered file of a folder.
std::optional<NumberedFile> first_numbered(const fs::path& folder) {
  for (const std::string& name : entries(folder)) {
    if (auto file = numbered_file(name)) return file;
  }
  return std::nullopt;
}

// The folders of images: imagesTr and imagesTs, or the folder itself.
std::vector<fs::path> image_folders(const fs::path& root) {
  std::vector<fs::path> folders;
  error_code ignored;
  for (const char* name : {"imagesTr", "imagesTs"}) {
    if (fs::is_directory(root / name, ignored)) folders.push_back(root / name);
  }
  if (folders.empty()) folders.push_back(root);
  return folders;
}

class Lister {
 public:
  explicit Lister(const DatasetOptions& options) : root_(options.root), json_(read_dataset_json(root_)) {
    const std::optional<NumberedFile> first = any_numbered(root_);
    if (json_) ending_ = json_->file_ending;
    if (ending_.empty() && first) ending_ = first->ending;
    if (json_) channels_ = json_->channels;
    if (channels_.empty()) channels_ = options.known_modalities;
    if (channels_.empty() && first) channels_ = counted_channels();
  }

  static std::optional<NumberedFile> any_numbered(const fs::path& root) {
    for (const fs::path& folder : image_folders(root)) {
      if (auto file = first_numbered(folder)) return file;
    }
    return std::nullopt;
  }

  Dataset list() {
    Dataset dataset;
    dataset.modalities = channels_;
    if (json_ && !json_->cases.empty()) {
      for (const auto& [id, files] : json_->cases) dataset.cases.push_back(written_case(id, files));
    } else {
      for (const fs::path& folder : image_folders(root_)) {
        for (const std::string& id : ids_in(folder)) dataset.cases.push_back(listed_case(folder, id));
      }
    }
    name_labels(dataset);
    return dataset;
  }

 private:
  fs::path channel_file(const fs::path& folder, const std::string& id, std::size_t channel) const {
    return folder / format("{}_{:04}{}", id, channel, ending_);
  }

  // If no names are given: as many channels as the first case has files.
  std::vector<std::string> counted_channels() const {
    std::map<std::string, std::size_t> counts;
    for (const fs::path& folder : image_folders(root_)) {
      for (const std::string& name : entries(folder)) {
        if (const auto file = numbered_file(name))
          counts[file->id] = std::max(counts[file->id], file->channel + 1);
      }
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < counts.begin()->second; ++i) names.push_back(format("channel_{}", i));
    return names;
  }

  std::set<std::string> ids_in(const fs::path& folder) const {
    std::set<std::string> ids;
    for (const std::string& name : entries(folder)) {
      const std::optional<NumberedFile> file = numbered_file(name);
      if (!file || file->ending != ending_) continue;
      if (file->channel >= channels_.size()) {
        fail(Exit::bad_data, "{}: is channel number {}, but the data set has {} ({}), counted from 0",
             (folder / name).string(), file->channel, counted(channels_.size(), "channel"),
             join(channels_, ", "));
      }
      ids.insert(file->id);
    }
    return ids;
  }

  CaseFiles listed_case(const fs::path& folder, const std::string& id) const {
    CaseFiles files;
    files.id = id;
    for (std::size_t channel = 0; channel < channels_.size(); ++channel) {
      files.channels.push_back(channel_file(folder, id, channel));
      files.components.push_back(-1);
    }
    error_code ignored;
    const fs::path truth = root_ / "labelsTr" / (id + ending_);
    if (folder.filename() == "imagesTr" && fs::exists(truth, ignored)) files.truth = truth;
    return files;
  }

  CaseFiles written_case(const std::string& id, const DatasetJson::Case& written) const {
    if (written.images.size() != channels_.size()) {
      fail(Exit::bad_data, "{}: \"dataset\": case {} has {}, but there are {} ({})",
           dataset_json_path(root_).string(), id, counted(written.images.size(), "image"),
           counted(channels_.size(), "channel"), join(channels_, ", "));
    }
    CaseFiles files;
    files.id = id;
    for (const fs::path& image : written.images) {
      files.channels.push_back(plain(seen_from(root_, image)));
      files.components.push_back(-1);
    }
    if (!written.label.empty()) files.truth = plain(seen_from(root_, written.label));
    return files;
  }

  // A name with one value is a label. If any name has a list of values, all names are regions, and values
  // without a name of their own get one.
  void name_labels(Dataset& dataset) const {
    if (!json_) return;
    std::set<int> values;
    std::map<int, std::string> own_names;  // names of single values
    bool lists = false;
    for (const auto& [name, of_name] : json_->labels) {
      if (of_name == std::vector<int>{0}) continue;
      if (name == "ignore") {
        dataset.ignore_label = of_name[0];
        continue;
      }
      lists = lists || of_name.size() > 1;
      values.insert(of_name.begin(), of_name.end());
      dataset.regions.emplace_back(name, of_name);
      if (of_name.size() == 1) own_names[of_name[0]] = name;
    }
    for (const int value : values) {
      const auto own = own_names.find(value);
      dataset.labels.emplace_back(own == own_names.end() ? format("label_{}", value) : own->second, value);
    }
    if (!lists) dataset.regions.clear();  // derived from the labels
  }

  fs::path root_;
  std::optional<DatasetJson> json_;
  std::string ending_;
  std::vector<std::string> channels_;
};

}  // namespace

std::optional<std::string> recognise_nnunet(const DatasetOptions& options) {
  const std::optional<DatasetJson> json = read_dataset_json(options.root);
  if (json && json->by_nnunet) return "its dataset.json has channel_names, as in nnU-Net";
  const std::optional<NumberedFile> file = Lister::any_numbered(options.root);
  if (!file) return std::nullopt;
  error_code ignored;
  // The Decathlon's list has priority over a number at the end of a name.
  if (json && !json->training.empty() && fs::exists(options.root / json->training[0].images[0], ignored))
    return std::nullopt;
  return format("it has one file per channel, e.g. {}_{:04}{}", file->id, file->channel, file->ending);
}

Dataset list_nnunet(const DatasetOptions& options) {
  Dataset dataset = Lister(options).list();
  dataset.recognised = recognise_nnunet(options).value_or("");
  if (dataset.labels.empty() && options.labels.empty()) dataset.labels = observed_labels(dataset, options);
  return dataset;
}

}  // namespace voxswap::data
