#include "pipeline/record/trained.h"

#include "base/filesystem.h"
#include "base/log.h"
#include "data/layouts/dataset_description.h"
#include "data/layouts/open_dataset.h"
#include "pipeline/record/generations.h"
#include "pipeline/record/identity.h"
#include "pipeline/record/normalization.h"
#include "pipeline/record/run_folder.h"

namespace voxswap::pipeline {

data::Dataset trained_on(const RunOptions& options) {
  const fs::path noted = options.output / description_file;
  return fs::exists(noted) ? data::read_description(noted) : data::open_dataset(options.data);
}

namespace {

const char* predicting_weights(const RunOptions& options, std::int64_t repeat, bool raw) {
  const bool averaged = options.training.averaging.name != Averaging::none && !raw &&
                        has_averaged(checkpoint_folder(options, repeat));
  return averaged ? averaged_weights_name : best_weights_name;
}

}  // namespace

fs::path predicting_file(const RunOptions& options, std::int64_t repeat, bool raw) {
  return checkpoint_folder(options, repeat) /
         (std::string(predicting_weights(options, repeat, raw)) + ".safetensors");
}

BestWeights best_weights(const RunOptions& options, const data::Dataset& dataset, std::int64_t repeat,
                         bool raw) {
  const fs::path folder = checkpoint_folder(options, repeat);
  auto model = model_metadata(dataset, options, options.identity, repeat);
  if (options.identity.empty()) model.erase("run");
  BestWeights weights{
      predicting_file(options, repeat, raw).string(),
      read_best(
          folder,
          [&](const Checkpoint& best, const std::string& where) { check_metadata(best, model, where); },
          predicting_weights(options, repeat, raw)),
      {}};
  if (weights.checkpoint.digest.empty())
    log::warn(
        "{}: these weights have no checksums, as in files of other programs, so damage cannot be detected",
        weights.where);
  if (options.preprocess.normalize == data::Normalize::dataset)
    weights.normalization = normalization_from(weights.checkpoint, dataset.modalities.size(), weights.where);
  return weights;
}

}  // namespace voxswap::pipeline
