#include "pipeline/export/import_run.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/folder_lock.h"
#include "data/layouts/dataset_json.h"
#include "net/networks/networks.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/split.h"
#include "pipeline/export/trained_network.h"
#include "pipeline/record/identity.h"
#include "pipeline/record/starting_weights.h"
#include "pipeline/record/torch_file.h"

namespace voxswap::pipeline {

namespace {

constexpr const char* best_file = "best.safetensors";

// Copies the files besides weights that prediction needs.
void copy_record(const fs::path& from, const fs::path& to) {
  for (const char* name : {"experiment.yaml", description_file, "identity.json", "split.csv"})
    if (fs::exists(from / name)) write_file(to / name, read_file(from / name));
}

}  // namespace

void import_run(const TrainedRun& run, std::int64_t repeat, const fs::path& file, const fs::path& out) {
  const TrainedNetwork network = trained_network(run, repeat, "");
  Checkpoint best{network.weights.checkpoint.metadata, imported_weights(file, network.graph)};
  best.metadata["imported"] = file.filename().string();
  const Experiment& experiment = run.experiment;
  fill_folder(out, [&](const fs::path& part) {
    copy_record(experiment.output, part);
    Experiment made = experiment;
    made.output = part;
    for (std::int64_t i = 1; i <= experiment.training.repeats; ++i) {
      const fs::path folder = checkpoint_folder(made, i);
      make_directories(folder);
      if (i == repeat)
        write_checkpoint(folder / best_file, best);
      else
        write_file(folder / best_file, read_file(predicting_file(experiment, i)));
    }
  });
}

void write_imported_run(const ImportedRun& run, const fs::path& part,
                        const std::function<std::vector<Tensor>(std::int64_t)>& weights) {
  Experiment experiment = run.experiment;
  const RunIdentity identity = identify(experiment, run.settings, {}, split_csv(run.dataset, {}));
  experiment.output = part;
  for (std::int64_t repeat = 1; repeat <= experiment.training.repeats; ++repeat) {
    Checkpoint best{model_metadata(run.dataset, experiment, identity.run, repeat), weights(repeat)};
    best.metadata["imported"] = run.from;
    const fs::path folder = checkpoint_folder(experiment, repeat);
    make_directories(folder);
    write_checkpoint(folder / best_file, best);
  }
  write_split(part / "split.csv", run.dataset, {});
  data::write_description(part / description_file, run.dataset, identity.run);
  write_identity(part, identity);
  write_file(part / "experiment.yaml", run.resolved);
}

net::ForwardGraph imported_network(const Experiment& experiment, const data::Dataset& dataset,
                                   bool training) {
  const Shape input = input_shape(experiment, input_channels(dataset, experiment));
  return net::build_network(experiment.network, input, output_count(dataset, experiment.training),
                            net::ElementType::f32, training);
}

// nnU-Net's modules register their layers again in a list and in the decoder.
bool is_nnunet_copy(std::string_view name) {
  return name.find(".all_modules.") != name.npos || name.starts_with("decoder.encoder.");
}

namespace {

// Removes a prefix that all names share.
void strip(std::vector<Tensor>& tensors, const std::string& prefix) {
  const auto has = [&](const Tensor& tensor) { return tensor.name.starts_with(prefix); };
  if (!std::all_of(tensors.begin(), tensors.end(), has)) return;
  for (Tensor& tensor : tensors) tensor.name.erase(0, prefix.size());
}

// Drops duplicates. nnU-Net has segmentation layers on all levels, whether trained or not.
void leave_out_nnunet_copies(std::vector<Tensor>& tensors, const net::ForwardGraph& network) {
  const auto is_there = [&](const std::string& name) {
    return std::any_of(network.parameters.begin(), network.parameters.end(),
                       [&](net::ValueId id) { return network.graph.value(id).name == name; });
  };
  std::erase_if(tensors, [&](const Tensor& tensor) {
    return is_nnunet_copy(tensor.name) ||
           (tensor.name.starts_with("decoder.seg_layers.") && !is_there(tensor.name));
  });
}

// Formats names as "'a', 'b' and 7 more".
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    text += std::string(i == 0 ? "" : ", ") + "'" + names[i] + "'";
  if (names.size() > most) text += format(" and {} more", names.size() - most);
  return text;
}

}  // namespace

std::vector<Tensor> imported_weights(const fs::path& file, const net::ForwardGraph& network) {
  return matched_weights(is_torch_file(file) ? read_torch_weights(file) : read_checkpoint(file).tensors,
                         file.string(), network);
}

std::vector<Tensor> matched_weights(std::vector<Tensor> given, const std::string& where,
                                    const net::ForwardGraph& network) {
  for (const char* prefix : {"_orig_mod.", "module.", "_orig_mod."}) strip(given, prefix);
  leave_out_nnunet_copies(given, network);
  std::map<std::string, Tensor*> by_name;
  for (Tensor& tensor : given) by_name[tensor.name] = &tensor;

  std::vector<Tensor> weights;
  std::vector<std::string> missing, other, unknown;
  for (const net::ValueId id : network.parameters) {
    const net::Value& value = network.graph.value(id);
    const auto found = by_name.extract(value.name);
    if (found.empty()) {
      missing.push_back(value.name);
    } else if (as_volume(found.mapped()->shape, value.shape) != value.shape) {
      other.push_back(
          format("{} ({}, not {})", value.name, found.mapped()->shape.text(), value.shape.text()));
    } else {
      weights.push_back({value.name, value.shape, std::move(found.mapped()->values)});
    }
  }
  for (const auto& [name, tensor] : by_name) unknown.push_back(name);
  std::vector<std::string> troubles;
  if (!missing.empty()) troubles.push_back("lacks " + listed(missing));
  if (!other.empty()) troubles.push_back("has tensors of other shapes: " + listed(other));
  if (!unknown.empty()) troubles.push_back("has tensors that the network does not have: " + listed(unknown));
  if (!troubles.empty())
    fail(Exit::bad_data, "{}: does not contain the weights of the run's network: it {}", where,
         join(troubles, "; it "));
  return weights;
}

}  // namespace voxswap::pipeline
