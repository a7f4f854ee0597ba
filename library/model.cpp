#include "library/model.h"

#include <algorithm>
#include <regex>

#include "base/error.h"
#include "base/json.h"
#include "base/keys.h"
#include "base/text.h"
#include "data/layouts/dataset_json.h"
#include "experiments/experiment.h"
#include "pipeline/cases/split.h"
#include "pipeline/record/identity.h"
#include "pipeline/record/resume.h"
#include "pipeline/report/tables.h"

namespace voxswap::library {

namespace {

constexpr const char *mark = "voxswap_model", *file_prefix = "file:", *weights_prefix = "weights:";

// The settings that decide predictions and scores, and no paths of this machine. `one_repeat`: of several.
pipeline::SettingList settings_for_others(const pipeline::SettingList& settings, bool one_repeat) {
  using pipeline::Decides;
  pipeline::SettingList kept;
  for (const pipeline::Setting& setting : settings) {
    if (setting.key == key::data_root) {  // a run needs one; that of new scans is --input
      kept.push_back({setting.key, "/data", setting.decides});
      continue;
    }
    if (one_repeat && setting.key == key::training_repeats) continue;
    const bool is_of_machine = setting.decides == Decides::nothing || setting.decides == Decides::source ||
                               setting.decides == Decides::memory;
    if (!is_of_machine && !setting.key.starts_with("data.split.")) kept.push_back(setting);
  }
  return kept;
}

experiments::LoadedExperiment experiment_for_others(const experiments::LoadedExperiment& run,
                                                    bool one_repeat) {
  const std::string text = experiments::experiment_text(settings_for_others(run.settings, one_repeat));
  const std::string name = "experiment.yaml";
  experiments::LoadedExperiment made =
      experiments::make_experiment(name, experiments::read_settings(experiments::parse_yaml(text, name)));
  made.resolved = text;
  return made;
}

}  // namespace

Model model_of(const fs::path& folder, const std::string& readme, std::optional<std::int64_t> only) {
  const experiments::LoadedExperiment loaded = experiments::load_run(folder);
  const pipeline::TrainedRun run = pipeline::confirmed_for_prediction({loaded, loaded.settings});
  pipeline::check_no_cascade(run);
  data::Dataset dataset = pipeline::trained_on(run.experiment);
  dataset.root = "/data";
  dataset.recognised.clear();  // names a case
  dataset.cases.clear();
  const experiments::LoadedExperiment experiment = experiment_for_others(loaded, only.has_value());
  const Csv split = pipeline::split_csv(dataset, {});
  const pipeline::RunIdentity identity = pipeline::identify(experiment, experiment.settings, {}, split);

  Model model;
  model.files["experiment.yaml"] = experiment.resolved;
  model.files[pipeline::description_file] = data::description_text(dataset, identity.run);
  model.files[pipeline::identity_file] = pipeline::identity_text(identity);
  model.files["split.csv"] = csv_text(split);
  if (!readme.empty()) model.files[readme_file] = readme;
  if (const fs::path steps = folder / pipeline::postprocessing_file; fs::exists(steps))
    model.files[pipeline::postprocessing_file] = read_file(steps);
  for (std::int64_t repeat = 1; repeat <= run.experiment.training.repeats; ++repeat) {
    if (only && repeat != *only) continue;
    pipeline::Checkpoint weights = pipeline::best_weights(run, dataset, repeat).checkpoint;
    for (const auto& [key, value] :
         pipeline::model_metadata(dataset, experiment, identity.run, only ? 1 : repeat))
      weights.metadata[key] = value;
    const fs::path file = pipeline::predicting_file(run.experiment, repeat);
    const fs::path path =
        only ? "checkpoints" / file.filename() : file.lexically_relative(run.experiment.output);
    model.weights[path.generic_string()] = std::move(weights);
  }
  return model;
}

void write_model(const fs::path& file, const Model& model) {
  pipeline::Checkpoint whole{{{mark, "1"}}, {}};
  for (const auto& [path, content] : model.files) whole.metadata[file_prefix + path] = content;
  for (const auto& [path, weights] : model.weights) {
    whole.metadata[weights_prefix + path] = Json(weights.metadata).dump();
    for (const pipeline::Tensor& tensor : weights.tensors)
      whole.tensors.push_back({path + ":" + tensor.name, tensor.shape, tensor.values});
  }
  pipeline::write_checkpoint(file, whole);
}

void check_model_path(const std::string& path, const fs::path& file) {
  static const std::regex allowed(
      R"((experiment\.yaml|(dataset|identity|postprocessing)\.json|split\.csv|README\.md|)"
      R"(checkpoints/(repeat_[1-9][0-9]{0,4}/)?(best|averaged)\.safetensors))");
  if (!std::regex_match(path, allowed))
    fail(Exit::bad_data, "{}: contains a file '{}', which is not part of a model", file.string(),
         path.substr(0, 80));
}

std::string missing_in(const Model& model) {
  for (const char* needed : {"experiment.yaml", pipeline::description_file, pipeline::identity_file})
    if (!model.files.contains(needed)) return needed;
  return model.weights.empty() ? "weights" : "";
}

Model read_model(const fs::path& file) {
  const auto refuse = [&](const std::string& what) {
    fail(Exit::bad_data, "{}: {}. Expected a file of `voxswap export --to model`", file.string(), what);
  };
  pipeline::Checkpoint whole = pipeline::read_checkpoint(file);
  const auto version = whole.metadata.find(mark);
  if (version == whole.metadata.end()) refuse("is not a model");
  if (version->second != "1") refuse("is a model of a later version of voxswap");
  if (whole.digest.empty()) refuse("was written by another program");
  Model model;
  for (const auto& [key, value] : whole.metadata) {
    if (key.starts_with(file_prefix)) {
      check_model_path(key.substr(std::string_view(file_prefix).size()), file);
      model.files[key.substr(std::string_view(file_prefix).size())] = value;
    } else if (key.starts_with(weights_prefix)) {
      const std::string path = key.substr(std::string_view(weights_prefix).size());
      check_model_path(path, file);
      try {
        model.weights[path].metadata = parse_json(value).get<std::map<std::string, std::string>>();
      } catch (const Json::exception&) {
        refuse("has damaged metadata of " + path);
      }
    }
  }
  for (pipeline::Tensor& tensor : whole.tensors) {
    const std::size_t colon = tensor.name.find(':');
    const auto found = model.weights.find(tensor.name.substr(0, colon));
    if (colon == tensor.name.npos || found == model.weights.end())
      refuse("has a tensor '" + tensor.name.substr(0, 80) + "', which is not of its weights");
    found->second.tensors.push_back({tensor.name.substr(colon + 1), tensor.shape, std::move(tensor.values)});
  }
  if (const std::string missing = missing_in(model); !missing.empty()) refuse("has no " + missing);
  return model;
}

void unpack(const Model& model, const fs::path& folder) {
  for (const auto& [path, weights] : model.weights) {
    make_directories((folder / path).parent_path());
    pipeline::write_checkpoint(folder / path, weights);
  }
  const std::string last = "experiment.yaml";  // without it, the folder is not a run
  for (const auto& [path, content] : model.files)
    if (path != last) write_file(folder / path, content);
  write_file(folder / last, model.files.at(last));
}

}  // namespace voxswap::library
