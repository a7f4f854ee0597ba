#include "pipeline/cases/split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/philox.h"
#include "base/text.h"
#include "data/layouts/incomplete.h"
#include "data/layouts/open_dataset.h"

namespace voxswap::pipeline {

namespace {

// Range of validation cases in the shuffled order.
struct Share {
  std::size_t first, count;
};
Share validating(std::size_t cases, const SplitOptions& options) {
  if (options.folds > 0) {
    const auto folds = static_cast<std::size_t>(options.folds), fold = static_cast<std::size_t>(options.fold);
    const std::size_t first = cases * fold / folds;
    return {first, cases * (fold + 1) / folds - first};
  }
  const auto wanted = std::llround(options.validation * static_cast<double>(cases));
  return {0, static_cast<std::size_t>(std::clamp<long long>(wanted, 1, static_cast<long long>(cases) - 1))};
}

Split drawn(const std::vector<std::size_t>& cases, const SplitOptions& options) {
  // Sorted by a random key each: the split depends on cases and seed, not on the order of files.
  std::vector<std::pair<std::uint32_t, std::size_t>> order;
  const Philox random(options.seed, 0x5711);
  for (std::size_t i = 0; i < cases.size(); ++i) order.emplace_back(random.word(i), cases[i]);
  std::sort(order.begin(), order.end());
  const Share share = validating(order.size(), options);
  Split split;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool validates = i >= share.first && i < share.first + share.count;
    (validates ? split.validation : split.training).push_back(order[i].second);
  }
  return split;
}

// Keeps patients together and stratifies.
Split dealt_out(const data::Dataset& dataset, const std::vector<std::size_t>& cases,
                const SplitOptions& options) {
  Split split;
  split.validation = stratified_validation(dataset, cases, options);
  std::sort(split.validation.begin(), split.validation.end());
  for (const std::size_t index : cases)
    if (!std::binary_search(split.validation.begin(), split.validation.end(), index))
      split.training.push_back(index);
  return split;
}

// A user-supplied split is checked, too.
void check_patients(const data::Dataset& dataset, const Split& split, const SplitOptions& options) {
  const std::map<std::string, std::string> patients = patients_of(dataset, options);
  if (patients.empty()) return;
  const auto report = [&](const std::string& trouble) {
    if (options.patient != SplitOptions::known) fail(Exit::bad_data, "{}. Put both into one part", trouble);
    log::warn("{}, so scores are too high", trouble);
  };
  std::map<std::string, std::string> trains;  // one case of each patient
  for (const std::size_t index : split.training)
    trains[patients.at(dataset.cases[index].id)] = dataset.cases[index].id;
  for (const std::size_t index : split.validation) {
    const std::string& id = dataset.cases[index].id;
    if (const auto found = trains.find(patients.at(id)); found != trains.end())
      return report(format("{}: '{}' trains and '{}' validates, but both belong to the patient '{}'",
                           options.file.string(), found->second, id, found->first));
  }
}

using Parts = std::vector<std::pair<std::string, std::string>>;  // case, training | validation

Parts parts_of_csv(const fs::path& path) {
  const Csv csv = read_csv(path);
  const std::size_t id = csv.column("case", path.string()), part = csv.column("part", path.string());
  Parts parts;
  for (const auto& row : csv.rows) {
    if (row[part] != "training" && row[part] != "validation") {
      fail(Exit::bad_data, "{}: case '{}': part is '{}'. Expected training or validation", path.string(),
           row[id], row[part]);
    }
    parts.emplace_back(row[id], row[part]);
  }
  return parts;
}

// nnU-Net's format: [{"train": [case, …], "val": [case, …]}, …], one object per fold.
Parts parts_of_json(const fs::path& path, std::int64_t fold) {
  const Json folds = parse_json(read_file(path));
  Parts parts;
  try {
    if (fold >= static_cast<std::int64_t>(folds.get<std::vector<Json>>().size())) {
      fail(Exit::usage, "{}: {} holds {}, counted from 0. There is no fold {}", key::data_split_fold,
           path.string(), counted(folds.size(), "fold"), fold);
    }
    const Json& one = folds.at(static_cast<std::size_t>(fold));
    for (const auto& [key, part] : {std::pair{"train", "training"}, std::pair{"val", "validation"}}) {
      for (const auto& id : one.at(key).get<std::vector<std::string>>()) parts.emplace_back(id, part);
    }
  } catch (const Json::exception&) {
    fail(Exit::bad_data,
         "{}: is not a list of folds as in nnU-Net's splits_final.json. Expected [{{\"train\": [case, …], "
         "\"val\": [case, …]}}, …]",
         path.string());
  }
  return parts;
}

Split from_file(const data::Dataset& dataset, const SplitOptions& options) {
  const fs::path& path = options.file;
  const Parts parts =
      ends_with(lower(path.string()), ".json") ? parts_of_json(path, options.fold) : parts_of_csv(path);
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < dataset.cases.size(); ++i) index[dataset.cases[i].id] = i;
  Split split;
  std::set<std::string> seen;
  for (const auto& [id, part] : parts) {
    const auto found = index.find(id);
    if (found == index.end()) {
      fail(Exit::bad_data, "{}: case '{}' is not in the data set at {}", path.string(), id,
           dataset.root.string());
    }
    if (!seen.insert(id).second) fail(Exit::bad_data, "{}: case '{}' is listed twice", path.string(), id);
    if (!dataset.cases[found->second].labelled()) {
      fail(Exit::bad_data, "{}: case '{}' has no ground truth and cannot be used for {}", path.string(), id,
           part);
    }
    (part == "training" ? split.training : split.validation).push_back(found->second);
  }
  return split;
}

std::set<std::string> names_in(const fs::path& path) {
  std::set<std::string> names;
  const bool is_json = ends_with(lower(path.string()), ".json");
  const Json folds = is_json ? parse_json(read_file(path)) : Json::array({1});
  for (std::size_t fold = 0; fold < folds.size(); ++fold)
    for (const auto& [id, part] :
         is_json ? parts_of_json(path, static_cast<std::int64_t>(fold)) : parts_of_csv(path))
      names.insert(id);
  return names;
}

}  // namespace

data::Dataset open_dataset(const Experiment& experiment) {
  error_code error;  // a dry run of a sweep has not written the split yet
  if (experiment.split.file.empty() || !fs::exists(experiment.split.file, error))
    return data::open_dataset(experiment.data);
  data::Dataset dataset = data::list_dataset(experiment.data);
  const std::set<std::string> named = names_in(experiment.split.file);
  const std::size_t left_out = std::erase_if(dataset.cases, [&](const data::CaseFiles& files) {
    return !named.contains(files.id) && data::lacks_a_file(dataset, files);
  });
  if (left_out > 0)
    log::info("{} with missing files skipped: {} does not list them",
              counted(static_cast<std::int64_t>(left_out), "case"), experiment.split.file.string());
  data::check_files(dataset);
  return dataset;
}

bool has_folds(const SplitOptions& options) {
  return options.folds > 0 || ends_with(lower(options.file.string()), ".json");
}

Split make_split(const data::Dataset& dataset, const SplitOptions& options) {
  Split split;
  if (!options.file.empty()) {
    split = from_file(dataset, options);
    check_patients(dataset, split, options);
  } else {
    std::vector<std::size_t> cases;
    for (std::size_t i = 0; i < dataset.cases.size(); ++i) {
      if (dataset.cases[i].labelled()) cases.push_back(i);
    }
    if (cases.size() < 2) {
      fail(Exit::bad_data,
           "{}: {} with ground truth among {}. Training needs at least one training and one validation case",
           dataset.root.string(), counted(cases.size(), "case"), counted(dataset.cases.size(), "case"));
    }
    if (options.folds > static_cast<std::int64_t>(cases.size()))
      fail(Exit::bad_data, "{}: {}: {} with ground truth cannot be divided into {}", dataset.root.string(),
           key::data_split_folds, counted(cases.size(), "case"), counted(options.folds, "fold"));
    const bool deals = !options.stratify.empty() || !patients_of(dataset, options).empty();
    split = deals ? dealt_out(dataset, cases, options) : drawn(cases, options);
  }
  if (split.training.empty() || split.validation.empty()) {
    fail(Exit::bad_data, "{}: the split has {} and {}. Each part needs at least one case",
         options.file.empty() ? dataset.root.string() : options.file.string(),
         counted(split.training.size(), "training case"),
         counted(split.validation.size(), "validation case"));
  }
  std::sort(split.training.begin(), split.training.end());
  std::sort(split.validation.begin(), split.validation.end());
  return split;
}

const std::vector<CsvColumn>& split_columns() {
  static const std::vector<CsvColumn> columns = {{"case", "name of the case"},
                                                 {"part", "training or validation"}};
  return columns;
}

Csv split_csv(const data::Dataset& dataset, const Split& split) {
  Csv csv{header_of(split_columns()), {}};
  for (std::size_t i = 0; i < dataset.cases.size(); ++i) {
    const bool trains = std::binary_search(split.training.begin(), split.training.end(), i);
    if (trains || std::binary_search(split.validation.begin(), split.validation.end(), i)) {
      csv.rows.push_back({dataset.cases[i].id, trains ? "training" : "validation"});
    }
  }
  return csv;
}

void write_split(const fs::path& path, const data::Dataset& dataset, const Split& split) {
  write_csv(path, split_csv(dataset, split));
}

}  // namespace voxswap::pipeline
