// The network of a finished run, ready to predict: with the weights of one repeat, or of several whose
// probabilities are averaged.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/cases/options.h"
#include "pipeline/predict/inference.h"
#include "pipeline/record/trained.h"

namespace voxswap::pipeline {

struct PredictOptions {
  std::string version{};               // of the program, for the record
  std::optional<data::Size3> window;   // voxels the network sees at a time; none: as it was trained
  bool whole = false;                  // it sees the whole volume, however it was trained
  double overlap = 0.5;                // of windows
  bool mirror = false;                 // average over the mirrorings that training made as well
  bool ensemble = false;               // average over the repeats; else each predicts by itself
  bool probabilities = false;          // write them as well
  bool segmentations = false;          // write label maps with names and colours as well
  bool dicom_segmentations = false;    // write DICOM segmentation objects as well
  bool bids = false;                   // name the files as a BIDS derivative has them
  bool raw_weights = false;            // of a run that averaged its weights: those that were not
  bool force = false;                  // write over files that voxswap did not write
  fs::path postprocessing{};           // the file that says what is done to label maps; empty: nothing
  std::vector<std::string> largest{};  // regions of which only the largest component stays; "all": each
};

// A network of an ensemble: a repeat, counted from 1, of a run.
struct Member {
  const RunOptions* run;
  std::int64_t repeat = 1;
};

class Predictor {
 public:
  // `dataset`: as it was trained on. Throws Exit::usage for a window that the network or the volume cannot
  // take, and for mirroring where training did none.
  Predictor(const RunOptions& options, const data::Dataset& dataset, const PredictOptions& how);

  // Reads the best weights of these repeats of its run, counted from 1; or of several runs, which
  // are alike (ensemble.h).
  void use(const std::vector<std::int64_t>& repeats);
  void use_members(const std::vector<Member>& members);
  // D,H,W,outputs, or outputs of an image that gets one class, which `take` gets in order of depth; the mean
  // over the members in use. `prepared` is not normalised: each does that as it was trained. Of several
  // members it takes the memory of a volume, else what infer() takes.
  void predict(const data::PreparedCase& prepared, const TakePlanes& take);
  std::vector<float> probabilities(const data::PreparedCase& prepared);  // all at once

 private:
  void predict(const BestWeights& member, const data::PreparedCase& prepared, const TakePlanes& take);

  RunOptions options_, given_;  // as it computes, and as the run is
  InferenceOptions inference_;
  data::Dataset dataset_;  // as it was trained on
  std::int64_t outputs_;
  bool raw_weights_;
  std::vector<BestWeights> members_;
  Session session_;
};

}  // namespace voxswap::pipeline
