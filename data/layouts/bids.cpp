// BIDS, the Brain Imaging Data Structure (bids.neuroimaging.io): sub-01/anat/sub-01_T1w.nii.gz, or with
// sessions sub-01/ses-1/anat/…, one case per session. Label maps are in derivatives, as sub-01_dseg.nii.gz,
// with a table of their labels. Derivatives that this program wrote (predictions) are not used as ground
// truth.
#include <algorithm>
#include <map>

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/keys.h"
#include "base/units.h"
#include "data/layouts/dataset.h"
#include "data/layouts/folders.h"
#include "data/layouts/layouts.h"

namespace voxswap::data {

namespace {

bool is_folder(const fs::path& path) {
  error_code ignored;
  return fs::is_directory(path, ignored);
}

// sub-01 or sub-01/ses-1: the folder of a case's anat, relative to the data set or a derivative.
struct Place {
  std::string id;  // sub-01_ses-1
  fs::path below;
};

std::vector<Place> places(const fs::path& root) {
  std::vector<Place> found;
  for (const std::string& subject : entries(root)) {
    if (!subject.starts_with("sub-") || !is_folder(root / subject)) continue;
    if (is_folder(root / subject / "anat")) found.push_back({subject, fs::path(subject)});
    for (const std::string& session : entries(root / subject))
      if (session.starts_with("ses-") && is_folder(root / subject / session / "anat"))
        found.push_back({subject + "_" + session, fs::path(subject) / session});
  }
  return found;
}

// "sub-01_ce-gadolinium_T1w.nii.gz": the last part is the image type, the others describe how it was
// acquired.
struct Name {
  std::string suffix;
  bool contrast = false;
};

std::optional<Name> name_of(const std::string& file, const Place& place) {
  const std::string stem = nifti_stem(file);
  const std::size_t last = stem.rfind('_');
  if (last == stem.npos || !stem.starts_with(place.id + "_")) return std::nullopt;
  return Name{stem.substr(last + 1), stem.find("_ce-") != stem.npos};
}

// T1w -> t1, T1w with ce -> t1ce, FLAIR -> flair.
std::string channel_of(const Name& name) {
  const std::string channel = modality_name(name.suffix);
  return name.contrast ? channel + "ce" : channel;
}

// Images of a folder by channel, without masks.
std::map<std::string, std::vector<fs::path>> scans_of(const fs::path& root, const Place& place) {
  std::map<std::string, std::vector<fs::path>> scans;
  const fs::path folder = root / place.below / "anat";
  for (const std::string& file : entries(folder)) {
    const std::optional<Name> name = name_of(file, place);
    if (!name || name->suffix == "mask" || name->suffix == "dseg" || name->suffix == "probseg") continue;
    scans[channel_of(*name)].push_back(folder / file);
  }
  return scans;
}

// The common sequences first, in the same order as in other layouts; then the others by name.
std::vector<std::string> in_order(std::map<std::string, int> channels) {
  std::vector<std::string> order;
  for (const char* known : {"t1", "t1ce", "t2", "flair"})
    if (channels.erase(known) > 0) order.emplace_back(known);
  for (const auto& [name, count] : channels) order.push_back(name);
  return order;
}

bool is_ours(const fs::path& derivative) {
  const fs::path file = derivative / "dataset_description.json";
  error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return false;
  const Json json = parse_json(read_file(file));
  if (!json.is_object() || !json.contains("GeneratedBy") || !json["GeneratedBy"].is_array()) return false;
  return std::any_of(json["GeneratedBy"].begin(), json["GeneratedBy"].end(), [](const Json& by) {
    return by.is_object() && by.contains("Name") && by["Name"] == "voxswap";
  });
}

// Derivatives by other programs, which may contain the ground truth.
std::vector<fs::path> derivatives_of(const fs::path& root) {
  std::vector<fs::path> folders;
  if (!is_folder(root / "derivatives")) return folders;
  if (!places(root / "derivatives").empty() && !is_ours(root / "derivatives"))
    folders.push_back(root / "derivatives");
  for (const std::string& name : entries(root / "derivatives"))
    if (const fs::path folder = root / "derivatives" / name; is_folder(folder) && !is_ours(folder))
      folders.push_back(folder);
  return folders;
}

fs::path truth_of(const std::vector<fs::path>& derivatives, const Place& place) {
  std::vector<fs::path> found;
  for (const fs::path& derivative : derivatives) {
    const fs::path folder = derivative / place.below / "anat";
    if (!is_folder(folder)) continue;
    for (const std::string& file : entries(folder))
      if (const auto name = name_of(file, place); name && name->suffix == "dseg")
        found.push_back(folder / file);
  }
  if (found.size() > 1)
    fail(Exit::bad_data, "case {}: {} and {} are both label maps. Choose the ground truth with {} and {}",
         place.id, found[0].string(), found[1].string(), key::data_layout, key::data_files);
  return found.empty() ? fs::path() : found[0];
}

// dseg.tsv: columns index and name, separated by tabs; the background is skipped.
Labels labels_in(const fs::path& file) {
  std::string text = read_file(file);
  std::replace(text.begin(), text.end(), '\t', ',');
  const Csv table = parse_csv(text, file.string());
  const std::size_t index = table.column("index", file.string()), name = table.column("name", file.string());
  Labels labels;
  for (const auto& row : table.rows) {
    const auto value = parse_number<int>(row[index]);
    if (!value)
      fail(Exit::bad_data, "{}: index: expected a whole number, found '{}'", file.string(), row[index]);
    if (*value != 0) labels.emplace_back(snake_case(row[name]), *value);
  }
  return labels;
}

// The table next to the first label map, or at the top of its derivative.
Labels named_labels(const Dataset& dataset, const std::vector<fs::path>& derivatives) {
  std::vector<fs::path> tables;
  for (const CaseFiles& files : dataset.cases)
    if (!files.truth.empty()) {
      tables.push_back(files.truth.parent_path() / (nifti_stem(files.truth.filename().string()) + ".tsv"));
      break;
    }
  for (const fs::path& derivative : derivatives)
    for (const char* name : {"dseg.tsv", "desc-manual_dseg.tsv"}) tables.push_back(derivative / name);
  error_code ignored;
  for (const fs::path& table : tables)
    if (fs::is_regular_file(table, ignored)) return labels_in(table);
  return {};
}

// Lists the other contents of a BIDS data set: other data types, derivatives without ground truth, and source
// files.
void leave_out_other_data(const fs::path& root, const std::vector<Place>& all, Dataset& dataset) {
  const auto leave_out = [&](const fs::path& folder, const char* why) {
    const std::string start = folder.string() + "/";
    const bool used = std::any_of(dataset.cases.begin(), dataset.cases.end(), [&](const CaseFiles& files) {
      return files.truth.string().starts_with(start);
    });
    if (is_folder(folder) && !used) dataset.left_out.push_back({"note", folder, why});
  };
  for (const Place& place : all)
    for (const std::string& kind : entries(root / place.below))
      if (kind != "anat" && !kind.starts_with("ses-"))
        leave_out(root / place.below / kind, "not anatomical images (anat)");
  for (const char* name : {"sourcedata", "code", "stimuli", "phenotype"})
    leave_out(root / name, "not images of cases according to BIDS");
  for (const fs::path& derivative : derivatives_of(root))
    if (derivative.filename() != "derivatives") leave_out(derivative, "a derivative without ground truth");
}

CaseFiles case_of(const fs::path& root, const Place& place, const std::vector<std::string>& channels) {
  CaseFiles files;
  files.id = place.id;
  const auto scans = scans_of(root, place);
  for (const std::string& channel : channels) {
    const auto found = scans.find(channel);
    files.components.push_back(-1);
    std::string unclear;
    if (found == scans.end()) {
      files.channels.push_back(root / place.below / "anat" / format("{}_{}.nii.gz", place.id, channel));
    } else {
      files.channels.push_back(found->second.front());
      if (found->second.size() > 1)
        unclear = format("{} and {} are both {}. Remove one, or choose one with {}: files and {}",
                         found->second[0].filename().string(), found->second[1].filename().string(), channel,
                         key::data_layout, key::data_files);
    }
    files.unclear.push_back(unclear);
  }
  return files;
}

}  // namespace

std::optional<std::string> recognise_bids(const DatasetOptions& options) {
  for (const Place& place : places(options.root))
    if (!scans_of(options.root, place).empty())
      return format("it has {} as in BIDS", (place.below / "anat").string());
  return std::nullopt;
}

Dataset list_bids(const DatasetOptions& options) {
  Dataset dataset;
  dataset.recognised = recognise_bids(options).value_or("");
  const std::vector<Place> all = places(options.root);
  std::map<std::string, int> channels;
  for (const Place& place : all)
    for (const auto& [channel, files] : scans_of(options.root, place)) ++channels[channel];
  dataset.modalities = in_order(channels);
  const std::vector<fs::path> derivatives = derivatives_of(options.root);
  for (const Place& place : all) {
    CaseFiles files = case_of(options.root, place, dataset.modalities);
    if (!options.for_prediction) files.truth = truth_of(derivatives, place);
    dataset.cases.push_back(std::move(files));
  }
  leave_out_other_data(options.root, all, dataset);
  std::vector<fs::path> predictions{options.root / "derivatives"};
  for (const std::string& name : entries(predictions[0])) predictions.push_back(predictions[0] / name);
  for (const fs::path& folder : predictions)
    if (is_ours(folder))
      dataset.left_out.push_back({"note", folder, "derived by voxswap: predictions are not ground truth"});
  dataset.labels = named_labels(dataset, derivatives);
  if (dataset.labels.empty() && options.labels.empty()) dataset.labels = observed_labels(dataset, options);
  return dataset;
}

}  // namespace voxswap::data
