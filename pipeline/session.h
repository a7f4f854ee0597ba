// A network on a device: its training and inference steps planned, compiled, and sharing one arena and one
// set of weights.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "net/backend.h"
#include "pipeline/checkpoint.h"
#include "pipeline/options.h"
#include "swap/executor.h"
#include "swap/plan.h"

namespace voxswap {

// The backend for memory.device; Exit::does_not_fit for a device that this build or machine has not got.
std::unique_ptr<Backend> open_device(const std::string& device);
ElementType choose_precision(const Backend& backend, const std::string& precision);
std::int64_t choose_budget(const Backend& backend, const MemoryOptions& memory);  // bytes

class Session {
 public:
  enum class Purpose { training, inference };
  // `outputs`: channels of the logits. Plans at construction; throws Exit::does_not_fit before any memory is
  // taken.
  Session(const RunOptions& options, std::int64_t channels, std::int64_t outputs, Purpose purpose);
  ~Session();

  // Batch of images N,D,H,W,C and target bits N,D,H,W. Returns the loss.
  float train(std::span<const float> images, std::span<const std::uint8_t> targets,
              const StepContext& context, StepReport* report = nullptr);
  // One image; returns probabilities D,H,W,outputs.
  std::vector<float> predict(std::span<const float> image);
  float validation_loss(std::span<const float> image, std::span<const std::uint8_t> target);

  void initialize(std::uint64_t seed);  // weights as a pure function of the seed, optimiser state zero
  std::vector<Tensor> weights() const;
  std::vector<Tensor> optimizer_state() const;
  void load(const Checkpoint& checkpoint, const std::string& where, bool with_optimizer_state);

  const Plan& plan() const;  // of the main step: training, or inference
  const Graph& graph() const;
  std::int64_t arena_bytes() const;
  const Backend& backend() const;
  ElementType precision() const;
  std::int64_t budget_bytes() const;

  void allocate();  // takes the arena; called by whatever needs it first

 private:
  struct State;
  std::unique_ptr<State> state_;
};

StepOptions step_options(const RunOptions& options, std::int64_t batch, std::int64_t channels,
                         std::int64_t outputs, ElementType precision);

}  // namespace voxswap
