#include "pipeline/report/read_runs.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/keys.h"
#include "base/units.h"
#include "pipeline/report/written_files.h"

namespace voxswap::pipeline {

namespace {

void count_cases(RunFolder& run) {
  const fs::path file = run.path / "split.csv";
  if (!fs::exists(file)) return;
  const Csv split = read_csv(file);
  const std::size_t part = split.column("part", file.string());
  for (const auto& row : split.rows) ++(row[part] == "training" ? run.training_cases : run.validation_cases);
}

void check_is_run(const fs::path& folder) {
  if (fs::exists(folder / "epochs.csv") || fs::exists(folder / "experiment.yaml")) return;
  fail(Exit::bad_data, "{}: {}. Expected the folder of a run, with epochs.csv in it", folder.string(),
       !fs::exists(folder)        ? no_such_folder(folder)
       : fs::is_directory(folder) ? "contains no epochs.csv"
                                  : "is not a folder");
}

std::string folder_name(const fs::path& folder) {
  return fs::weakly_canonical(folder).filename().string();
}

// Names in the run columns of a folder; several if the folder is a merged report.
std::set<std::string> names_in(const RunFolder& run) {
  std::set<std::string> names;
  for (const RunInTable& one : run.in_tables()) names.insert(one.run);
  return names;
}

template <class Renamed>
void rename(RunFolder& run, const Renamed& renamed) {
  each_table([&](const char*, auto table) {
    for (auto& row : run.*table) row.run = renamed(row.run);
  });
}

// Rows of different folders with the same run name would be taken for repeats. Such a run has the name of its
// folder, unless that is taken, too: then the folder's full path follows the name, as a folder's name does in
// a merged report.
void make_names_unique(std::vector<RunFolder>& runs) {
  std::map<std::string, int> uses, folders;
  for (const RunFolder& run : runs) {
    for (const std::string& name : names_in(run)) ++uses[name];
    ++folders[folder_name(run.path)];
  }
  for (RunFolder& run : runs) {
    const std::set<std::string> names = names_in(run);
    const std::string folder = folder_name(run.path);
    if (std::ranges::any_of(names, [&](const std::string& name) { return uses[name] > 1; })) {
      const std::string place = folders[folder] > 1 ? fs::weakly_canonical(run.path).string() : folder;
      const bool is_name =
          place == folder && names.size() == 1 && (!uses.contains(folder) || names.contains(folder));
      rename(run, [&](const std::string& name) { return is_name ? folder : format("{} ({})", name, place); });
    }
    const std::set<std::string> renamed = names_in(run);
    run.name = renamed.empty() ? folder : join({renamed.begin(), renamed.end()}, ", ");
  }
}

// Warnings about files that were modified after the run.
std::vector<std::string> doubts(const fs::path& folder) {
  try {
    std::vector<std::string> found;
    if (const auto changed = changed_files(folder); !changed.empty())
      found.push_back(format("{}: changed after the run wrote it: {}", folder.string(), join(changed, ", ")));
    if (const auto names = tables_without_note(folder);
        fs::exists(folder / "identity.json") && !names.empty())
      found.push_back(format("{}: checksums.json lacks {}, so changes cannot be detected", folder.string(),
                             join(names, ", ")));
    return found;
  } catch (const Error& error) {
    return {error.what()};
  }
}

}  // namespace

RunFolder read_run(const fs::path& folder, const ReadSettings& read_settings) {
  RunFolder run;
  run.path = folder;
  if (const fs::path file = folder / "experiment.yaml"; fs::exists(file)) {
    run.experiment = read_file(file);
    run.settings = read_settings(file);
  }
  each_table([&]<class Row>(const char* file, std::vector<Row> RunTables::*table) {
    run.*table = rows_in<Row>(folder / file);
  });
  count_cases(run);
  run.stopped = stop_of(folder);
  return run;
}

std::string stopped_text(std::int64_t epoch) {
  return format("stopped at epoch {} (halving)", epoch);
}

std::string stop_of(const fs::path& run) {
  const fs::path file = run / "outcome.json";
  if (!fs::exists(file) || !fs::exists(run / "cell.yaml")) return "";
  const Json outcome = parse_json(read_file(file));
  return outcome.contains("until") ? outcome.value("message", "") : "";
}

std::vector<RunInTable> RunFolder::in_tables() const {
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<RunInTable> result;
  std::map<std::string, std::string> keys;
  for (const Setting& one : settings)
    if (distinguishes_models(one.decides)) keys[one.key] = one.value;
  each_table([&](const char*, auto table) {
    for (const auto& row : this->*table)
      if constexpr (requires { row.resolution; })
        if (seen.insert({row.run, row.resolution}).second) result.push_back({row.run, row.resolution, keys});
  });
  return result;
}

std::size_t RunFolder::group_in(const std::vector<RunGroup>& groups) const {
  const RunInTable first = in_tables().front();
  return group_of(groups, first.run, first.resolution);
}

std::string RunFolder::setting(const std::string& key) const {
  const auto found = std::ranges::find(settings, key, &Setting::key);
  return found == settings.end() ? "" : found->value;
}

std::string RunFolder::state() const {
  if (!dice.empty() || !classes.empty()) return "finished";
  if (!stopped.empty()) return stopped;
  std::int64_t epoch = 0, repeat = 1;
  for (const EpochRow& row : epochs) {
    if (row.repeat > repeat) epoch = 0;
    repeat = std::max(repeat, row.repeat);
    if (row.repeat == repeat) epoch = std::max(epoch, row.epoch);
  }
  // In experiments of other versions, these may be no numbers.
  const auto all = parse_number<std::int64_t>(setting(key::training_epochs)).value_or(0),
             repeats = std::max<std::int64_t>(
                 1, parse_number<std::int64_t>(setting(key::training_repeats)).value_or(0));
  if (static_cast<std::int64_t>(timing.size()) >= repeats) return "trained, not scored";
  std::string text = format("stopped after epoch {}", epoch);
  if (all > 0) text += format(" of {}", all);
  return repeats > 1 ? text + format(", repeat {} of {}", repeat, repeats) : text;
}

RunFolders read_runs(const std::vector<fs::path>& folders, const fs::path& out,
                     const ReadSettings& read_settings) {
  RunFolders result;
  std::set<fs::path> seen;
  const fs::path written = fs::weakly_canonical(out);
  for (const fs::path& folder : folders) {
    if (!seen.insert(fs::weakly_canonical(folder)).second) continue;
    const bool is_run = fs::exists(folder / "experiment.yaml"), others = folders.size() > 1;
    if (others && !is_run && fs::exists(folder) && fs::weakly_canonical(folder) == written) {
      result.notes.push_back(format("{}: skipped: it is the folder of this report", folder.string()));
      continue;
    }
    check_is_run(folder);
    for (std::string& doubt : doubts(folder)) result.notes.push_back(std::move(doubt));
    RunFolder run = read_run(folder, read_settings);
    if (!run.epochs.empty() || !run.dice.empty()) {
      result.runs.push_back(std::move(run));
    } else if (const std::string why = "no epoch is finished yet. Continue it with voxswap run ... --resume";
               others) {
      result.notes.push_back(format("{}: skipped: {}", folder.string(), why));
    } else {
      fail(Exit::bad_data, "{}: {}", folder.string(), why);
    }
  }
  if (folders.empty()) fail(Exit::usage, "no run to report. Name at least one run folder");
  if (result.runs.empty()) fail(Exit::bad_data, "no run to report:\n{}", join(result.notes, "\n"));
  make_names_unique(result.runs);
  return result;
}

}  // namespace voxswap::pipeline
