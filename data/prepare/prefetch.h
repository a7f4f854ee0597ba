// Threads that prepare the next samples while the network trains on the current one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace voxswap::data {

// What the network reads in one step: arrays of one batch.
struct Sample {
  std::size_t case_index = 0;
  std::vector<float> image;          // D,H,W,C, normalised, augmented
  std::vector<std::uint8_t> target;  // D,H,W target bits, or classes, in as many bytes as they take
};

// Calls produce(0), produce(1), … produce(count-1) on `threads` threads of its own, at most `depth` ahead of
// next(), which hands them on in order. What produce throws is thrown by next() in that sample's place.
// Destroying it stops the threads.
class Prefetcher {
 public:
  Prefetcher(std::size_t count, std::function<Sample(std::size_t)> produce, std::size_t depth = 2,
             std::size_t threads = 1);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;
  Sample next();                  // REQUIRES: called at most `count` times
  bool ready() const;             // next() would hand a sample on at once
  double waited_seconds() const;  // how long next() has waited, in total

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voxswap::data
