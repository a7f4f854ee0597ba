#include "pipeline/record/run_folder.h"

#include "base/filesystem.h"
#include "base/text.h"

namespace voxswap::pipeline {

fs::path checkpoint_folder(const RunOptions& options, std::int64_t repeat) {
  const fs::path folder = options.output / "checkpoints";
  return options.training.repeats == 1 ? folder : folder / format("repeat_{}", repeat);
}

fs::path prediction_folder(const RunOptions& options, std::int64_t repeat) {
  const fs::path folder = options.output / "predictions";
  return options.training.repeats == 1 ? folder : folder / format("repeat_{}", repeat);
}

}  // namespace voxswap::pipeline
