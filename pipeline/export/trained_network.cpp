#include "pipeline/export/trained_network.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "net/networks/builder.h"
#include "net/networks/networks.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/patches.h"
#include "pipeline/cases/windows.h"
#include "pipeline/export/pytorch_model_py.h"
#include "pipeline/predict/postprocessing.h"
#include "pipeline/predict/predict.h"
#include "pipeline/predict/predictor.h"
#include "pipeline/record/resume.h"

namespace voxswap::pipeline {

namespace {

std::string text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json of_network(const net::NetworkOptions& options, std::int64_t channels, std::int64_t outputs) {
  Json json = {{"name", options.name},
               {"base_filters", options.base_filters},
               {"depth", options.depth},
               {"slope", options.slope},
               {"dropout", options.dropout},
               {"heads", choice_name(options.heads)},
               {"upsampling", choice_name(options.upsampling)},
               {"output_stride", std::stoi(choice_name(options.output_stride))},
               {"channels", channels},
               {"outputs", outputs}};
  if (!net::has_levels(options.name)) return json;
  json["max_filters"] = options.max_filters;
  json["supervised_levels"] = std::max<std::size_t>(1, options.deep_supervision.size());
  for (std::int64_t level = 0; level < options.depth; ++level) {
    json["kernels"].push_back(net::level_kernel(options, level));
    json["strides"].push_back(net::level_stride(options, level));
  }
  return json;
}

Json of_preprocess(const Experiment& experiment) {
  const data::PrepareOptions& prepare = experiment.preprocess;
  Json json = {
      {"crop", choice_name(prepare.crop)},
      {"crop_margin", prepare.recipe == data::Recipe::voxswap ? 1 : 0},  // voxels, where there are any
      {"resolution", prepare.resolution},
      {"slices", choice_name(prepare.slices)},
      {"bias_correction", prepare.bias_correction},
      {"clip_percentiles", {prepare.clip_low, prepare.clip_high}},
      {"normalize", choice_name(prepare.normalize)},
      {"patch", nullptr}};
  if (prepare.corner_background)
    json["background"] = "corner";
  else
    json["background"] = prepare.background;
  if (experiment.training.patch) json["patch"] = *experiment.training.patch;
  if (prepare.by_spacing()) json["spacing"] = prepare.spacing;
  if (prepare.by_spacing() && prepare.spacing[2] == 0) json["spacing"][2] = "own";
  if (prepare.recipe == data::Recipe::voxswap) return json;
  json["recipe"] = choice_name(prepare.recipe);
  json["transpose"] = prepare.transpose;
  for (const data::Scheme& scheme : prepare.schemes)
    json["schemes"].push_back(scheme.name == data::Scheme::Name::ct
                                  ? Json{scheme.low, scheme.high, scheme.mean, scheme.deviation}
                                  : Json(choice_name(scheme.name)));
  return json;
}

Json of_normalization(const data::Normalization& normalization) {
  Json json = {{"mean", normalization.mean}, {"deviation", normalization.deviation}};
  if (!normalization.low.empty()) {
    json["low"] = normalization.low;
    json["high"] = normalization.high;
  }
  return json;
}

// Describes how label maps are computed from probabilities (cases/label_decoder.h).
Json of_decoder(const LabelDecoder& decoder) {
  return {{"exclusive", decoder.nested == 0},
          {"nested", decoder.nested},
          {"least", decoder.least},
          {"labels", decoder.values},
          {"sequence", decoder.sequence}};
}

// Describes inference. `networks`: number of networks whose probabilities predict averages; the file has one
// of them.
Json of_inference(const TrainedRun& run) {
  const PredictOptions how;
  const std::array<bool, 3> axes = axes_to_mirror(run.experiment, how);
  Json mirror = Json::array();
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (axes[axis]) mirror.push_back(std::string(1, "xyz"[axis]));
  const std::int64_t networks = predict_together({run}, how) ? run.experiment.training.repeats : 1;
  if (networks > 1)
    log::warn("predict averages {} of this run, but an exported file contains one network",
              counted(networks, "network"));
  Json inference = {{"window", input_size(run.experiment)},
                    {"overlap", how.overlap},
                    {"sigma", window_sigma},
                    {"mirror", mirror},
                    {"networks", networks}};
  if (run.experiment.evaluate.average == Average::nnunet) inference["average"] = "nnunet";
  return inference;
}

// Post-processing steps in order, with the values of their region and the value that replaces removed voxels.
Json of_postprocessing(const Experiment& experiment, const data::Regions& regions) {
  Json steps = Json::array();
  const fs::path file = experiment.output / postprocessing_file;
  if (!fs::exists(file)) return steps;
  for (const PostStep& step : read_postprocessing(file, regions).steps) {
    const Affected affected = affected_by(step, regions, file);
    steps.push_back({{"region", step.region},
                     {"remove", choice_name(step.remove)},
                     {"below_mm3", step.below_mm3},
                     {"values", affected.labels},
                     {"becomes", affected.becomes}});
  }
  return steps;
}

std::map<std::string, std::string> description(const TrainedNetwork& network, const TrainedRun& run,
                                               const data::Dataset& dataset) {
  const Experiment& experiment = run.experiment;
  Json labels = Json::object(), regions = Json::object();
  for (const auto& [name, value] : dataset.labels) labels[name] = value;
  for (const auto& [name, values] : dataset.regions) regions[name] = values;
  std::map<std::string, std::string> about = {
      {"network", text(of_network(experiment.network, network.channels, network.outputs))},
      {"modalities", text(dataset.modalities)},
      {"outputs", text(output_names(dataset, experiment.training))},
      {"labels", text(labels)},
      {"regions", text(regions)},
      {"preprocess", text(of_preprocess(experiment))},
      {"normalization", text(of_normalization(network.weights.normalization))},
      {"inference", text(of_inference(run))},
      {"spacing",
       experiment.preprocess.by_spacing()
           ? "that of preprocess, to the nearest whole voxel of the crop"
           : "different for each case: sides of its crop in mm divided by the voxels of the image"},
      {"axes", network.images ? "sample, channel, y, x"
               : experiment.preprocess.recipe == data::Recipe::nnunet
                   ? "sample, channel, z, y, x of the first channel's file, permuted by transpose"
                   : "sample, channel, z, y, x; x to the left, y to the "
                     "back, z to the head (LPS)"},
      {"probabilities", network.softmax ? "softmax" : "sigmoid"},
      {"run", run.identity}};
  if (network.classifies) return about;
  about["decide"] = text(of_decoder(make_decoder(dataset, experiment.training)));
  about["postprocessing"] = text(of_postprocessing(experiment, dataset.regions));
  return about;
}

}  // namespace

Shape input_shape(const Experiment& experiment, std::int64_t channels) {
  const Size3 size = input_size(experiment);
  return {1, size[2], size[1], size[0], channels};
}

TrainedNetwork trained_network(const TrainedRun& given, std::int64_t repeat, const std::string& version) {
  const TrainedRun run = confirmed_for_prediction(given);
  const Experiment& experiment = run.experiment;
  check_no_cascade(run);
  if (repeat < 1 || repeat > experiment.training.repeats)
    fail(Exit::usage, "--repeat: expected 1 to {}, the number of repeats of the run, found {}",
         experiment.training.repeats, repeat);
  const data::Dataset dataset = trained_on(experiment);
  TrainedNetwork network;
  network.options = experiment.network;
  network.channels = static_cast<std::int64_t>(dataset.modalities.size());
  network.outputs = output_count(dataset, experiment.training);
  network.images = net::takes_images(experiment.network.name);
  network.classifies = net::classifies_images(experiment.network.name);
  network.softmax = net::loss_options(experiment.training.loss).classes;
  network.graph = net::build_network(experiment.network, input_shape(experiment, network.channels),
                                     network.outputs, net::ElementType::f32, /*training=*/false);
  network.weights = best_weights(run, dataset, repeat);
  for (const net::ValueId id : network.graph.parameters) {
    const net::Value& value = network.graph.graph.value(id);
    const Tensor& found = network.weights.checkpoint.tensor(value.name, network.weights.where);
    if (found.shape != value.shape)
      fail(Exit::bad_data, "{}: '{}' has shape {}, but the experiment's network needs {}",
           network.weights.where, value.name, found.shape.text(), value.shape.text());
  }
  network.about = description(network, run, dataset);
  network.about["voxswap"] = version;
  return network;
}

namespace {

Shape of_image(const std::string& name, const Shape& shape) {
  if (shape.rank() != 5) return shape;
  if (name == "fc.weight") return {shape[0], shape[1]};
  return {shape[0], shape[1], shape[2], shape[4]};
}

}  // namespace

Checkpoint pytorch_weights(const TrainedNetwork& network) {
  Checkpoint file;
  file.metadata = network.about;
  for (const net::ValueId id : network.graph.parameters) {
    const std::string& name = network.graph.graph.value(id).name;
    Tensor tensor = network.weights.checkpoint.tensor(name, network.weights.where);
    if (network.images) tensor.shape = of_image(name, tensor.shape);
    file.tensors.push_back(std::move(tensor));
  }
  return file;
}

std::string pytorch_model() {
  return pytorch_model_py;
}

}  // namespace voxswap::pipeline
