// Images and targets on their way into a step that begins when they are there: each piece from where it lies
// in the volume, if the network reads just those bytes, or converted on the host (staging.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "net/backends/backend.h"
#include "pipeline/device/staging.h"
#include "swap/execute/executor.h"

namespace voxswap::pipeline {

class InputWriter {
 public:
  explicit InputWriter(net::Backend& backend) : backend_(&backend) {}

  // What lies in the volume may be read until the step is done.
  void write(swap::Executor& executor, const std::vector<InputPiece>& pieces, std::span<const float> image);
  void write(swap::Executor& executor, const std::vector<InputPiece>& pieces,
             std::span<const std::uint8_t> target);

 private:
  using Block = std::unique_ptr<net::Memory>;
  template <class T>
  void write_volume(swap::Executor& executor, const std::vector<InputPiece>& pieces,
                    std::span<const T> volume, Block& waiting);
  void take(Block& block, std::int64_t bytes);

  net::Backend* backend_;
  Block staging_;                         // one piece after the other
  Block waiting_image_, waiting_target_;  // pieces that the step streams
};

}  // namespace voxswap::pipeline
