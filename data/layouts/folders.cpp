#include "data/layouts/folders.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/text.h"
#include "data/formats/formats.h"
#include "data/formats/image_io.h"

namespace voxswap::data {

std::string folder_name(const fs::path& folder) {
  return plain(fs::absolute(folder)).filename().string();
}

bool fits_pattern(const std::string& text, const std::string& pattern) {
  const std::string word = lower(text), wanted = lower(pattern);
  std::size_t at = 0, star = std::string::npos, retry = 0, i = 0;
  while (i < word.size()) {
    if (at < wanted.size() && (wanted[at] == '?' || (wanted[at] == word[i] && wanted[at] != '*'))) {
      ++at, ++i;
    } else if (at < wanted.size() && wanted[at] == '*') {
      star = at++;
      retry = i;
    } else if (star != std::string::npos) {  // let the last star match one more character
      at = star + 1;
      i = ++retry;
    } else {
      return false;
    }
  }
  return wanted.find_first_not_of('*', at) == std::string::npos;
}

std::vector<std::string> entries(const fs::path& folder) {
  std::vector<std::string> names;
  error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with(".")) continue;
    check_name(entry.path(), Exit::bad_data);
    names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path nifti_file(const fs::path& folder, const std::string& stem) {
  error_code ignored;
  const fs::path packed = folder / (stem + ".nii.gz"), plain = folder / (stem + ".nii");
  const auto is_there = [&](const fs::path& path) {
    return fs::exists(path, ignored) || fs::is_symlink(path, ignored);  // a link whose target is missing
  };
  return !is_there(packed) && is_there(plain) ? plain : packed;
}

std::string nifti_stem(const std::string& name) {
  for (const ImageExtension& extension : image_extensions()) {
    if (extension.format != ImageFormat::nifti || name.size() <= extension.text.size()) continue;
    if (ends_with(name, extension.text)) return name.substr(0, name.size() - extension.text.size());
  }
  return {};
}

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

std::string modality_name(const std::string& written) {
  const std::string name = snake_case(written);
  if (name == "t1n" || name == "t1w") return "t1";
  if (name == "t1c" || name == "t1gd" || name == "t1_gd" || name == "t1wce" || name == "t1w_ce")
    return "t1ce";
  if (name == "t2w") return "t2";
  if (name == "t2f" || name == "t2_flair" || name == "t2flair") return "flair";
  return name;
}

// Labels of a brain tumour are oedema, an enhancing part and possibly others of the core. A resection cavity
// (BraTS 2024) is not tumour: it is a region of its own.
Regions default_regions(const Labels& labels) {
  Regions alone;
  std::vector<int> whole, core, enhancing;
  bool has_oedema = false;
  for (const auto& [label, value] : labels) {
    const std::string name = snake_case(label);
    alone.push_back({name, {value}});
    if (contains(name, "resection") || contains(name, "cavity")) continue;
    whole.push_back(value);
    const bool oedema = contains(name, "edema");
    has_oedema = has_oedema || oedema;
    if (!oedema) core.push_back(value);
    if (name.starts_with("enhancing")) enhancing.push_back(value);
  }
  if (!has_oedema || enhancing.empty()) return alone;
  Regions regions{{"whole_tumor", whole}, {"tumor_core", core}, {"enhancing_tumor", enhancing}};
  for (const auto& region : alone) {
    if (std::find(whole.begin(), whole.end(), region.second.front()) == whole.end())
      regions.push_back(region);
  }
  return regions;
}

Labels observed_labels(const Dataset& dataset, const DatasetOptions& options) {
  std::set<int> values;
  constexpr std::size_t enough = 20;
  std::size_t looked_at = 0;
  for (const CaseFiles& files : dataset.cases) {
    error_code ignored;
    if (looked_at == enough && !options.all_label_maps) break;
    if (files.truth.empty() || !fs::is_regular_file(files.truth, ignored)) continue;
    try {
      const LabelMap labels = read_label_map(files.truth);
      values.insert(labels.voxels.begin(), labels.voxels.end());
      ++looked_at;
    } catch (const Error&) {
      continue;  // reported when the case itself is read
    }
  }
  Labels labels;
  for (const int value : values) {
    if (value > 0) labels.push_back({format("label_{}", value), value});
  }
  if (!labels.empty()) {
    log::warn("{} is not set: found {} in {}{}. Name them there", key::data_labels,
              counted(labels.size(), "label"), options.all_label_maps ? "" : "the first ",
              counted(looked_at, "label map"));
  }
  return labels;
}

}  // namespace voxswap::data
