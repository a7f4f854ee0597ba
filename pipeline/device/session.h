// A network on a device: its training and inference steps planned, compiled, and sharing the memories of the
// tiers and one set of weights.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "net/backends/backend.h"
#include "pipeline/cases/patches.h"
#include "pipeline/plan/planning.h"
#include "pipeline/record/checkpoint.h"
#include "pipeline/record/starting_weights.h"

namespace voxswap::pipeline {

class Session {
 public:
  enum class Purpose { training, inference };
  // `outputs`: channels of the logits. Plans at construction: a training step on costs that are measured
  // there (or were before, on such a device), which takes a few steps' time. Inference is planned to stay on
  // the device where it fits. Throws Exit::does_not_fit before the memories of the plans are taken.
  Session(const RunOptions& options, std::int64_t channels, std::int64_t outputs, Purpose purpose);
  ~Session();

  // The batch of the next train(): images N,D,H,W,C and target bits N,D,H,W, which have to stay until that
  // calls `meanwhile` or returns. A device with a memory of its own gets them at once, beside a step that may
  // be running.
  void give(std::span<const float> images, std::span<const std::uint8_t> targets);
  // A step on the batch that was given last; returns the loss. `meanwhile` is called while the step runs, on
  // a device with a memory of its own: to give the next batch.
  float train(const net::StepContext& context, swap::StepReport* report = nullptr,
              swap::Detail detail = swap::Detail::lanes, const std::function<void()>& meanwhile = {});
  float train(std::span<const float> images, std::span<const std::uint8_t> targets,
              const net::StepContext& context, swap::StepReport* report = nullptr);  // both
  // One image; returns probabilities D,H,W,outputs.
  std::vector<float> predict(std::span<const float> image);
  // The same; `take` gets them in order of depth. Of ranks that share the image only the first calls it, with
  // the planes of one rank after the other, and no rank holds more than its own.
  void predict(std::span<const float> image, const TakePlanes& take);
  // The loss of one image; with `take`, probabilities go there as above.
  float validation_loss(std::span<const float> image, std::span<const std::uint8_t> target,
                        const TakePlanes& take = {});

  void initialize(std::uint64_t seed);  // weights as a pure function of the seed, optimiser state zero
  // The weights of a file in place of those that it has (record/starting_weights.h). `modalities`: of the
  // images' channels.
  StartingWeights start_from(const fs::path& weights, const std::vector<std::string>& modalities);
  std::vector<Tensor> weights() const;
  // One after the other, in the order of weights().
  std::size_t weight_count() const;
  const net::Value& weight(std::size_t index) const;
  void read_weight(std::size_t index, std::span<float> values) const;
  void write_weight(std::size_t index, std::span<const float> values);
  std::vector<Tensor> optimizer_state() const;
  void load(const Checkpoint& checkpoint, const std::string& where, bool with_optimizer_state);
  // Throws what load() would: Exit::bad_data for a tensor that is missing or has another shape.
  void check(const Checkpoint& checkpoint, const std::string& where, bool with_optimizer_state) const;

  // After steps that took another time than the plan predicts: measures the costs again and plans with them.
  // Weights and optimiser state stay; a batch that was given is lost. Takes about two seconds, five steps and
  // the planning. REQUIRES: it trains, and not with other ranks.
  void measure_again();
  // The next run of such a step measures its costs.
  void forget_costs();

  const swap::Plan& plan() const;  // of the main step: training, or inference
  const net::Graph& graph() const;
  const swap::CostModel& costs() const;  // of the main step. REQUIRES: it trains
  swap::Bound bound() const;             // likewise
  std::int64_t arena_bytes() const;
  std::int64_t host_bytes() const;  // of the host pool and what streams beside it
  const net::Backend& backend() const;
  net::ElementType precision() const;
  const swap::Budgets& budgets() const;

  void allocate();  // takes the memories of all tiers; called by whatever needs them first

 private:
  void infer(std::span<const float> image);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voxswap::pipeline
