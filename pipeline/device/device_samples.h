// Makes the samples of training on a device with memory of its own (pipeline/cases/sample_graph.h), beside a
// running step: from cases that the device holds, or from boxes of cases that are copied there. For a case
// that it holds, only what was drawn is copied.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "net/backends/backend.h"
#include "pipeline/cases/prefetch.h"
#include "pipeline/cases/sample_graph.h"
#include "pipeline/device/staging.h"

namespace voxswap::pipeline {

// Device memory that samples may use, bytes.
struct SampleMemory {
  std::int64_t spare = 0;
  std::int64_t cases = 0;  // of these, for cases
};

class DeviceSamples {
 public:
  // `image`, `target`: the slabs of a batch. REQUIRES: some of the image. `table`: the target of each label
  // (Cases::target_table()). If spare memory is too small for a sample, samples are made in pinned host
  // memory, which is slower.
  DeviceSamples(net::Backend& backend, const SampleShape& shape, std::vector<InputSlab> image,
                std::vector<InputSlab> target, const std::vector<std::uint8_t>& table,
                const SampleMemory& memory);
  ~DeviceSamples();
  DeviceSamples(const DeviceSamples&) = delete;
  DeviceSamples& operator=(const DeviceSamples&) = delete;

  // Copies a case to the device; false if there is no room for it. REQUIRES: all boxes that are drawn from it
  // are inside it.
  bool hold(std::size_t index, const data::NormalizedCase& whole);

  // For a step that is planned again.
  void set_slabs(std::vector<InputSlab> image, std::vector<InputSlab> target);

  // Begins the samples of a batch, in place of a batch that has begun. Returns when it needs the cases no
  // more.
  void begin(std::span<const DrawnSample> batch);
  void wait();
  // Waits for them. The places are valid until the next begin(); of streamed slabs until the one after it.
  InputPlaces finish();

  std::int64_t device_bytes() const;  // in use

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voxswap::pipeline
