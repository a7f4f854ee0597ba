// What cuDNN offers for a convolution: engines with their settings ("knobs"), and what is noted of each.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "net/backends/cuda/convolution_graph.h"

namespace voxswap::net::cuda {

struct EngineOffer {
  Descriptor configuration;
  std::int64_t engine = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> knobs;  // kind and value, in order
  std::vector<std::int32_t> numerical, behaviour;

  bool has(cudnnBackendNumericalNote_t note) const;
  bool compiled_at_run_time() const;
  std::string name() const;        // for people: the engine's number and the notes that matter most
  std::string choice() const;      // "25 0=1 4=7": the engine and its knobs, and nothing else
  std::string notes_text() const;  // every note, by number where it has no name here
};

// In the order of cuDNN's heuristics, what they think fastest first; what they fall back to last. The list is
// the same every time for the same problem, device and cuDNN.
std::vector<EngineOffer> engine_offers(const ConvolutionProblem& problem, const PlanDevice& device);

}  // namespace voxswap::net::cuda
