// Computes the network's probabilities for a normalised case: every output channel at every voxel of the
// training grid.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/layouts/dataset.h"
#include "data/prepare/prepare.h"
#include "pipeline/cases/windows.h"
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

// A network that takes part in an inference, and the case as it is normalised for it, of which a box at a
// time is read: D,H,W,C. `load` makes the session have its weights, which others may have replaced.
struct InferenceMember {
  Session& session;
  std::function<std::vector<float>(const VoxelBox&)> read;
  std::function<void()> load = [] {};
};

// The inference of one case, a layer of windows at a time, so that networks of an ensemble can take turns.
// Needs memory for the output of one window if it is mirrored, and, with several windows, for planes of one
// window depth, however many networks are summed.
class Inference {
 public:
  // `size`: of the case. Throws Exit::usage if a window is larger. With several members, it is the sum of
  // their probabilities; REQUIRES: then several windows, and not as nnU-Net. The sessions must outlive it.
  Inference(std::vector<InferenceMember> members, const Size3& size, std::int64_t channels,
            std::int64_t outputs, const InferenceOptions& options, Scratch& scratch);

  bool is_done() const { return is_done_; }
  // Computes the next planes and passes their probabilities to `take` in order of depth: D,H,W,outputs, or
  // one value per output for image classification. Slab ranks other than the first pass on zeros. REQUIRES:
  // not done.
  void advance(const TakePlanes& take);

 private:
  std::span<const float> mirrored_mean(Session& session, const std::vector<float>& image, const Size3& size);
  void add_window(const InferenceMember& member, const VoxelBox& window);

  std::vector<InferenceMember> members_;
  Size3 size_;
  std::int64_t channels_, outputs_;
  InferenceOptions options_;
  std::unique_ptr<WindowSums> sums_;  // null if one pass computes all planes
  std::vector<float> mean_;           // over mirrorings of a window
  bool is_done_ = false;
};

// Passes on all planes in order of depth.
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
