// What cuDNN offers for a convolution: engines with their settings ("knobs") and numerical notes.
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
  std::string name() const;        // for people: the engine's number and the most important notes
  std::string choice() const;      // "25 0=1 4=7": only the engine and its knobs
  std::string notes_text() const;  // all notes, unnamed ones by number
};

// In the order of cuDNN's heuristics, the fastest first, fallback engines last. The list is deterministic for
// a problem, device and cuDNN version.
std::vector<EngineOffer> engine_offers(const ConvolutionProblem& problem, const PlanDevice& device);

}  // namespace voxswap::net::cuda
