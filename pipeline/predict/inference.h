// The network's probabilities for a prepared case: of every output channel at every voxel of the training
// grid.
#pragma once

#include <array>
#include <vector>

#include "data/prepare/prepare.h"
#include "pipeline/cases/windows.h"
#include "pipeline/device/session.h"

namespace voxswap::pipeline {

struct InferenceOptions {
  data::Size3 window{0, 0, 0};     // voxels that the session's network takes at a time
  double overlap = 0.5;            // of windows, where they are smaller than the volume
  std::array<bool, 3> mirrored{};  // the mean over all ways to mirror a window along these axes, x, y, z
  bool of_images = false;          // the network says one thing of what it sees, not one for every voxel
};

// D,H,W,outputs, or outputs of the image; `take` gets them in order of depth. `prepared` is normalised. Takes
// the memory of what a window says, twice where it is mirrored, and of planes as many as a window is deep
// where there are several. Throws Exit::usage when a window is larger than the volume.
void infer(Session& session, const data::PreparedCase& prepared, std::int64_t outputs,
           const InferenceOptions& options, const TakePlanes& take);
// All at once.
std::vector<float> infer(Session& session, const data::PreparedCase& prepared, std::int64_t outputs,
                         const InferenceOptions& options);

}  // namespace voxswap::pipeline
