// The networks of finished runs, ready to predict: with the weights of one repeat, or of several whose
// probabilities are averaged.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/cases/options.h"
#include "pipeline/predict/inference.h"
#include "pipeline/record/resume.h"
#include "voxswap/predict.h"

namespace voxswap::pipeline {

// As in the public header, which says what each means, but `postprocessing` names a file or is empty.
struct PredictOptions : voxswap::PredictOptions {
  std::string version{};  // of the program, for the record
};

// The axes x, y, z along which predictions are averaged over mirrored inputs: with how.mirror or evaluate.tta
// those of training. Throws Exit::usage where training mirrored along none.
std::array<bool, 3> axes_to_mirror(const RunOptions& options, const PredictOptions& how);

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
  ~Predictor();

  // Reads the best weights of these repeats of its run, counted from 1; or of several runs, which
  // are alike (predict.h). Runs with the same network share a session; another network gets its own.
  void use(const std::vector<std::int64_t>& repeats);
  void use_members(const std::vector<Member>& members);
  // D,H,W,outputs, or outputs of an image that gets one class, which `take` gets in order of depth; the mean
  // over the members in use. `prepared` is not normalised: each does that as it was trained. Of several
  // members it takes the memory of a volume, else what infer() takes.
  void predict(const data::PreparedCase& prepared, const TakePlanes& take);
  std::vector<float> probabilities(const data::PreparedCase& prepared);  // all at once
  // Of one of the members in use, by its place.
  std::vector<float> probabilities(const data::PreparedCase& prepared, std::size_t member);

 private:
  struct Network;
  struct Loaded {
    BestWeights weights;
    Network* network;
  };

  Network& network_of(const RunOptions& run);
  void predict(const Loaded& member, const data::PreparedCase& prepared, const TakePlanes& take);

  PredictOptions how_;
  data::Dataset dataset_;  // as it was trained on
  std::int64_t outputs_;
  std::vector<std::unique_ptr<Network>> networks_;  // the first is that of the run given first
  std::vector<Loaded> members_;
};

}  // namespace voxswap::pipeline
