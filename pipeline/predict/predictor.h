// The networks of finished runs, ready for prediction with the weights of one repeat or, averaging
// probabilities, of several.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/cases/experiment.h"
#include "pipeline/predict/inference.h"
#include "pipeline/record/resume.h"
#include "voxswap/predict.h"

namespace voxswap::pipeline {

// The options of the public header, which documents them; here `postprocessing` is a file name or empty.
struct PredictOptions : voxswap::PredictOptions {
  std::string version{};  // of the program, for prediction.json
};

// Axes x, y, z for test-time mirroring: those of training if how.mirror or evaluate.tta is set. Throws
// Exit::usage if training mirrored none.
std::array<bool, 3> axes_to_mirror(const Experiment& experiment, const PredictOptions& how);

// One network of an ensemble: a run and its repeat, counted from 1.
struct Member {
  const TrainedRun* run;
  std::int64_t repeat = 1;
};

// Memory and time of the networks for one case.
struct PredictionCost {
  std::int64_t device_bytes = 0, host_bytes = 0, disk_bytes = 0, passes = 0;
  double seconds = 0;  // all passes
};

class Predictor {
 public:
  // `dataset`: the training data set. Throws Exit::usage for a window that does not suit the network or
  // volume, and for mirroring without mirrored training.
  Predictor(const TrainedRun& run, const data::Dataset& dataset, const PredictOptions& how,
            const RankGroups& ranks = {});
  ~Predictor();

  // Loads the best weights of these repeats (counted from 1) of its run, or of several compatible runs
  // (predict.h). Runs with the same network share a session; each other network gets its own.
  void use(const std::vector<std::int64_t>& repeats);
  void use_members(const std::vector<Member>& members);
  // Averages over the loaded members. Passes probabilities to `take` in order of depth: D,H,W,outputs, or one
  // value per output for image classification. Each member normalises the case as in its training. Members
  // take turns after each layer of windows. Those with the same windows hold planes of one window depth.
  void predict(const data::PreparedCase& prepared, const TakePlanes& take, Scratch scratch = {});
  std::vector<float> probabilities(const data::PreparedCase& prepared);  // returns all at once
  // By one of the loaded members, given by index.
  std::vector<float> probabilities(const data::PreparedCase& prepared, std::size_t member);
  // The cost of predict() for a case on a training grid of this size. Measures a window of each network at
  // the first call.
  PredictionCost cost(const Size3& size, Scratch scratch);

 private:
  struct Network;
  struct Loaded {
    BestWeights weights;
    Network* network;
  };

  class TeamInference;
  // Members whose windows are the same, so that one sum serves all; a member alone if there is one window.
  using Team = std::vector<const Loaded*>;
  std::vector<Team> teams(const Size3& size) const;
  // The sum of all teams holds the planes between the slowest and the fastest of them: values of a plane, and
  // how many planes.
  struct Planes {
    std::int64_t values, depth;
  };
  Planes planes_of_sum(const Size3& size) const;

  Network& network_of(const TrainedRun& run);

  PredictOptions how_;
  RankGroups ranks_;
  data::Dataset dataset_;  // the training data set
  std::int64_t outputs_;
  std::vector<std::unique_ptr<Network>> networks_;  // networks_[0] belongs to the first run
  std::vector<Loaded> members_;
};

}  // namespace voxswap::pipeline
