// Scans as they leave a hospital: a folder per case, in it, perhaps below a folder per study, a folder of
// DICOM slices per series. What a series shows is told by its folder's name, else by its SeriesDescription;
// series that tell nothing of T1, T2 or FLAIR (localisers, diffusion) are left out, and named. A truth is a
// label map in the case's folder: seg, truth or label, also at the end of a name, as .nii.gz, .nii, .nrrd or
// .mha.
#include "data/dicom.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "data/layouts/layouts.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

constexpr std::array<const char*, 4> sequences{"t1", "t1ce", "t2", "flair"};

// "Ax T1 SE post Gd" -> t1ce; empty for what is no such sequence.
std::string sequence_of(const std::string& written) {
  const std::string text = snake_case(written);
  const std::string named = modality_name(text);
  if (std::find(sequences.begin(), sequences.end(), named) != sequences.end()) return named;
  const std::vector<std::string> words = split(text, '_');
  const auto any_of = [&](std::initializer_list<const char*> wanted) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return std::find(wanted.begin(), wanted.end(), word) != wanted.end();
    });
  };
  const auto begins = [&](const char* with) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& w) { return w.starts_with(with); });
  };
  if (text.find("flair") != std::string::npos || text.find("dark_fluid") != std::string::npos) return "flair";
  if (any_of({"t1ce", "t1c", "t1gd"})) return "t1ce";
  const bool contrast = any_of({"c", "ce", "gd", "km", "post"}) || begins("gad") || begins("contrast");
  if (any_of({"t1", "t1w"})) return contrast ? "t1ce" : "t1";
  return any_of({"t2", "t2w"}) ? "t2" : "";
}

struct FoundCase {
  std::map<std::string, fs::path> series;  // by sequence
  fs::path truth;
};

struct Found {
  std::map<std::string, FoundCase> cases;
  std::vector<std::string> left_out;  // series that tell of no sequence
};

void add_series(const fs::path& folder, const std::string& id, Found& found) {
  std::string sequence = sequence_of(folder.filename().string());
  if (sequence.empty()) sequence = sequence_of(dicom_description(folder));
  if (sequence.empty()) {
    found.left_out.push_back(folder.filename().string());
    return;
  }
  const auto [known, fresh] = found.cases[id].series.try_emplace(sequence, folder);
  if (!fresh) {
    fail(Exit::bad_data,
         "case {}: two series look like {}: {} and {}. Move one away, or say which is meant with data.files, "
         "e.g. {}: \"{{case}}/{}\"",
         id, sequence, known->second.string(), folder.string(), sequence, folder.filename().string());
  }
}

// Series lie at most three folders below a case: study, series, and what a CD puts between them.
void find_series(const fs::path& folder, const std::string& id, int depth, Found& found) {
  for (const std::string& name : entries(folder)) {
    const fs::path inner = folder / name;
    std::error_code ignored;
    if (!fs::is_directory(inner, ignored)) continue;
    if (is_dicom_folder(inner)) {
      add_series(inner, id, found);
    } else if (depth > 0) {
      find_series(inner, id, depth - 1, found);
    }
  }
}

fs::path truth_in(const fs::path& folder) {
  for (const std::string& name : entries(folder)) {
    for (const char* extension : {".nii.gz", ".nii", ".nrrd", ".mha"}) {
      if (!ends_with(name, extension)) continue;
      const std::vector<std::string> words = split(snake_case(name), '_');
      const std::size_t of_extension = extension == std::string(".nii.gz") ? 2 : 1;
      if (words.size() <= of_extension) continue;
      const std::string& last = words[words.size() - 1 - of_extension];
      if (last == "seg" || last == "truth" || last == "label") return folder / name;
    }
  }
  return {};
}

Found find_cases(const fs::path& root) {
  Found found;
  std::error_code ignored;
  for (const std::string& name : entries(root)) {
    const fs::path folder = root / name;
    if (!fs::is_directory(folder, ignored)) continue;
    if (is_dicom_folder(folder)) {  // the root itself is a case
      const std::string id = fs::weakly_canonical(root, ignored).filename().string();
      add_series(folder, id, found);
      if (found.cases.contains(id)) found.cases[id].truth = truth_in(root);
    } else {
      find_series(folder, name, 2, found);
      if (found.cases.contains(name)) found.cases[name].truth = truth_in(folder);
    }
  }
  return found;
}

std::string reason(const Found& found) {
  std::string text = format("{} folders hold DICOM series named like sequences, e.g. {}", found.cases.size(),
                            found.cases.begin()->first);
  if (!found.left_out.empty()) {
    text += format("; {} series tell of no sequence and are left out, e.g. {}", found.left_out.size(),
                   found.left_out.front());
  }
  return text;
}

}  // namespace

std::optional<std::string> recognise_dicom(const DatasetOptions& options) {
  const Found found = find_cases(options.root);
  if (found.cases.empty()) return std::nullopt;
  return reason(found);
}

Dataset list_dicom(const DatasetOptions& options) {
  const Found found = find_cases(options.root);
  Dataset dataset;
  for (const char* sequence : sequences) {
    const bool occurs = std::any_of(found.cases.begin(), found.cases.end(),
                                    [&](const auto& one) { return one.second.series.contains(sequence); });
    if (occurs) dataset.modalities.emplace_back(sequence);
  }
  for (const auto& [id, of_case] : found.cases) {
    CaseFiles files;
    files.id = id;
    files.truth = of_case.truth;
    for (const std::string& sequence : dataset.modalities) {
      const auto series = of_case.series.find(sequence);
      // Where there is none, the path at which one would be found.
      files.channels.push_back(series == of_case.series.end() ? options.root / id / sequence
                                                              : series->second);
      files.components.push_back(-1);
    }
    dataset.cases.push_back(std::move(files));
  }
  if (!found.cases.empty()) dataset.recognised = reason(found);
  if (options.labels.empty()) dataset.labels = observed_labels(dataset);
  return dataset;
}

}  // namespace voxswap
