// A batch on its way to a device with a memory of its own, also while a step runs there: converted on the
// host, and copied into spare memory of the device by a stream of its own. The step that trains on it then
// has only to copy it within the device. Of pieces that the step streams (swap/plan/plan.h) those of the
// batch before are read while it runs, so there are two blocks for them on the host, one for every other
// batch, and none on the device.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "net/backends/backend.h"
#include "pipeline/device/staging.h"

namespace voxswap::pipeline {

class Upload {
 public:
  // Of images and target bits in these pieces. `spare_bytes`: what may be taken of the device's memory; where
  // that is too little, the batch waits in pinned memory of the host.
  Upload(net::Backend& backend, std::vector<InputPiece> image, std::vector<InputPiece> target,
         std::int64_t spare_bytes);
  ~Upload();
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  // In place of what was begun before. Returns when the batch is not read any more.
  void begin(std::span<const float> images, std::span<const std::uint8_t> targets);
  // Of each piece; of the device or the host, until the next begin(), of what streams until the one after
  // that.
  struct Places {
    std::vector<const std::byte*> image, target;
  };
  Places finish();  // waits until it is there

 private:
  std::byte* host_place(const InputPiece& piece, std::int64_t place) const;

  std::vector<InputPiece> image_, target_;
  std::int64_t bytes_ = 0, streamed_bytes_ = 0;  // before the places, which add to them
  std::vector<std::int64_t> image_places_, target_places_;
  std::unique_ptr<net::Memory> pinned_, device_;  // null where nothing is for it; device_: or too little free
  std::array<std::unique_ptr<net::Memory>, 2> streamed_;
  std::size_t turn_ = 0;                 // of those, for the next begin()
  std::unique_ptr<net::Stream> stream_;  // last: ends first, and drains
};

}  // namespace voxswap::pipeline
