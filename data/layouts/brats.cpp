// The folders in which the BraTS challenge has come since 2017: a folder per case, one file per sequence. The
// years differ in the names of folders and files and in what the label values mean.
#include <algorithm>
#include <array>
#include <optional>
#include <regex>

#include "base/error.h"
#include "data/image_io.h"
#include "data/layouts/layouts.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

struct Naming {
  const char* years;
  const char* folder;                   // of a case, as a regular expression
  std::array<const char*, 5> suffixes;  // t1, t1ce, t2, flair, truth
};

constexpr std::array<const char*, 4> modalities{"t1", "t1ce", "t2", "flair"};
constexpr std::array<const char*, 5> plain_suffixes{"_t1", "_t1ce", "_t2", "_flair", "_seg"};

constexpr std::array<Naming, 6> namings{{
    {"2017", "Brats17_.+", plain_suffixes},
    {"2018", "Brats18_.+", plain_suffixes},
    {"2019", "BraTS19_.+", plain_suffixes},
    {"2020", "BraTS20_.+", plain_suffixes},
    {"2021", "BraTS2021_[0-9]+", plain_suffixes},
    {"2023/2024", "BraTS-GLI-[0-9]+-[0-9]+", {"-t1n", "-t1c", "-t2w", "-t2f", "-seg"}},
}};

struct Found {
  const Naming* naming = nullptr;
  std::vector<fs::path> folders;
  std::size_t of_other_years = 0;  // case folders named as in another year
};

const Naming* naming_of(const std::string& folder) {
  for (const Naming& naming : namings) {
    if (std::regex_match(folder, std::regex(naming.folder))) return &naming;
  }
  return nullptr;
}

// Case folders lie in the root, or deeper: below HGG and LGG, or below what an archive unpacked to. The root
// itself may be a case.
void find_cases(const fs::path& folder, int depth, std::vector<Found>& found) {
  const std::string own = fs::weakly_canonical(folder).filename().string();
  if (const Naming* naming = naming_of(own); naming != nullptr && !entries(folder).empty()) {
    auto same = std::find_if(found.begin(), found.end(), [&](const Found& f) { return f.naming == naming; });
    if (same == found.end()) same = found.insert(found.end(), Found{naming, {}, 0});
    same->folders.push_back(folder);
    return;
  }
  if (depth == 0) return;
  for (const std::string& name : entries(folder)) {
    std::error_code ignored;
    if (fs::is_directory(folder / name, ignored)) find_cases(folder / name, depth - 1, found);
  }
}

// The year that most of the cases are named after.
Found find_cases(const fs::path& root) {
  std::vector<Found> found;
  find_cases(root, 3, found);
  const auto most = std::max_element(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.folders.size() < b.folders.size();
  });
  if (most == found.end()) return {};
  for (const Found& other : found) {
    if (other.naming != most->naming) most->of_other_years += other.folders.size();
  }
  return *most;
}

// 2020 shipped one truth under the name it had in the hospital (case 355).
fs::path truth_file(const fs::path& folder, const std::string& id, const Naming& naming) {
  std::error_code ignored;
  for (const std::string& stem : {id + naming.suffixes[4], std::string("W39_1998.09.19_Segm")}) {
    const fs::path file = nifti_file(folder, stem);
    if (fs::exists(file, ignored)) return file;
  }
  return {};
}

// 2024 is named as 2023 and adds a label, the resection cavity. Its follow-up scans are numbered from 100,
// where 2023 counts 000, 001, …; where that does not tell, the first truths are looked at.
std::optional<std::string> why_2024(const Dataset& dataset) {
  for (const CaseFiles& files : dataset.cases) {
    const std::string number = files.id.substr(files.id.rfind('-') + 1);
    if (number.size() >= 3 && number[number.size() - 3] != '0')
      return format("case {} is a follow-up scan", files.id);
  }
  constexpr std::size_t enough = 8;
  for (std::size_t i = 0; i < std::min(enough, dataset.cases.size()); ++i) {
    const fs::path& truth = dataset.cases[i].truth;
    if (truth.empty()) continue;
    try {
      const LabelMap labels = read_label_map(truth);
      if (std::find(labels.voxels.begin(), labels.voxels.end(), 4) != labels.voxels.end()) {
        return format("{} has the label 4", truth.filename().string());
      }
    } catch (const Error&) {
      continue;  // told when the case itself is read
    }
  }
  return std::nullopt;
}

void name_labels(Dataset& dataset, const Naming& naming) {
  const bool two_years = std::string(naming.years) == "2023/2024";
  if (!two_years) {
    dataset.labels = {{"necrosis", 1}, {"oedema", 2}, {"enhancing", 4}};
    return;
  }
  dataset.labels = {{"necrosis", 1}, {"oedema", 2}, {"enhancing", 3}};
  if (const auto reason = why_2024(dataset)) {
    dataset.labels.push_back({"resection_cavity", 4});
    dataset.recognised += format("; labels as in 2024, since {}", *reason);
  } else {
    dataset.recognised += "; labels as in 2023";
  }
}

std::string reason(const Found& found) {
  std::string text = format("{} case folders are named as in BraTS {}, e.g. {}", found.folders.size(),
                            found.naming->years, found.folders.front().filename().string());
  if (found.of_other_years > 0)
    text += format("; {} named as in other years are left out", found.of_other_years);
  return text;
}

}  // namespace

std::optional<std::string> recognise_brats(const DatasetOptions& options) {
  const Found found = find_cases(options.root);
  if (found.folders.empty()) return std::nullopt;
  return reason(found);
}

Dataset list_brats(const DatasetOptions& options) {
  Dataset dataset;
  dataset.modalities.assign(modalities.begin(), modalities.end());
  const Found found = find_cases(options.root);
  if (found.folders.empty()) return dataset;
  for (const fs::path& folder : found.folders) {
    CaseFiles files;
    files.id = fs::weakly_canonical(folder).filename().string();
    for (std::size_t channel = 0; channel < modalities.size(); ++channel) {
      files.channels.push_back(nifti_file(folder, files.id + found.naming->suffixes[channel]));
      files.components.push_back(-1);
    }
    files.truth = truth_file(folder, files.id, *found.naming);
    dataset.cases.push_back(std::move(files));
  }
  std::sort(dataset.cases.begin(), dataset.cases.end(),
            [](const CaseFiles& a, const CaseFiles& b) { return a.id < b.id; });
  dataset.recognised = reason(found);
  name_labels(dataset, *found.naming);
  return dataset;
}

}  // namespace voxswap
