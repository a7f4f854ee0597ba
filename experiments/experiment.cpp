#include "experiments/experiment.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/text.h"
#include "data/cases/read_case.h"
#include "data/layouts/open_dataset.h"
#include "experiments/keys.h"
#include "experiments/presets.h"
#include "experiments/rules.h"
#include "experiments/value_types.h"
#include "pipeline/cases/split.h"

namespace voxswap::experiments {

namespace {

constexpr std::uintmax_t largest_file = 1 << 20;

std::string read_experiment_file(const fs::path& file) {
  error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status))
    fail(Exit::usage, "{}: no such experiment file{}", file.string(), did_you_mean(file));
  if (fs::is_directory(status))
    fail(Exit::usage, "{}: is a folder. Expected an experiment file (YAML){}", file.string(),
         fs::exists(file / "experiment.yaml", error)
             ? ", such as " + (file / "experiment.yaml").string() + " of that run"
             : "");
  const std::uintmax_t size = fs::file_size(file, error);
  if (!error && size > largest_file)
    fail(Exit::usage, "{}: has {}, too large for an experiment file (YAML, usually below one page)",
         file.string(), counted(size, "byte"));
  try {
    return read_file(file);
  } catch (const Error& trouble) {
    if (trouble.exit() != Exit::bad_data) throw;
    throw Error(Exit::usage, trouble.what());
  }
}

// Keys that contain a path. Default paths are relative to the current folder, except data.root, whose default
// is relative to the file's folder.
struct PathKey {
  const char* key;
  fs::path& (*of)(pipeline::Experiment& experiment);
  bool default_is_beside = false;
};
constexpr PathKey path_keys[] = {
    {"data.root", [](pipeline::Experiment& o) -> fs::path& { return o.data.root; }, true},
    {"data.annotated", [](pipeline::Experiment& o) -> fs::path& { return o.data.annotated; }},
    {"data.split.file", [](pipeline::Experiment& o) -> fs::path& { return o.split.file; }},
    {"network.init", [](pipeline::Experiment& o) -> fs::path& { return o.training.init; }},
    {"data.split.table", [](pipeline::Experiment& o) -> fs::path& { return o.split.table; }},
    {"data.cache", [](pipeline::Experiment& o) -> fs::path& { return o.cache; }},
    {"memory.disk", [](pipeline::Experiment& o) -> fs::path& { return o.memory.disk_folder; }},
    {"output.dir", [](pipeline::Experiment& o) -> fs::path& { return o.output; }},
};

fs::path from_folder(const fs::path& folder, const fs::path& path) {
  if (path.empty()) return path;
  error_code error;
  const fs::path joined = seen_from(fs::absolute(folder), path);
  const fs::path canonical = fs::weakly_canonical(joined, error);
  return plain(error ? joined : canonical);
}

// Shells do not always expand ~ after "=", and nothing expands it in a file.
fs::path from_home(const PathKey& key, const fs::path& path) {
  const std::string text = path.string();
  if (!text.starts_with('~')) return path;
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0' || (text != "~" && text[1] != '/'))
    fail(Exit::usage,
         "{}: {}: only ~/ is expanded, to the folder HOME. Write the full path, or ./{} for a folder with "
         "this name",
         key.key, text, text);
  return home + text.substr(1);
}

bool is_beside_file(const PathKey& key, const Settings& settings) {
  const auto found = settings.find(key.key);
  if (found == settings.end()) return key.default_is_beside;
  const Yaml* entry = found->second.find("path");  // of memory.disk
  return (entry == nullptr ? found->second : *entry).where != on_the_line;
}

// Relative paths in a file are relative to the file's folder, those on the command line to the current
// folder.
void settle_paths(const fs::path& file, const Settings& settings, pipeline::Experiment& experiment) {
  for (const PathKey& key : path_keys) {
    key.of(experiment) = from_home(key, key.of(experiment));
    if (is_beside_file(key, settings))
      key.of(experiment) = from_folder(fs::absolute(file).parent_path(), key.of(experiment));
  }
}

// Absolute paths make the resolved file independent of its location.
pipeline::Experiment with_absolute_paths(pipeline::Experiment experiment) {
  for (const PathKey& key : path_keys)
    key.of(experiment) = from_folder(fs::current_path(), key.of(experiment));
  return experiment;
}

void expand_output(pipeline::Experiment& experiment, const std::string& where) {
  std::string text = experiment.output.string();
  for (std::size_t at; (at = text.find("{name}")) != text.npos;) text.replace(at, 6, experiment.name);
  if (text.find('{') != text.npos || text.find('}') != text.npos)
    fail(Exit::usage, "{}: output.dir: '{}' contains a brace that is not {{name}}", where,
         experiment.output.string());
  experiment.output = text;
}

pipeline::SettingList settings_of(const pipeline::Experiment& given) {
  const pipeline::Experiment experiment = with_absolute_paths(given);
  pipeline::SettingList settings;
  for (const Key& key : keys()) {
    if (key.path == "data.split.fold" && !pipeline::has_folds(experiment.split))
      continue;  // it would be rejected
    settings.push_back({key.path, key.print(experiment), key.decides});
  }
  return settings;
}

// Unknown keys of other versions are assumed to affect the model.
void flatten(const Yaml& value, const std::string& written, pipeline::SettingList& settings) {
  const std::string& path = current_name(written);
  const Key* key = find_key(path);
  if (value.kind == Yaml::Kind::map && key == nullptr) {
    for (const auto& [name, entry] : value.entries)
      flatten(entry, path.empty() ? name : path + "." + name, settings);
    return;
  }
  const bool noted = path.starts_with("ran_with.");
  settings.push_back({path, one_line(value),
                      key != nullptr ? key->decides
                      : noted        ? pipeline::Decides::nothing
                                     : pipeline::Decides::model});
}

}  // namespace

Settings load_settings(const fs::path& file) {
  Settings settings = read_settings(parse_yaml(read_experiment_file(file), file.string()));
  // Version 0.1 wrote the default fold into every resolved file, which always ends with an empty `sweep`.
  const auto sweep = settings.find("sweep"), fold = settings.find("data.split.fold");
  const bool resolved =
      sweep != settings.end() && sweep->second.kind == Yaml::Kind::map && sweep->second.entries.empty();
  if (resolved && fold != settings.end() && fold->second.text == "0") settings.erase(fold);
  return settings;
}

LoadedExperiment make_experiment(const fs::path& file, Settings settings) {
  LoadedExperiment experiment{default_experiment(), file};
  // Default name: that of the file, validated like any other.
  if (!settings.count("name")) settings["name"] = yaml_text(file.stem().string(), file.string());
  const Settings asked_for = settings;
  std::vector<std::string> preset = add_preset(settings);
  for (const Key& key : keys()) {
    const auto found = settings.find(key.path);
    if (found != settings.end()) key.read(found->second, experiment);
  }
  const Given given = [&](const std::string& path) { return settings.contains(path); };
  settle_images(experiment, given);
  settle_network(experiment, given);
  settle_recipe(experiment);
  settle_resolution(experiment, given);
  for (const std::string& path : settle_preset(experiment, given)) preset.push_back(path);
  for (const std::string& path : preset)
    experiment.preset.push_back(format("{}: {}", path, find_key(path)->print(experiment)));
  const auto where = [&](const std::string& path) {
    const auto found = settings.find(path);
    return found == settings.end() ? file.string() : found->second.where;
  };
  expand_output(experiment, where("output.dir"));
  settle_paths(file, settings, experiment);
  check_rules(experiment, where, given);
  write_settings(experiment);
  experiment.without_effect = without_effect(asked_for, experiment);
  return experiment;
}

void write_settings(LoadedExperiment& experiment) {
  experiment.settings = settings_of(experiment);
  experiment.resolved = experiment_text(experiment.settings);
}

std::string experiment_text(const pipeline::SettingList& settings,
                            const std::map<std::string, std::string>& comments) {
  std::string text;
  std::vector<std::string> open;  // sections of the previous line
  for (const pipeline::Setting& setting : settings) {
    std::vector<std::string> parts = split(setting.key, '.');
    const std::string name = parts.back();
    parts.pop_back();
    std::size_t shared = 0;
    while (shared < std::min(open.size(), parts.size()) && open[shared] == parts[shared]) ++shared;
    for (std::size_t level = shared; level < parts.size(); ++level)
      text += std::string(2 * level, ' ') + parts[level] + ":\n";
    const std::string indent(2 * parts.size(), ' ');
    if (const auto comment = comments.find(setting.key); comment != comments.end())
      text += indent + "# " + comment->second + "\n";
    text += indent + name + ": " + setting.value + "\n";
    open = parts;
  }
  return text;
}

LoadedExperiment load_experiment(const fs::path& file, const std::vector<std::string>& overrides) {
  Settings settings = load_settings(file);
  for (const std::string& assignment : overrides) override_setting(settings, assignment);
  return make_experiment(file, std::move(settings));
}

LoadedExperiment load_run(const fs::path& run_directory) {
  const fs::path file = run_directory / "experiment.yaml";
  error_code error;
  if (!fs::is_regular_file(file, error))
    fail(Exit::bad_data, "{}: {}. Expected the output folder of `voxswap run`", run_directory.string(),
         !fs::exists(run_directory, error) ? no_such_folder(run_directory)
         : fs::exists(run_directory / "plans.json", error)
             ? "is a results folder of nnU-Net 2. `voxswap import` makes a run of it"
         : fs::exists(pipeline::growth_folder(run_directory), error)
             ? "has not begun on its own grid, only on a coarser one. Continue it with --resume"
             : "is not a run, because it contains no experiment.yaml");
  try {
    LoadedExperiment experiment = load_experiment(file, {});
    experiment.output = run_directory;
    return experiment;
  } catch (const Error& trouble) {
    // A usage error in a file written by a run means that the file is damaged.
    const Exit exit = trouble.exit() == Exit::usage ? Exit::bad_data : trouble.exit();
    fail(exit, "{}: its experiment file cannot be used: {}", run_directory.string(), trouble.what());
  }
}

pipeline::SettingList changed_settings(const pipeline::Experiment& before,
                                       const pipeline::Experiment& after) {
  const pipeline::Experiment old = with_absolute_paths(before), now = with_absolute_paths(after);
  pipeline::SettingList changed;
  for (const Key& key : keys()) {
    if (key.print(old) != key.print(now)) changed.push_back({key.path, key.print(now), key.decides});
  }
  return changed;
}

pipeline::SettingList read_settings_of_run(const fs::path& file) {
  pipeline::SettingList settings, asked;
  flatten(parse_yaml(read_experiment_file(file), file.string()), "", settings);
  const auto is_ensemble = [](const auto& one) {
    return one.key == "evaluate.ensemble" && one.value == "true";
  };
  if (std::any_of(settings.begin(), settings.end(),
                  is_ensemble))  // with more networks, their mean is a different model
    for (pipeline::Setting& setting : settings)
      if (setting.key == key::training_repeats) setting.decides = pipeline::Decides::model;
  const fs::path cell = file.parent_path() / cell_file;
  if (!fs::exists(cell)) return settings;
  // The memory available to a cell depends on how many ran in parallel; this does not distinguish cells.
  flatten(parse_yaml(read_experiment_file(cell), cell.string()), "", asked);
  for (pipeline::Setting& setting : settings) {
    if (setting.decides != pipeline::Decides::memory) continue;
    for (const pipeline::Setting& other : asked)
      if (other.key == setting.key) setting.value = other.value;
  }
  return settings;
}

}  // namespace voxswap::experiments
