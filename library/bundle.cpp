#include "library/bundle.h"

#include "base/error.h"
#include "base/folder_lock.h"
#include "base/json.h"
#include "base/text.h"
#include "data/layouts/dataset_json.h"
#include "experiments/experiment.h"
#include "library/model.h"
#include "pipeline/export/import_run.h"
#include "pipeline/export/monai_bundle.h"
#include "pipeline/record/resume.h"

namespace voxswap::library {

namespace {

constexpr const char *files_key = "files", *weights_key = "weights", *experiment_name = "experiment.yaml";

// The class of the network of a bundle, for messages; empty if unknown.
std::string network_class(const fs::path& bundle) {
  for (const char* name : {"inference.json", "evaluate.json", "train.json"}) {
    try {
      const Json config = parse_json(read_file(bundle / "configs" / name));
      for (const char* key : {"network_def", "network"})
        if (config.contains(key) && config[key].is_object() && config[key].contains("_target_"))
          return config[key]["_target_"].get<std::string>().substr(0, 80);
    } catch (const std::exception&) {  // not there, or another format
    }
  }
  return {};
}

// The model without the tensors of its weights.
Model described(const fs::path& bundle) {
  const fs::path file = bundle / bundle_description;
  Model model;
  try {
    const Json description = parse_json(read_file(file));
    for (const auto& [path, content] : description.at(files_key).items()) {
      check_model_path(path, file);
      model.files[path] = content.get<std::string>();
    }
    for (const auto& [path, metadata] : description.at(weights_key).items()) {
      check_model_path(path, file);
      model.weights[path].metadata = metadata.get<std::map<std::string, std::string>>();
    }
  } catch (const Json::exception&) {
    fail(Exit::bad_data, "{}: is damaged. Export the bundle again", file.string());
  }
  const std::string missing = model.weights.size() > 1 ? "a single repeat" : missing_in(model);
  if (!missing.empty())
    fail(Exit::bad_data, "{}: does not describe a run with {}. Export the bundle again", file.string(),
         missing);
  return model;
}

}  // namespace

std::string describe_bundle(const fs::path& run, std::int64_t repeat) {
  const Model model = model_of(run, "", repeat);
  Json weights = Json::object();
  for (const auto& [path, one] : model.weights) weights[path] = one.metadata;
  return Json{{files_key, model.files}, {weights_key, weights}}.dump(2) + "\n";
}

bool is_bundle(const fs::path& folder) {
  error_code ignored;
  return fs::exists(folder / "configs" / "metadata.json", ignored);
}

void import_bundle(const fs::path& bundle, const fs::path& out) {
  if (!fs::exists(bundle / bundle_description)) {
    const std::string network = network_class(bundle);
    fail(Exit::bad_data,
         "{}: is a MONAI bundle{} that `voxswap export` did not write, so it does not say how voxswap reads "
         "images. For its weights, train a run with the same network and give it with --run",
         bundle.string(), network.empty() ? "" : " of " + network);
  }
  Model model = described(bundle);
  fill_folder(out, [&](const fs::path& part) {
    const std::string& text = model.files.at(experiment_name);
    const fs::path description = part / pipeline::description_file, given = bundle / pipeline::monai_weights;
    write_file(description, model.files.at(pipeline::description_file));
    const pipeline::Experiment experiment = experiments::make_experiment(
        experiment_name, experiments::read_settings(experiments::parse_yaml(text, bundle_description)));
    model.weights.begin()->second.tensors = pipeline::imported_weights(
        given,
        pipeline::imported_network(experiment, data::read_description(description), /*training=*/false));
    unpack(model, part);
  });
}

}  // namespace voxswap::library
