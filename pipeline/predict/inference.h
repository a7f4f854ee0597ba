// The network's probabilities for a prepared case: of every output channel at every voxel of the training
// grid.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "data/layouts/dataset.h"
#include "data/prepare/prepare.h"
#include "pipeline/cases/patches.h"
#include "pipeline/device/session.h"
#include "pipeline/report/class_tables.h"

namespace voxswap::pipeline {

struct InferenceOptions {
  data::Size3 window{0, 0, 0};     // voxels that the session's network takes at a time
  double overlap = 0.5;            // of windows, where they are smaller than the volume
  std::array<bool, 3> mirrored{};  // the mean over all ways to mirror a window along these axes, x, y, z
  bool of_images = false;          // the network predicts one class per image, not one per voxel
  bool may_stop = false;           // throws Exit::interrupted between two passes of the network
};

// D,H,W,outputs, or outputs of the image; `take` gets them in order of depth. `prepared` is normalised. Takes
// the memory of what a window says, twice where it is mirrored, and of planes as many as a window is deep
// where there are several. Throws Exit::usage when a window is larger than the volume.
void infer(Session& session, const data::PreparedCase& prepared, std::int64_t outputs,
           const InferenceOptions& options, const TakePlanes& take);
// All at once.
std::vector<float> infer(Session& session, const data::PreparedCase& prepared, std::int64_t outputs,
                         const InferenceOptions& options);

// From probabilities to the class of an image.
// The class with the largest probability, of equal ones the first. REQUIRES: there are some.
std::size_t most_likely(std::span<const float> probabilities);

// What is known of an image of a data set of classes; its truth is empty where nobody knows it. `run`,
// `repeat` and `resolution` are the caller's to fill.
ClassRow class_row(const data::Dataset& dataset, const data::CaseFiles& files,
                   std::span<const float> probabilities);

// "accuracy 0.950, 19 of 20 images", for people.
std::string accuracy_text(const std::vector<ClassRow>& rows);

}  // namespace voxswap::pipeline
