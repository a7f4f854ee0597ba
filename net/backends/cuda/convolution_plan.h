// The engines that cuDNN offers for a convolution, their execution plans on a device, and their execution.
//
// Plans can also be built from a device description, so they are tested without a GPU.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/backends/cuda/convolution_graph.h"

namespace voxswap::net::cuda {

// An offer of cuDNN for a convolution: an engine with its settings ("knobs") and numerical notes.
struct EngineOffer {
  Descriptor configuration;
  std::int64_t engine = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> knobs;  // kind and value, in order
  std::vector<std::int32_t> numerical, behaviour;

  bool has(cudnnBackendNumericalNote_t note) const;
  bool compiled_at_run_time() const;
  std::string name() const;        // for people: the engine's number and the most important notes
  std::string choice() const;      // "25 0=1 4=7": only the engine and its knobs
  std::string notes_text() const;  // all notes, unnamed ones by number
};

// In the order of cuDNN's heuristics, the fastest first, fallback engines last. The list is deterministic for
// a problem, device and cuDNN version.
std::vector<EngineOffer> engine_offers(const ConvolutionProblem& problem, const PlanDevice& device);

struct PlanRules {
  bool deterministic = true;
  bool tensor_floats = false;  // f32 may be rounded to TF32
  std::int64_t workspace_limit = 0;
  int most_of_an_engine = std::numeric_limits<int>::max();  // limit of settings per engine
};

class ConvolutionPlan {
 public:
  ConvolutionPlan(const EngineOffer& offer, const PlanDevice& device);
  bool supported() const { return supported_; }
  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  const Descriptor& descriptor() const { return plan_; }

  std::string name;    // EngineOffer::name()
  std::string choice;  // EngineOffer::choice()
  bool tensor_cores = false;

 private:
  Descriptor plan_;
  bool supported_ = false;
  std::int64_t workspace_bytes_ = 0;
};

bool allowed(const EngineOffer& offer, ElementType type, const PlanRules& rules);
// Engines that would compute a wrong weight gradient, or read outside of the volume.
bool misreads_uneven_padding(const EngineOffer& offer, const ConvolutionProblem& problem);

// At most `most` plans that obey the rules, the fastest by cuDNN's heuristics first. May be empty. The list
// is deterministic for a problem, device and cuDNN version.
std::vector<std::shared_ptr<const ConvolutionPlan>> convolution_plans(const ConvolutionProblem& problem,
                                                                      const PlanDevice& device,
                                                                      const PlanRules& rules,
                                                                      std::size_t most);

// Runs a plan. Caches the preparation for the last addresses, which seldom change.
class ConvolutionRunner {
 public:
  explicit ConvolutionRunner(std::shared_ptr<const ConvolutionPlan> plan) : plan_(std::move(plan)) {}
  const ConvolutionPlan& plan() const { return *plan_; }

  struct Places {
    void *x = nullptr, *w = nullptr, *y = nullptr, *bias = nullptr, *workspace = nullptr;
    bool operator==(const Places&) const = default;
  };
  void run(cudnnHandle_t handle, const Places& places);  // enqueues on the current stream

 private:
  std::shared_ptr<const ConvolutionPlan> plan_;
  Places places_;
  Descriptor pack_;
};

}  // namespace voxswap::net::cuda
