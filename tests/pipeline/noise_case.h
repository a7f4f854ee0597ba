// For tests of prediction: a prepared case of normal noise, and a small network in the files of a run.
#pragma once

#include <cstdint>
#include <optional>

#include "base/philox.h"
#include "data/volumes/prepared_case.h"
#include "pipeline/record/checkpoint.h"
#include "pipeline/record/identity.h"
#include "pipeline/record/resume.h"

namespace voxswap::test {

inline data::PreparedCase noise_case(const Size3& size, std::int64_t channels) {
  data::PreparedCase prepared;
  prepared.size = size;
  prepared.channels = channels;
  prepared.image.resize(static_cast<std::size_t>(channels * size[0] * size[1] * size[2]));
  const Philox random(1, 2);
  for (std::size_t i = 0; i < prepared.image.size(); ++i)
    prepared.image[i] = static_cast<float>(random.normal(i));
  prepared.original.size = size;
  prepared.box = {{0, 0, 0}, size};
  prepared.statistics.mean.assign(static_cast<std::size_t>(channels), 0);
  prepared.statistics.deviation.assign(static_cast<std::size_t>(channels), 1);
  return prepared;
}

inline pipeline::Experiment small_network(const Size3& size, const std::optional<Size3>& patch) {
  pipeline::Experiment experiment;
  experiment.memory.device = "reference";
  experiment.memory.planner = "keep";
  experiment.memory.budget_bytes = 256 << 20;
  experiment.training.precision = pipeline::Precision::f32;
  experiment.network = {.base_filters = 2, .depth = 2};
  experiment.preprocess.resolution = size;
  experiment.training.patch = patch;
  return experiment;
}

// Writes the best checkpoint of a repeat, which takes two channels.
inline void write_best(const pipeline::Experiment& experiment, const data::Dataset& dataset,
                       std::int64_t repeat, const std::vector<pipeline::Tensor>& weights) {
  std::map<std::string, std::string> metadata = pipeline::model_metadata(dataset, experiment, "", repeat);
  metadata.merge(pipeline::normalization_metadata({{0.5, 0}, {2, 1}}));
  const fs::path folder = pipeline::checkpoint_folder(experiment, repeat);
  fs::create_directories(folder);
  pipeline::write_checkpoint(folder / "best.safetensors", {metadata, weights});
}

}  // namespace voxswap::test
