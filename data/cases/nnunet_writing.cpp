#include "data/cases/nnunet_writing.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/outputs.h"
#include "base/progress.h"
#include "data/cases/read_case.h"
#include "data/formats/image_writing.h"
#include "data/volumes/orientation.h"

namespace voxswap::data {

namespace {

std::vector<fs::path> images_of(const fs::path& out, const CaseFiles& files) {
  std::vector<fs::path> images;
  for (std::size_t channel = 0; channel < files.channels.size(); ++channel)
    images.push_back(out / (files.labelled() ? "imagesTr" : "imagesTs") /
                     format("{}_{:04}.nii.gz", files.id, channel));
  return images;
}

fs::path truth_of(const fs::path& out, const CaseFiles& files) {
  return out / "labelsTr" / (files.id + ".nii.gz");
}

LabelMap renumbered(LabelMap labels, const std::map<int, int>& values) {
  for (std::int16_t& label : labels.voxels)
    if (label != 0) label = static_cast<std::int16_t>(values.at(label));
  return labels;
}

// Regions as nnU-Net expects them: the new values of each, and the label that represents it.
void describe_regions(const Dataset& dataset, Json& json) {
  const std::map<int, int> values = nnunet_values(dataset);
  Regions regions = dataset.regions;
  std::stable_sort(regions.begin(), regions.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  Json marks = Json::array();
  for (auto region = regions.begin(); region != regions.end(); ++region) {
    const auto& members = region->second;
    const auto own = std::find_if(members.begin(), members.end(), [&](int value) {
      return std::none_of(region + 1, regions.end(), [&](const auto& later) {
        return std::find(later.second.begin(), later.second.end(), value) != later.second.end();
      });
    });
    if (own == members.end())
      fail(Exit::usage,
           "region {}: each of its labels also belongs to a smaller region, so nnU-Net cannot represent it. "
           "Leave out --regions, or set other {}",
           region->first, key::data_regions);
    Json members_json = Json::array();
    for (const int value : members) members_json.push_back(values.at(value));
    json["labels"][region->first] = members.size() == 1 ? members_json[0] : members_json;
    marks.push_back(values.at(*own));
  }
  json["regions_class_order"] = marks;
}

// nnU-Net takes every file in these folders for one of a case. Removes those of an earlier conversion.
void remove_others(const fs::path& out, const std::set<std::string>& written) {
  std::vector<fs::path> others;
  for (const char* folder : {"imagesTr", "imagesTs", "labelsTr"}) {
    error_code ignored;
    for (fs::directory_iterator entry(out / folder, ignored), end; entry != end; entry.increment(ignored))
      if (!written.contains(entry->path().string()) && !entry->path().filename().string().starts_with("."))
        others.push_back(entry->path());
  }
  std::erase_if(others, [&](const fs::path& file) { return remove_output(file, out); });
  if (!others.empty())
    log::warn("{}: {} of another data set, which nnU-Net takes for cases, e.g. {}", out.string(),
              counted(static_cast<std::int64_t>(others.size()), "file"),
              others.front().lexically_relative(out).string());
}

}  // namespace

std::map<int, int> nnunet_values(const Dataset& dataset) {
  std::map<int, int> values;
  for (const auto& [name, value] : dataset.labels) values.emplace(value, static_cast<int>(values.size()) + 1);
  if (dataset.ignore_label != 0)
    values.emplace(dataset.ignore_label,
                   static_cast<int>(values.size()) + 1);  // nnU-Net requires the largest value
  return values;
}

std::string nnunet_description(const Dataset& dataset, std::size_t trained, bool as_regions) {
  Json json = {{"channel_names", Json::object()}, {"labels", {{"background", 0}}}};
  for (std::size_t i = 0; i < dataset.modalities.size(); ++i)
    json["channel_names"][std::to_string(i)] = dataset.modalities[i];
  const std::map<int, int> values = nnunet_values(dataset);
  if (dataset.ignore_label != 0) json["labels"]["ignore"] = values.at(dataset.ignore_label);
  if (as_regions)
    describe_regions(dataset, json);
  else
    for (const auto& [name, value] : dataset.labels) json["labels"][name] = values.at(value);
  json["numTraining"] = trained;
  json["file_ending"] = ".nii.gz";
  return json.dump(2) + "\n";
}

void write_nnunet(const Dataset& dataset, const fs::path& out, bool as_regions, Outputs& outputs) {
  if (dataset.images || dataset.classes)
    fail(Exit::usage, "{}: is a data set of 2D images. Only volumes can be converted to nnU-Net's format",
         dataset.root.string());
  if ((fs::weakly_canonical(out).string() + "/").starts_with(fs::canonical(dataset.root).string() + "/"))
    fail(Exit::usage, "{}: is in the data set, whose layout new files would change. Choose another --out",
         out.string());
  for (const CaseFiles& files : dataset.cases)
    if (files.annotated)
      fail(Exit::usage, "{}: case {} is partially annotated, which nnU-Net's format cannot store",
           key::data_annotated, files.id);
  const fs::path description = out / "dataset.json";
  std::size_t trained = 0;
  for (const CaseFiles& files : dataset.cases) {
    for (const fs::path& channel : files.channels) outputs.protect(channel);
    if (!files.truth.empty()) outputs.protect(files.truth);
    trained += files.labelled() ? 1 : 0;
  }
  const std::string text = nnunet_description(dataset, trained, as_regions);
  outputs.check(description);
  for (const CaseFiles& files : dataset.cases) {
    for (const fs::path& image : images_of(out, files)) outputs.check(image);
    if (files.labelled()) outputs.check(truth_of(out, files));
  }
  std::set<std::string> written;
  const auto write = [&](const fs::path& file, const std::function<void()>& produce) {
    make_directories(file.parent_path());
    outputs.write(file, produce);
    written.insert(file.string());
  };
  const std::map<int, int> values = nnunet_values(dataset);
  Progress progress("converting", "cases", static_cast<std::int64_t>(dataset.cases.size()));
  for (const CaseFiles& files : dataset.cases) {
    throw_if_interrupted();
    const Volume volume = read_case(dataset, files);
    const std::vector<fs::path> images = images_of(out, files);
    const fs::path like = files.first_channel();
    for (std::size_t i = 0; i < images.size(); ++i)
      write(images[i], [&] { write_image(images[i], as_stored(volume.channels[i], volume.stored()), like); });
    if (const fs::path truth = truth_of(out, files); volume.has_truth())
      write(truth, [&] {
        write_label_map(truth, renumbered(as_stored(volume.truth, volume.stored()), values), like);
      });
    progress.advance();
  }
  write(description, [&] { write_file(description, text); });
  remove_others(out, written);
}

}  // namespace voxswap::data
