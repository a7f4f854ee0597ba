// A convolution as cuDNN's graph API sees it, and the ways in which cuDNN would compute it on a device.
// Volumes are N,D,H,W,C in memory, weights O,d,h,w,I of the volumes' type; products are added in f32.
//
// Plans can also be made for a device that is only described: they are tested where there is no GPU.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "net/backends/cuda/cudnn_descriptor.h"
#include "net/graph.h"

namespace voxswap::cuda {

struct ConvolutionProblem {
  enum class Kind { forward, data_gradient, weight_gradient } kind = Kind::forward;
  // What the products are added to (forward): zeros, a value of the volumes' type per channel, or what y
  // holds.
  enum class Start { zero, bias, sum } start = Start::zero;
  ElementType type = ElementType::f32;
  Shape x, y;  // N,D,H,W,I (dx) and N,d,h,w,O (dy)
  std::int64_t kernel = 1, stride = 1, padding = 0;
  std::string text() const;  // different for different problems
};

// What plans are for: the device of a handle, or one that is not here.
struct PlanDevice {
  cudnnHandle_t handle = nullptr;
  Descriptor properties;  // where there is no handle
};
PlanDevice described_device(const std::string& json);  // as cuDNN describes devices

struct PlanRules {
  bool deterministic = true;
  bool tensor_floats = false;  // f32 may be rounded to TF32
  std::int64_t workspace_limit = 0;
  int most_of_an_engine = std::numeric_limits<int>::max();  // an engine has many settings
};

class ConvolutionPlan {
 public:
  ConvolutionPlan(const Descriptor& engine_configuration, const PlanDevice& device);
  bool supported() const { return supported_; }
  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  const Descriptor& descriptor() const { return plan_; }

  std::string name;  // for people: the engine's number and what is noted of it
  bool tensor_cores = false;

 private:
  Descriptor plan_;
  bool supported_ = false;
  std::int64_t workspace_bytes_ = 0;
};

// At most `most` plans that obey the rules, what cuDNN's heuristics think fastest first. Empty: there is
// none. The list is the same every time for the same problem, device and cuDNN.
std::vector<std::shared_ptr<const ConvolutionPlan>> convolution_plans(const ConvolutionProblem& problem,
                                                                      const PlanDevice& device,
                                                                      const PlanRules& rules,
                                                                      std::size_t most);

// Runs a plan. Keeps what was prepared for the last addresses, which seldom change.
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

}  // namespace voxswap::cuda
