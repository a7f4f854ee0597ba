// Threads that prepare the next samples while the network trains on the current one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "data/augment/augment.h"
#include "data/volumes/prepared_case.h"

namespace voxswap::pipeline {

// The random choices for one sample: which box of a case, and its augmentation.
struct DrawnSample {
  std::size_t case_index = 0;
  std::shared_ptr<const data::NormalizedCase> from;  // without an image if the device holds the case
  VoxelBox box;
  data::Augmentation changes;
  std::vector<std::uint8_t> always;  // target bits of every voxel; for image classification, the class
};

// Input of one training step: a NormalizedCase, or a batch of them, with the ground truth encoded as the
// loss's target; or the draws that a device makes them of.
struct Sample {
  std::size_t case_index = 0;        // of the first one of a batch
  std::vector<float> image;          // D,H,W,C, normalised, augmented
  std::vector<std::uint8_t> target;  // D,H,W target bits, or classes, in as many bytes as needed
  std::vector<DrawnSample> drawn;    // empty if image and target are there
};

// Calls produce(0, used), …, produce(count-1, used) on `threads` threads of its own, at most `depth` ahead of
// next(), which returns the samples in order. `used` is a sample whose memory may be reused, since the system
// takes longer to clear new memory than much of the work on a sample. An exception in produce is rethrown by
// next() at that sample. The destructor stops the threads.
class Prefetcher {
 public:
  using Produce = std::function<Sample(std::size_t, Sample used)>;
  Prefetcher(std::size_t count, Produce produce, std::size_t depth = 2, std::size_t threads = 1);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;
  Sample next(Sample used = {});  // `used`: not needed any more. REQUIRES: called at most `count` times
  bool ready() const;             // next() would return at once
  double waited_seconds() const;  // total time that next() has waited

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voxswap::pipeline
