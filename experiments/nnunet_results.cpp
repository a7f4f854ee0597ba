#include "experiments/nnunet_results.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "base/folder_lock.h"
#include "base/log.h"
#include "base/text.h"
#include "experiments/experiment.h"
#include "experiments/nnunet_plans.h"
#include "pipeline/predict/postprocessing.h"
#include "pipeline/record/torch_file.h"

namespace voxswap::experiments {

namespace {

using pipeline::Pickle;
using pipeline::PickledValue;
using pipeline::TorchFile;
using Kind = PickledValue::Kind;

constexpr const char* checkpoint_name = "checkpoint_final.pth";

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (fs::is_directory(entry.path())) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

// The checkpoints of all folds. The fold `all` counts only if there is no other, as in nnU-Net.
std::vector<fs::path> checkpoints_in(const fs::path& folder) {
  std::vector<fs::path> files, of_all;
  std::vector<std::string> unfinished;
  for (const fs::path& fold : folders_in(folder)) {
    const std::string name = fold.filename().string();
    if (!name.starts_with("fold_")) continue;
    if (fs::exists(fold / "model_final_checkpoint.model"))
      fail(Exit::bad_data, "{}: is a results folder of nnU-Net 1. Only those of nnU-Net 2 can be imported",
           folder.string());
    if (!fs::exists(fold / checkpoint_name))
      unfinished.push_back(name);
    else
      (name == "fold_all" ? of_all : files).push_back(fold / checkpoint_name);
  }
  if (files.empty()) files = of_all;
  if (files.empty())
    fail(Exit::bad_data, "{}: no fold has a {}{}", folder.string(), checkpoint_name,
         unfinished.empty() ? std::string(". Expected fold_0 and so on")
                            : format(", so their training has not ended: {}", join(unfinished, ", ")));
  if (!unfinished.empty())
    log::warn("{}: not imported, because they have no {}: {}", folder.string(), checkpoint_name,
              join(unfinished, ", "));
  return files;
}

// Post-processing that nnUNetv2_find_best_configuration chose for the ensemble of these folds; no path if it
// chose none.
fs::path postprocessing_for(const fs::path& folder, const std::vector<fs::path>& checkpoints) {
  std::string name = "crossval_results_folds";
  for (const fs::path& file : checkpoints) name += file.parent_path().filename().string().substr(4);
  fs::path chosen = folder / name / "postprocessing.pkl";
  for (const fs::path& one : folders_in(folder))
    if (const fs::path file = one / "postprocessing.pkl"; fs::exists(file) && file != chosen)
      log::warn("{}: not imported, because it is not for the folds of this run", file.string());
  return fs::exists(chosen) ? chosen : fs::path();
}

// The labels of a label, a region (a list of labels) or a list of both. nnU-Net treats them as one.
void add_labels(const Pickle& pickle, const PickledValue& value, int nesting, std::set<int>& labels) {
  if (value.kind == Kind::integer && value.integer > 0 && value.integer < 32768)
    labels.insert(static_cast<int>(value.integer));
  else if (value.kind == Kind::list && nesting < 2)
    for (const std::size_t item : value.items) add_labels(pickle, pickle.at(item), nesting + 1, labels);
  else
    throw std::runtime_error("has a step for something other than labels");
}

pipeline::Postprocessing read_pickled_steps(const fs::path& file, const data::Dataset& dataset) {
  constexpr const char* function =
      "nnunetv2.postprocessing.remove_connected_components "
      "remove_all_but_largest_component_from_segmentation";
  const std::string content = read_file(file);
  pipeline::Postprocessing result;
  try {
    const Pickle pickle(content, {function});
    const std::vector<std::size_t>& both = pickle.root().items;
    if (pickle.root().kind != Kind::list || both.size() != 2 ||
        pickle.at(both[0]).items.size() != pickle.at(both[1]).items.size())
      throw std::runtime_error("is not a list of functions and one of their arguments");
    for (const std::size_t item : pickle.at(both[0]).items)
      if (pickle.at(item).kind != Kind::name || pickle.name(pickle.at(item)) != function)
        throw std::runtime_error("has another step than one that keeps the largest components");
    for (const std::size_t item : pickle.at(both[1]).items) {
      const PickledValue* labels = pickle.find(pickle.at(item), "labels_or_regions");
      if (labels == nullptr) throw std::runtime_error("has a step without labels_or_regions");
      std::set<int> together;
      add_labels(pickle, *labels, 0, together);
      pipeline::PostStep& step = result.steps.emplace_back();
      step.labels.assign(together.begin(), together.end());
      std::vector<std::string> names;
      for (const auto& [name, value] : dataset.labels)
        if (together.contains(value)) names.push_back(name);
      step.region = join(names, " and ");
    }
  } catch (const std::runtime_error& error) {
    fail(Exit::bad_data, "{}: {}", file.string(), error.what());
  }
  return result;
}

void check_folder(const fs::path& folder) {
  error_code ignored;
  if (!fs::is_directory(folder, ignored))
    fail(Exit::bad_data, "{}: {}", folder.string(),
         fs::exists(folder, ignored) ? "is not a folder" : no_such_folder(folder));
  if (fs::exists(folder / "plans.json")) return;
  if (fs::exists(folder / "plans.pkl"))
    fail(Exit::bad_data, "{}: is a results folder of nnU-Net 1. Only those of nnU-Net 2 can be imported",
         folder.string());
  std::vector<std::string> inside;
  for (const fs::path& one : folders_in(folder))
    if (fs::exists(one / "plans.json")) inside.push_back(one.string());
  fail(Exit::bad_data, "{}: has no plans.json, so it is not a results folder of nnU-Net 2.{}",
       folder.string(),
       inside.empty() ? std::string(" Expected DatasetXXX_Name/Trainer__Plans__Configuration")
                      : " Choose one of " + join(inside, ", "));
}

// What a checkpoint says of its training.
struct Training {
  std::string trainer, configuration;
  std::vector<std::size_t> mirrored;  // of the axes z, y, x, or y, x
};

Training training_of(const TorchFile& file, const fs::path& path) {
  const Pickle& pickle = file.pickle();
  const auto text = [&](const PickledValue* value, const char* key) {
    if (value == nullptr || value->kind != Kind::text)
      fail(Exit::bad_data, "{}: has no entry '{}', so it is no checkpoint of nnU-Net 2", path.string(), key);
    return std::string(value->text);
  };
  Training training;
  training.trainer = text(pickle.find(pickle.root(), "trainer_name"), "trainer_name");
  const PickledValue* arguments = pickle.find(pickle.root(), "init_args");
  training.configuration = text(arguments == nullptr ? nullptr : pickle.find(*arguments, "configuration"),
                                "init_args.configuration");
  const PickledValue* axes = pickle.find(pickle.root(), "inference_allowed_mirroring_axes");
  if (axes == nullptr || axes->kind == Kind::none) return training;
  for (const std::size_t item : axes->items) {
    const PickledValue& axis = pickle.at(item);
    if (axis.kind != Kind::integer || axis.integer < 0 || axis.integer > 2)
      fail(Exit::bad_data, "{}: inference_allowed_mirroring_axes: expected numbers from 0 to 2",
           path.string());
    training.mirrored.push_back(static_cast<std::size_t>(axis.integer));
  }
  return training;
}

LoadedExperiment experiment_of(const NnunetPlans& plans, const Training& training, std::size_t folds,
                               const fs::path& folder, const fs::path& out) {
  Settings settings = plans.settings;
  const auto set = [&](const std::string& key, const std::string& value) {
    assign_setting(settings, key, setting_value(key, value, folder.string()));
  };
  std::string name = out.filename().string();
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.' && c != '-') c = '_';
  set("name", std::isalnum(static_cast<unsigned char>(name[0])) != 0 ? name : "nnunet");
  set("data.root", fs::absolute(folder).string());
  set("data.layout", "nnunet");
  std::array<double, 3> mirrored{};  // x, y, z
  for (const std::size_t axis : training.mirrored)
    if (axis < plans.axes) mirrored[plans.axes - 1 - axis] = 0.5;
  set("training.augment.flip", format("[{}, {}, {}]", mirrored[0], mirrored[1], mirrored[2]));
  set("training.repeats", std::to_string(folds));
  set("evaluate.ensemble", folds > 1 ? "true" : "false");
  set("evaluate.tta", training.mirrored.empty() ? "false" : "true");
  set("output.dir", fs::absolute(out).string());
  return make_experiment(out / "experiment.yaml", settings);
}

// The folder of the first network of a cascade, which has the same trainer and plans.
fs::path folder_of_stage(const fs::path& cascade, const std::string& configuration) {
  const std::string name = cascade.filename().string();
  const fs::path folder = cascade.parent_path() / (name.substr(0, name.rfind("__") + 2) + configuration);
  if (!fs::is_directory(folder))
    fail(Exit::bad_data, "{}: is the second network of a cascade, and the first one is not at {}",
         cascade.string(), folder.string());
  return folder;
}

// Writes the run whose folder will be `out` into `part`.
void write_run(const fs::path& given, const fs::path& out, const fs::path& part) {
  const fs::path folder = plain(given);
  check_folder(folder);
  const std::vector<fs::path> files = checkpoints_in(folder);
  const Training training = training_of(TorchFile(files.front()), files.front());
  const NnunetPlans plans = read_nnunet_plans(folder, training.configuration);
  const LoadedExperiment experiment = experiment_of(plans, training, files.size(), folder, out);
  const net::ForwardGraph network = pipeline::imported_network(experiment, plans.dataset);
  const auto weights = [&](std::int64_t repeat) {
    const fs::path& path = files[static_cast<std::size_t>(repeat - 1)];
    const TorchFile file(path);
    if (training_of(file, path).configuration != training.configuration)
      fail(Exit::bad_data, "{}: is of another configuration than {}", path.string(), files.front().string());
    const PickledValue* found = file.pickle().find(file.pickle().root(), "network_weights");
    if (found == nullptr)
      fail(Exit::bad_data, "{}: has no entry 'network_weights', so it is no checkpoint of nnU-Net 2",
           path.string());
    return pipeline::matched_weights(
        file.tensors(*found, [](std::string_view name) { return !pipeline::is_nnunet_copy(name); }),
        path.string(), network);
  };
  if (!plans.previous.empty())
    write_run(folder_of_stage(folder, plans.previous), out / pipeline::previous_stage,
              part / pipeline::previous_stage);
  pipeline::write_imported_run(
      {experiment, experiment.settings, experiment.resolved, plans.dataset, folder.filename().string()}, part,
      weights);
  if (const fs::path file = postprocessing_for(folder, files); !file.empty())
    write_file(part / pipeline::postprocessing_file,
               pipeline::postprocessing_json(read_pickled_steps(file, plans.dataset)));
  log::info("{}: {} of {}, {}", out.string(), counted(std::ssize(files), "fold"), training.trainer,
            training.configuration);
}

}  // namespace

bool is_nnunet_results(const fs::path& folder) {
  error_code ignored;
  return fs::exists(folder / "plans.json", ignored) && fs::exists(folder / "dataset.json", ignored);
}

void import_nnunet_results(const fs::path& folder, const fs::path& out) {
  fill_folder(out, [&](const fs::path& part) { write_run(folder, out, part); });
}

}  // namespace voxswap::experiments
