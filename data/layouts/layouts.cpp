#include "data/layouts/layouts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "data/image_io.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

// `auto` asks in this order; patterns that somebody wrote down count for more than a guess.
constexpr std::array<Layout, 5> table_of_layouts{{
    {"files", "files that fit the patterns in data.files", recognise_files, list_files},
    {"brats",
     "a folder per case, named as in BraTS 2017 to 2024 (GLI, MET, MEN, PED, SSA), e.g. "
     "BraTS2021_00000/BraTS2021_00000_t1.nii.gz",
     recognise_brats, list_brats},
    {"nnunet",
     "dataset.json with channel_names, imagesTr/CASE_0000.nii.gz and labelsTr/CASE.nii.gz, as in nnU-Net",
     recognise_nnunet, list_nnunet},
    {"msd", "dataset.json, imagesTr and labelsTr, as in the Medical Segmentation Decathlon", recognise_msd,
     list_msd},
    {"dicom",
     "a folder per case with a folder of DICOM slices per series, named like its sequence, e.g. patient/t1",
     recognise_dicom, list_dicom},
}};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

std::span<const Layout> layouts() {
  return table_of_layouts;
}

std::string snake_case(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!result.empty() && result.back() != '_') {
      result += '_';
    }
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  return result;
}

std::string modality_name(const std::string& written) {
  const std::string name = snake_case(written);
  if (name == "t1n" || name == "t1w") return "t1";
  if (name == "t1c" || name == "t1gd" || name == "t1_gd" || name == "t1wce" || name == "t1w_ce")
    return "t1ce";
  if (name == "t2w") return "t2";
  if (name == "t2f" || name == "t2_flair" || name == "t2flair") return "flair";
  return name;
}

// A tumour's labels are oedema, an enhancing part and perhaps others of the core. A resection cavity (BraTS
// 2024) is no tumour: it is scored by itself.
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

Labels observed_labels(const Dataset& dataset) {
  std::set<int> values;
  constexpr std::size_t enough = 20;
  std::size_t looked_at = 0;
  for (const CaseFiles& files : dataset.cases) {
    std::error_code ignored;
    if (looked_at == enough) break;
    if (files.truth.empty() || !fs::is_regular_file(files.truth, ignored)) continue;
    try {
      const LabelMap labels = read_label_map(files.truth);
      values.insert(labels.voxels.begin(), labels.voxels.end());
      ++looked_at;
    } catch (const Error&) {
      continue;  // told when the case itself is read
    }
  }
  Labels labels;
  for (const int value : values) {
    if (value > 0) labels.push_back({format("label_{}", value), value});
  }
  if (!labels.empty()) {
    log::warn(
        "nothing names the labels; the first {} label maps hold {} different ones. Name them with "
        "data.labels",
        looked_at, labels.size());
  }
  return labels;
}

std::string folder_name(const fs::path& folder) {
  fs::path plain = fs::absolute(folder).lexically_normal();
  if (!plain.has_filename()) plain = plain.parent_path();  // "folder/", "."
  return plain.filename().string();
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
    } else if (star != std::string::npos) {  // the last star takes one character more
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
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with(".")) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path nifti_file(const fs::path& folder, const std::string& stem) {
  std::error_code ignored;
  const fs::path packed = folder / (stem + ".nii.gz"), plain = folder / (stem + ".nii");
  const auto is_there = [&](const fs::path& path) {
    return fs::exists(path, ignored) || fs::is_symlink(path, ignored);  // a link to what was not fetched
  };
  return !is_there(packed) && is_there(plain) ? plain : packed;
}

std::string nifti_stem(const std::string& name) {
  for (const std::string_view extension : {".nii.gz", ".nii"}) {
    if (name.size() > extension.size() && ends_with(name, extension)) {
      return name.substr(0, name.size() - extension.size());
    }
  }
  return {};
}

}  // namespace voxswap
