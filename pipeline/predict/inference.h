// Computes the network's probabilities for a normalised case: every output channel at every voxel of the
// training grid.
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
  Size3 window{0, 0, 0};           // input size of the session's network
  double overlap = 0.5;            // between windows, if they are smaller than the volume
  std::array<bool, 3> mirrored{};  // average over all mirrorings of a window along these axes (x, y, z)
  bool of_images = false;          // the network predicts one class per image, not one per voxel
  bool may_stop = false;           // throw Exit::interrupted between passes of the network
  bool as_nnunet = false;          // the session gives logits, which are summed as in nnunet_windows.h
};

// Passes probabilities to `take` in order of depth: D,H,W,outputs, or one value per output for image
// classification. Needs memory for the output of one window (two if mirrored) and, with several windows, for
// planes of one window depth. Throws Exit::usage if a window is larger than the volume.
void infer(Session& session, const data::NormalizedCase& normal, std::int64_t outputs,
           const InferenceOptions& options, const TakePlanes& take);
// Returns all probabilities at once.
std::vector<float> infer(Session& session, const data::NormalizedCase& normal, std::int64_t outputs,
                         const InferenceOptions& options);

// Index of the class with the largest probability; the first among equals. REQUIRES: not empty.
std::size_t most_likely(std::span<const float> probabilities);

// The result for an image of a classification data set; its true class is empty if unknown. The caller sets
// `run`, `repeat` and `resolution`.
ClassRow class_row(const data::Dataset& dataset, const data::CaseFiles& files,
                   std::span<const float> probabilities);

// For display: "accuracy 0.950, 19 of 20 images".
std::string accuracy_text(const std::vector<ClassRow>& rows);

}  // namespace voxswap::pipeline
