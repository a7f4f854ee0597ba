// A network on a device: plans and compiles its training and inference steps, which share memory and one set
// of weights.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "net/backends/backend.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/label_decoder.h"
#include "pipeline/cases/windows.h"
#include "pipeline/plan/planning.h"
#include "pipeline/record/checkpoint.h"
#include "pipeline/record/run_context.h"
#include "pipeline/record/starting_weights.h"

namespace voxswap::pipeline {

class Session {
 public:
  enum class Purpose { training, inference };
  // The constructor plans. A training step uses costs measured on the
  // device (or measured earlier and cached), which takes as long as a few steps. Inference stays on the
  // device if it fits. Throws Exit::does_not_fit before memory is allocated.
  Session(const Experiment& experiment, const RunContext& context, const StepData& data, Purpose purpose);
  ~Session();

  // Sets the batch of the next train(): images N,D,H,W,C and target bits N,D,H,W. They must stay valid until
  // train() calls `meanwhile` or returns. A device with memory of its own starts the upload at once, in
  // parallel with a running step.
  void give(std::span<const float> images, std::span<const std::uint8_t> targets);
  // The same for a loaded batch. One that is only drawn is made on the device. REQUIRES for those: hold().
  void give(const Sample& batch);
  void finish_given();  // waits until the device has the batch
  // Prepares a device with memory of its own for making samples of these cases: it then holds as many as fit
  // into spare memory, and `cases` no longer holds their images. Does nothing on other devices. REQUIRES: no
  // other thread uses the cases yet.
  void hold(Cases& cases, const std::vector<std::size_t>& training);
  // Runs a step on the last batch given and returns the loss. On a device with memory of its own, `meanwhile`
  // is called while the step runs, so that it can give the next batch.
  float train(const net::StepContext& context, swap::StepReport* report = nullptr,
              swap::Detail detail = swap::Detail::lanes, const std::function<void()>& meanwhile = {});
  float train(std::span<const float> images, std::span<const std::uint8_t> targets,
              const net::StepContext& context, swap::StepReport* report = nullptr) {
    give(images, targets);
    return train(context, report);
  }
  // One image; returns probabilities D,H,W,outputs. REQUIRES: StepData::labels leave them in the step.
  std::vector<float> predict(std::span<const float> image);
  // Passes the probabilities to `take` in order of depth. With slab ranks, only the first calls `take`, rank
  // by rank, and no rank buffers more than its own planes.
  void predict(std::span<const float> image, const TakePlanes& take);
  // The loss of one image; with `take`, also passes on probabilities as above.
  float validation_loss(std::span<const float> image, std::span<const std::uint8_t> target,
                        const TakePlanes& take = {});
  // Scores one image on the device, and copies only numbers from there: the loss, and the confusion matrix of
  // the ground truth D,H,W and the predicted labels (net/ops/label_maps.cpp). With `take`, also passes on the
  // labels, as predict() does probabilities. REQUIRES: counts_labels().
  struct Score {
    float loss = 0;
    std::vector<double> confusion;
  };
  Score score(std::span<const float> image, std::span<const std::uint8_t> target,
              std::span<const std::int16_t> truth, const TakeLabels& take = {});
  bool counts_labels() const;  // StepData::labels was given to a training session

  void initialize(std::uint64_t seed);  // weights depend only on the seed; optimiser state is zero
  // Loads initial weights from a file (record/starting_weights.h). `modalities`: of the image channels.
  StartingWeights start_from(const fs::path& weights, const std::vector<std::string>& modalities);
  std::vector<Tensor> weights() const;
  // Access to single weights, in the order of weights().
  std::size_t weight_count() const;
  const net::Value& weight(std::size_t index) const;
  void read_weight(std::size_t index, std::span<float> values) const;
  void write_weight(std::size_t index, std::span<const float> values);
  std::vector<Tensor> optimizer_state() const;
  void load(const Checkpoint& checkpoint, const std::string& where, bool with_optimizer_state);
  // Throws what load() would throw: Exit::bad_data for a tensor that is missing or has another shape.
  void check(const Checkpoint& checkpoint, const std::string& where, bool with_optimizer_state) const;

  // Measures costs again and replans, for steps whose time disproves the prediction. Keeps weights and
  // optimiser state, drops a batch that was given. Takes about two seconds plus five steps and planning.
  // REQUIRES: a training session on a single rank.
  void remeasure();
  // Removes cached costs, so that the next run of such a step measures them.
  void forget_costs();

  const swap::Plan& plan() const;  // of the main step: training, or inference
  const net::Graph& graph() const;
  const swap::CostModel& costs() const;  // of the main step. REQUIRES: a training session
  swap::Bound bound() const;             // same requirement
  double busy_seconds() const;           // time in kernels, over all steps so far
  std::int64_t arena_bytes() const;
  std::int64_t host_bytes() const;  // host pool and streamed values
  std::int64_t memory_for_cases()
      const;  // of this process (pipeline/plan/target.h). REQUIRES: before allocate()
  const net::Backend& backend() const;
  net::ElementType precision() const;
  const swap::Budgets& budgets() const;

  void allocate();  // allocates memory on all tiers; called on first use

 private:
  // Returns the loss, or 0 if the step has none.
  float infer(std::span<const float> image, std::span<const std::uint8_t> target = {},
              std::span<const std::int16_t> truth = {});

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voxswap::pipeline
