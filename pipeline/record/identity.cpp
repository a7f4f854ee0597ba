#include "pipeline/record/identity.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "base/keys.h"
#include "net/networks/networks.h"
#include "pipeline/record/starting_weights.h"
#include "pipeline/report/lists.h"

namespace voxswap::pipeline {

namespace {

// Earlier versions passed all samples of a batch to kernels at once, which rounds differently, and lack this
// entry.
constexpr const char* samples_of_a_batch = "samples of a batch";

constexpr const char* first_weights = "content of the first weights";

// Files that paths refer to enter the identity by content, not by name or location.
std::map<std::string, std::string> bearing_keys(const Experiment& experiment, const SettingList& settings) {
  std::map<std::string, std::string> keys;
  for (const Setting& setting : settings) {
    const bool elsewhere = setting.decides == Decides::name || setting.decides == Decides::source;
    if (!elsewhere && !may_change(setting.decides, experiment)) keys[setting.key] = setting.value;
  }
  if (experiment.training.batch_size > 1)
    keys[samples_of_a_batch] = net::takes_batch_at_once(experiment.network.name)
                                   ? "at once"
                                   : "one after the other, added along a binary tree";
  if (const fs::path& init = experiment.training.init; !init.empty()) {
    error_code ignored;
    keys[first_weights] = fs::exists(init, ignored) ? Hasher().add_file(weights_file(init)).digest() : "gone";
  }
  return keys;
}

std::string run_of(const RunIdentity& identity) {
  Hasher hasher;
  for (const auto& [key, value] : identity.experiment) hasher.add(key).add(value);
  hasher.add("cases");
  for (const auto& [id, content] : identity.cases) hasher.add(id).add(content);
  return hasher.add(identity.split).digest();
}

// Adds "cases are missing: a, b, c and 2 more".
void add_change(std::vector<std::string>& changes, const char* what, const std::vector<std::string>& ids) {
  if (!ids.empty()) changes.push_back(format("{}: {}", what, listed(ids, 3)));
}

[[noreturn]] void refuse_data(const fs::path& root, const std::vector<std::string>& changes) {
  fail(Exit::bad_data,
       "{}: is not the data that the run was started with: {}. Restore it, or start another run with --out "
       "DIR",
       root.string(), join(changes, "; "));
}

}  // namespace

RunIdentity identify(const Experiment& experiment, const SettingList& settings, CaseContents cases,
                     const Csv& split) {
  RunIdentity identity;
  identity.experiment = bearing_keys(experiment, settings);
  identity.cases = std::move(cases);
  identity.split = Hasher().add(csv_text(split)).digest();
  identity.run = run_of(identity);
  return identity;
}

std::string identity_text(const RunIdentity& identity) {
  Json json = {{"run", identity.run},
               {"split", identity.split},
               {"experiment", identity.experiment},
               {"cases", Json::array()}};
  for (const auto& [id, content] : identity.cases)
    json["cases"].push_back({{"case", id}, {"content", content}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_identity(const fs::path& folder, const RunIdentity& identity) {
  write_file(folder / identity_file, identity_text(identity));
}

bool has_identity(const fs::path& folder) {
  error_code ignored;
  return fs::exists(folder / identity_file, ignored);
}

RunIdentity read_identity(const fs::path& folder) {
  const fs::path file = folder / identity_file;
  const Json json = parse_json(read_file(file));
  RunIdentity identity;
  try {
    identity.run = json.at("run").get<std::string>();
    identity.split = json.at("split").get<std::string>();
    identity.experiment = json.at("experiment").get<std::map<std::string, std::string>>();
    for (const Json& one : json.at("cases"))
      identity.cases.emplace_back(one.at("case").get<std::string>(), one.at("content").get<std::string>());
  } catch (const Json::exception&) {
    fail(Exit::bad_data, "{}: is not the identity of a run. Restore it as the run wrote it", file.string());
  }
  if (identity.run != run_of(identity))
    fail(Exit::bad_data, "{}: was changed after the run was started. Restore it as the run wrote it",
         file.string());
  return identity;
}

bool may_change(Decides decides, const Experiment& experiment) {
  const TrainingOptions& training = experiment.training;
  const bool by_length = training.schedule.name == Schedule::poly ||
                         training.schedule.name == Schedule::cosine ||
                         (training.averaging.name == Averaging::swa && training.averaging.start == 0);
  using enum Decides;
  return decides == nothing || decides == stop || decides == memory || decides == scores ||
         decides == shown || (decides == epochs && !by_length);
}

void check_experiment(const RunIdentity& identity, const Experiment& experiment, const SettingList& settings,
                      const std::vector<std::string>& sections) {
  const std::map<std::string, std::string> now = bearing_keys(experiment, settings);
  std::vector<std::string> changes;
  for (const auto& [key, value] : identity.experiment) {
    const auto found = now.find(key);  // ignores keys that this version does not have
    const bool asked =
        std::ranges::any_of(sections, [&](const std::string& section) { return key.starts_with(section); });
    if (!asked || found == now.end() || found->second == value) continue;
    // Version 0.3 had no auto; the split of a run is recorded apart from it.
    if (key == key::data_split_patient && value == "none" && found->second == SplitOptions::known) continue;
    changes.push_back(format("{} was {}, now {}", key, value, found->second));
  }
  if (!changes.empty())
    fail(Exit::bad_data,
         "{}: is not the experiment that this run was started with: {}. Undo that change, or start another "
         "run",
         (experiment.output / "experiment.yaml").string(), join(changes, "; "));
}

void check_batches(const RunIdentity& identity, const Experiment& experiment) {
  if (experiment.training.batch_size == 1 || identity.experiment.contains(samples_of_a_batch)) return;
  fail(Exit::bad_data,
       "{}: was started by a version of voxswap that computed the {} of a batch at once. This version "
       "computes them one after the other, which rounds differently. Continue with the old version, or start "
       "another run with --out DIR",
       experiment.output.string(), counted(experiment.training.batch_size, "sample"));
}

void check_split(const RunIdentity& identity, const fs::path& split_file) {
  if (Hasher().add(csv_text(read_csv(split_file))).digest() != identity.split)
    fail(Exit::bad_data,
         "{}: was changed after the run was started. Restore it as the run wrote it, or start another run "
         "with {}={}",
         split_file.string(), key::data_split_file, split_file.string());
}

void check_case_list(const RunIdentity& identity, const data::Dataset& dataset) {
  std::vector<std::string> before, now, gone, added, changes;
  for (const auto& [id, content] : identity.cases) before.push_back(id);
  for (const data::CaseFiles& files : dataset.cases) now.push_back(files.id);
  std::ranges::sort(before);
  std::ranges::sort(now);
  std::ranges::set_difference(before, now, std::back_inserter(gone));
  std::ranges::set_difference(now, before, std::back_inserter(added));
  add_change(changes, "cases are missing", gone);
  add_change(changes, "cases are new", added);
  if (!changes.empty()) refuse_data(dataset.root, changes);
}

void check_contents(const RunIdentity& identity, const CaseContents& now, const fs::path& root) {
  const std::map<std::string, std::string> before(identity.cases.begin(), identity.cases.end());
  std::vector<std::string> changed, changes;
  for (const auto& [id, content] : now) {
    const auto found = before.find(id);
    if (found == before.end() || found->second != content) changed.push_back(id);
  }
  add_change(changes, "files of cases have changed", changed);
  if (!changes.empty()) refuse_data(root, changes);
}

std::map<std::string, std::string> model_metadata(const data::Dataset& dataset, const Experiment& experiment,
                                                  const std::string& run, std::int64_t repeat) {
  Json labels = Json::object(), regions = Json::object();
  for (const auto& [name, value] : dataset.labels) labels[name] = value;
  for (const auto& [name, values] : dataset.regions) regions[name] = values;
  const auto text = [](const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  return {{"run", run},
          {"repeat", std::to_string(repeat)},
          {"network", experiment.network.name},
          {"modalities", join(dataset.modalities, " ")},
          {"labels", text(labels)},
          {"regions", text(regions)},
          {"targets", choice_name(experiment.training.targets)}};
}

void check_metadata(const Checkpoint& checkpoint, const std::map<std::string, std::string>& expected,
                    const std::string& where) {
  for (const auto& [key, value] : expected) {
    const std::string& found = checkpoint.text(key, where);
    if (found == value) continue;
    if (key == "run")
      fail(Exit::bad_data, "{}: belongs to another run ({}, this is {}). Restore the one of this run", where,
           found, value);
    fail(Exit::bad_data, "{}: was trained with {} '{}', but here it is '{}'. Undo that change", where, key,
         found, value);
  }
}

}  // namespace voxswap::pipeline
