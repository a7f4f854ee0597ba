// Threads that prepare the next samples while the network trains on the current one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace voxswap::data {

// Input of one training step: a NormalizedCase, or a batch of them, with the ground truth encoded as the
// loss's target.
struct Sample {
  std::size_t case_index = 0;        // of the first one of a batch
  std::vector<float> image;          // D,H,W,C, normalised, augmented
  std::vector<std::uint8_t> target;  // D,H,W target bits, or classes, in as many bytes as needed
};

// Calls produce(0), …, produce(count-1) on `threads` threads of its own, at most `depth` ahead of next(),
// which returns the samples in order. An exception in produce is rethrown by next() at that sample. The
// destructor stops the threads.
class Prefetcher {
 public:
  Prefetcher(std::size_t count, std::function<Sample(std::size_t)> produce, std::size_t depth = 2,
             std::size_t threads = 1);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;
  Sample next();                  // REQUIRES: called at most `count` times
  bool ready() const;             // next() would return at once
  double waited_seconds() const;  // total time that next() has waited

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voxswap::data
