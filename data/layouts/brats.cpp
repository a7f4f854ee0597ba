// The folders of the BraTS challenge since 2017: one folder per case, one file per sequence. The years differ
// in the names of folders and files and in the meaning of the label values.
#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/text.h"
#include "data/formats/image_io.h"
#include "data/layouts/dataset.h"
#include "data/layouts/folders.h"
#include "data/layouts/layouts.h"

namespace voxswap::data {

namespace {

// Groups of years whose label values have the same meaning.
enum class Meaning { to_2021, since_2023, paediatric };

struct Naming {
  const char* years;
  Meaning meaning;
  const char* folder;                   // of a case, a regular expression
  std::array<const char*, 5> suffixes;  // t1, t1ce, t2, flair, truth
};

constexpr std::array<const char*, 4> modalities{"t1", "t1ce", "t2", "flair"};
constexpr std::array<const char*, 5> plain_suffixes{"_t1", "_t1ce", "_t2", "_flair", "_seg"};

constexpr std::array<const char*, 5> hyphen_suffixes{"-t1n", "-t1c", "-t2w", "-t2f", "-seg"};

// Since 2023, gliomas, metastases, meningiomas, Sub-Saharan Africa and the generalisability track (GoAT)
// share label values; paediatric tumours have different ones in 2024.
constexpr std::array<Naming, 7> namings{{
    {"2017", Meaning::to_2021, "Brats17_[^/]+", plain_suffixes},
    {"2018", Meaning::to_2021, "Brats18_[^/]+", plain_suffixes},
    {"2019", Meaning::to_2021, "BraTS19_[^/]+", plain_suffixes},
    {"2020", Meaning::to_2021, "BraTS20_[^/]+", plain_suffixes},
    {"2021", Meaning::to_2021, "BraTS2021_[0-9]+", plain_suffixes},
    {"2023/2024", Meaning::since_2023, "BraTS-(GLI|MET|MEN|SSA|GoAT)-[0-9]+(-[0-9]+)?", hyphen_suffixes},
    {"2023/2024 PED", Meaning::paediatric, "BraTS-PED-[0-9]+(-[0-9]+)?", hyphen_suffixes},
}};

struct CaseFolder {
  const Naming* naming;
  fs::path folder;
};

const Naming* naming_of(const std::string& folder) {
  for (const Naming& naming : namings) {
    if (std::regex_match(folder, std::regex(naming.folder))) return &naming;
  }
  return nullptr;
}

// Case folders are in the root or deeper: in HGG and LGG, or in the folder that an archive unpacked to. The
// root itself may be a case.
void find_cases(const fs::path& folder, int depth, std::vector<CaseFolder>& found) {
  const std::string own = folder_name(folder);
  if (const Naming* naming = naming_of(own); naming != nullptr && !entries(folder).empty()) {
    found.push_back({naming, folder});
    return;
  }
  if (depth == 0) return;
  for (const std::string& name : entries(folder)) {
    error_code ignored;
    if (fs::is_directory(folder / name, ignored)) find_cases(folder / name, depth - 1, found);
  }
}

std::vector<CaseFolder> find_cases(const fs::path& root) {
  std::vector<CaseFolder> found;
  find_cases(root, 3, found);
  return found;
}

// The label meaning that most cases use.
Meaning meaning_of_most(const std::vector<CaseFolder>& found) {
  std::array<std::size_t, 3> counts{};
  for (const CaseFolder& one : found) ++counts[static_cast<std::size_t>(one.naming->meaning)];
  return static_cast<Meaning>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

std::string years_of(const std::vector<CaseFolder>& found, Meaning meaning) {
  std::vector<std::string> years;
  for (const Naming& naming : namings)
    if (naming.meaning == meaning &&
        std::any_of(found.begin(), found.end(), [&](const CaseFolder& one) { return one.naming == &naming; }))
      years.emplace_back(naming.years);
  return join(years, ", ");
}

// The common prefix of a case's files: the folder's name, the name of a link's target, or another prefix that
// all files share.
std::string file_stem(const fs::path& folder, const std::string& id, const Naming& naming) {
  error_code ignored;
  const std::string target = fs::weakly_canonical(folder, ignored).filename().string();
  std::set<std::string> stems;
  for (const std::string& name : entries(folder)) {
    const std::string stem = nifti_stem(name);
    for (std::size_t channel = 0; channel < modalities.size(); ++channel) {
      const std::string suffix = naming.suffixes[channel];
      if (ends_with(stem, suffix)) stems.insert(stem.substr(0, stem.size() - suffix.size()));
    }
  }
  for (const std::string& expected : {id, target})
    if (stems.contains(expected)) return expected;
  return stems.size() == 1 ? *stems.begin() : id;
}

// 2020 shipped one ground truth under its hospital name (case 355).
fs::path truth_file(const fs::path& folder, const std::string& stem, const Naming& naming) {
  error_code ignored;
  for (const std::string& name : {stem + naming.suffixes[4], std::string("W39_1998.09.19_Segm")}) {
    const fs::path file = nifti_file(folder, name);
    if (fs::exists(file, ignored) || fs::is_symlink(file, ignored)) return file;
  }
  return {};
}

// 2024 uses the names of 2023 and adds a label, the resection cavity. Its follow-up scans are numbered from
// 100, while 2023 counts 000, 001, …. If the names do not decide, the first ground truths are read.
std::optional<std::string> has_label_4(const Dataset& dataset, std::size_t enough) {
  std::size_t looked_at = 0;
  for (const CaseFiles& files : dataset.cases) {
    if (files.truth.empty() || looked_at == enough) continue;
    try {
      const LabelMap labels = read_label_map(files.truth);
      ++looked_at;
      if (std::find(labels.voxels.begin(), labels.voxels.end(), 4) != labels.voxels.end())
        return format("{} contains the label 4", files.truth.filename().string());
    } catch (const Error&) {
      continue;  // reported when the case itself is read
    }
  }
  return std::nullopt;
}

std::optional<std::string> why_2024(const Dataset& dataset) {
  for (const CaseFiles& files : dataset.cases) {
    if (files.id.find("-GLI-") == std::string::npos) continue;
    const std::string number = files.id.substr(files.id.rfind('-') + 1);
    if (number.size() >= 3 && number[number.size() - 3] != '0')
      return format("case {} is a follow-up scan", files.id);
  }
  return has_label_4(dataset, 8);
}

// In 2023 the label values were those of all challenges; 2024 has enhancing, non-enhancing, cyst and oedema,
// which is rare.
void name_paediatric_labels(Dataset& dataset) {
  constexpr std::size_t enough = 40;
  if (const auto reason = has_label_4(dataset, enough)) {
    dataset.labels = {{"enhancing", 1}, {"non_enhancing", 2}, {"cyst", 3}, {"oedema", 4}};
    dataset.recognised += format("; labels as in 2024, because {}", *reason);
    return;
  }
  dataset.labels = {{"necrosis", 1}, {"oedema", 2}, {"enhancing", 3}};
  dataset.recognised += format(
      "; labels as in 2023 (1 necrosis, 2 oedema, 3 enhancing), because none of the first {} ground truths "
      "contains the label 4. For labels as in 2024 set {{enhancing: 1, non_enhancing: 2, cyst: 3, oedema: "
      "4}} in {}",
      enough, key::data_labels);
}

void name_labels(Dataset& dataset, Meaning meaning) {
  if (meaning == Meaning::paediatric) return name_paediatric_labels(dataset);
  if (meaning == Meaning::to_2021) {
    dataset.labels = {{"necrosis", 1}, {"oedema", 2}, {"enhancing", 4}};
    return;
  }
  dataset.labels = {{"necrosis", 1}, {"oedema", 2}, {"enhancing", 3}};
  if (const auto reason = why_2024(dataset)) {
    dataset.labels.push_back({"resection_cavity", 4});
    dataset.recognised += format("; labels as in 2024, because {}", *reason);
  } else {
    dataset.recognised += "; labels as in 2023";
  }
}

std::string reason(const std::vector<CaseFolder>& found) {
  const Meaning most = meaning_of_most(found);
  std::size_t others = 0;
  const CaseFolder* first = nullptr;
  for (const CaseFolder& one : found) {
    if (one.naming->meaning != most) ++others;
    if (first == nullptr && one.naming->meaning == most) first = &one;
  }
  std::string text = format("{} named as in BraTS {}, e.g. {}", counted(found.size() - others, "case folder"),
                            years_of(found, most), first->folder.filename().string());
  if (others > 0) text += format("; {} named as in years whose labels differ in meaning", others);
  return text;
}

CaseFiles case_in(const CaseFolder& found) {
  CaseFiles files;
  files.id = folder_name(found.folder);
  const std::string stem = file_stem(found.folder, files.id, *found.naming);
  for (std::size_t channel = 0; channel < modalities.size(); ++channel) {
    files.channels.push_back(nifti_file(found.folder, stem + found.naming->suffixes[channel]));
    files.components.push_back(-1);
  }
  files.truth = truth_file(found.folder, stem, *found.naming);
  return files;
}

}  // namespace

std::optional<std::string> recognise_brats(const DatasetOptions& options) {
  const std::vector<CaseFolder> found = find_cases(options.root);
  if (found.empty()) return std::nullopt;
  return reason(found);
}

// Lists cases of all years. Without data.labels, the label values are those of most cases, and ground truths
// of other years are marked as unclear.
Dataset list_brats(const DatasetOptions& options) {
  Dataset dataset;
  dataset.modalities.assign(modalities.begin(), modalities.end());
  const std::vector<CaseFolder> found = find_cases(options.root);
  if (found.empty()) return dataset;
  const Meaning most = meaning_of_most(found);
  std::vector<CaseFiles> others;
  for (const CaseFolder& one : found) {
    CaseFiles files = case_in(one);
    const bool same = one.naming->meaning == most;
    if (!same && options.labels.empty())
      files.truth_unclear = format("is named as in BraTS {}, whose labels differ in meaning from those of {}",
                                   one.naming->years, years_of(found, most));
    (same ? dataset.cases : others).push_back(std::move(files));
  }
  std::sort(dataset.cases.begin(), dataset.cases.end(),
            [](const CaseFiles& a, const CaseFiles& b) { return a.id < b.id; });
  dataset.recognised = reason(found);
  if (options.labels.empty()) name_labels(dataset, most);
  dataset.cases.insert(dataset.cases.end(), others.begin(), others.end());
  return dataset;
}

}  // namespace voxswap::data
