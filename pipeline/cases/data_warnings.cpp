#include "pipeline/cases/data_warnings.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/checksummed_file.h"
#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/text.h"
#include "data/cases/check.h"
#include "data/layouts/incomplete.h"
#include "pipeline/report/lists.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

namespace {

constexpr const char* version = "voxswap warnings 2";

// File size and times as a cheap substitute for a checksum; only warnings depend on it.
void add_state(Hasher& hasher, const fs::path& path) {
  struct stat state {};
  hasher.add(path.string());
  if (::stat(path.c_str(), &state) != 0) return;
  for (const std::int64_t value :
       {std::int64_t{state.st_size}, std::int64_t{state.st_mtim.tv_sec}, std::int64_t{state.st_mtim.tv_nsec},
        std::int64_t{state.st_ctim.tv_sec}, std::int64_t{state.st_ctim.tv_nsec}})
    hasher.add(&value, sizeof value);
}

std::string key_of(const Experiment& experiment, const data::Dataset& dataset,
                   const std::vector<data::Unused>& unused) {
  Hasher hasher;
  hasher.add(version).add(dataset.root.string()).add(join(dataset.modalities, "\n"));
  hasher.add(format("{} {} {}", dataset.align, experiment.preprocess.corner_background,
                    experiment.preprocess.background));
  for (const auto& [name, value] : dataset.labels) hasher.add(name).add(&value, sizeof value);
  for (const data::Unused& one : unused) hasher.add(one.path.string()).add(one.why);
  for (const data::CaseFiles& files : dataset.cases) {
    hasher.add(files.id);
    std::set<fs::path> paths(files.channels.begin(), files.channels.end());
    paths.insert(files.truth);
    for (const fs::path& path : paths) {
      add_state(hasher, path);
      error_code ignored;
      if (!fs::is_directory(path, ignored)) continue;
      std::set<fs::path> slices;
      for (const auto& entry : fs::directory_iterator(path, ignored)) slices.insert(entry.path());
      for (const fs::path& slice : slices) add_state(hasher, slice);
    }
  }
  return hasher.digest();
}

// Errors are not reported here: reading the case stops the run anyway.
Csv found_in(const Experiment& experiment, data::Dataset dataset, const std::vector<data::Unused>& unused) {
  Csv csv{header_of(warning_columns()), {}};
  const fs::path root = dataset.root;
  const data::CheckReport report = data::check_listed(
      std::move(dataset),
      {experiment.data, experiment.preprocess.corner_background, experiment.preprocess.background});
  for (const data::Problem& problem : report.problems) {
    if (problem.severity == "warning") csv.rows.push_back({problem.case_id, problem.what, problem.fix});
  }
  for (const data::UnusedGroup& group : data::grouped(unused, root)) {
    if (group.severity != "note")
      csv.rows.push_back(
          {"", format("not used: {}: {}", group.what, group.why), "`voxswap check` lists all"});
  }
  return csv;
}

Csv known_or_found(const Experiment& experiment, data::Dataset dataset,
                   const std::vector<data::Unused>& unused) {
  if (experiment.cache.empty()) return found_in(experiment, std::move(dataset), unused);
  const fs::path kept = experiment.cache / "checks" / (key_of(experiment, dataset, unused) + ".csv");
  if (const auto known = read_checksummed(kept)) return parse_csv(*known, kept.string());
  const Csv csv = found_in(experiment, std::move(dataset), unused);
  try {
    make_writable_directory(kept.parent_path());
    write_checksummed(kept, csv_text(csv));
  } catch (const Error& error) {
    log::debug("the warnings cannot be cached: {}", error.what());
  }
  return csv;
}

// A user-supplied split file may omit cases that could be used for training.
void add_left_out(const Experiment& experiment, const data::Dataset& dataset, const Split& split, Csv& csv) {
  if (experiment.split.file.empty()) return;
  std::vector<std::string> left_out;
  for (std::size_t i = 0; i < dataset.cases.size(); ++i) {
    const bool takes_part = std::binary_search(split.training.begin(), split.training.end(), i) ||
                            std::binary_search(split.validation.begin(), split.validation.end(), i);
    if (!takes_part && dataset.cases[i].labelled()) left_out.push_back(dataset.cases[i].id);
  }
  if (left_out.empty()) return;
  constexpr std::size_t most = 5;
  const std::size_t count = left_out.size();
  if (count > most) left_out.resize(most);
  csv.rows.push_back(
      {"",
       format("{} leaves out {} of {} that have ground truth: {}{}", experiment.split.file.string(), count,
              counted(dataset.cases.size(), "case"), join(left_out, ", "), count > most ? " and others" : ""),
       "add them to the file to use them"});
}

// Mirrored, a structure of one side looks like that of the other.
void add_mirrored_sides(const Experiment& experiment, const data::Dataset& dataset, Csv& csv) {
  if (!data::mirrored_axes(experiment.training.augment)[0] || !data::names_tell_sides(dataset.labels)) return;
  csv.rows.push_back(
      {"", "labels distinguish left and right, but training mirrors one into the other",
       format("set {}=false and {}=0{}", key::training_augment_symmetries, key::training_augment_flip,
              experiment.evaluate.tta ? format(", and {}=false", key::evaluate_tta) : "")});
}

// Scores are too high if the initial weights were trained on cases that score them.
void add_pretrained(const Experiment& experiment, const Split& split,
                    const std::vector<std::string>& pretrained, Csv& csv) {
  if (pretrained.empty()) return;
  csv.rows.push_back({"",
                      format("{}={} was trained on {} of {}, so scores are too high: {}", key::network_init,
                             experiment.training.init.string(), pretrained.size(),
                             counted(split.validation.size(), "validation case"), listed(pretrained, 3)),
                      "start from a run that validated on the same cases"});
}

}  // namespace

const std::vector<CsvColumn>& warning_columns() {
  static const std::vector<CsvColumn> columns = {{"case", "name of the case (empty: the whole data set)"},
                                                 {"problem", "problem and file"},
                                                 {"what_to_do", "recommended action"}};
  return columns;
}

void warn_of_data(const Experiment& experiment, const data::Dataset& dataset, const Split& split,
                  const std::vector<std::string>& pretrained) {
  const std::vector<data::Unused> unused = data::unused_in(dataset);
  data::Dataset taking_part = dataset;
  taking_part.cases.clear();
  for (const auto* part : {&split.training, &split.validation}) {
    for (const std::size_t index : *part) taking_part.cases.push_back(dataset.cases[index]);
  }
  Csv csv = known_or_found(experiment, std::move(taking_part), unused);
  add_left_out(experiment, dataset, split, csv);
  add_mirrored_sides(experiment, dataset, csv);
  add_pretrained(experiment, split, pretrained, csv);
  constexpr std::size_t most = 20;
  for (std::size_t i = 0; i < std::min(most, csv.rows.size()); ++i)
    log::warn("{}; {}", csv.rows[i][1], csv.rows[i][2]);
  if (csv.rows.size() > most)
    log::warn("{} in {}", counted(csv.rows.size() - most, "more warning"),
              (experiment.output / warnings_file).string());
  write_csv(experiment.output / warnings_file, csv);
}

}  // namespace voxswap::pipeline
