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

BestWeights best_weights(const RunOptions& options, const data::Dataset& dataset, std::int64_t repeat) {
  const fs::path folder = checkpoint_folder(options, repeat);
  auto model = model_metadata(dataset, options, options.identity, repeat);
  if (options.identity.empty()) model.erase("run");
  BestWeights weights{
      (folder / "best.safetensors").string(),
      read_best(folder, [&](const Checkpoint& best,
                            const std::string& where) { check_metadata(best, model, where); }),
      {}};
  if (weights.checkpoint.digest.empty())
    log::warn("{}: nothing vouches for these weights: they have no checksums, as other programs' files",
              weights.where);
  if (options.preprocess.normalize == data::Normalize::dataset)
    weights.normalization = normalization_from(weights.checkpoint, dataset.modalities.size(), weights.where);
  return weights;
}

}  // namespace voxswap::pipeline
