// Memory and disk for large intermediate results of a prediction: sums of windows and probabilities.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "base/file.h"
#include "pipeline/cases/experiment.h"
#include "swap/execute/scratch_file.h"

namespace voxswap::pipeline {

// Where large intermediate results are held. It changes no result.
struct Scratch {
  std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();  // in memory; more is in scratch files
  fs::path folder{};                                                   // of these files
  // Part of a file that is in memory at a time. Smaller results always stay in memory.
  std::int64_t resident_bytes = std::int64_t{64} << 20;
  std::int64_t most_disk_bytes = std::numeric_limits<std::int64_t>::max();

  // True if a result of this size stays in memory, of which then less is left.
  bool takes(std::int64_t bytes);
  // Throws Exit::does_not_fit if it exceeds what is left of most_disk_bytes or of the disk.
  std::unique_ptr<swap::ScratchFile> file(std::int64_t bytes);
};
// Up to memory.host in memory, by default a quarter of the free memory. More is in memory.disk, by default in
// `folder`.
Scratch scratch_for(const MemoryOptions& memory, const fs::path& folder);

}  // namespace voxswap::pipeline
