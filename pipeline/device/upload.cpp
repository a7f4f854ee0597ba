#include "pipeline/device/upload.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "pipeline/device/staging.h"

namespace voxswap::pipeline {

namespace {

constexpr std::int64_t alignment = 256;  // of the targets behind the image

}  // namespace

Upload::Upload(net::Backend& backend, const net::Value& image, const net::Value& target,
               std::int64_t spare_bytes)
    : image_(image),
      target_place_((image.bytes() + alignment - 1) / alignment * alignment),
      bytes_(target_place_ + target.bytes()),
      pinned_(backend.allocate_host(bytes_)),
      stream_(backend.make_stream()) {
  // Half of what is free: the driver takes of the rest for itself.
  if (bytes_ <= std::min(spare_bytes, backend.free_bytes() / 2)) device_ = backend.allocate(bytes_);
}

Upload::~Upload() {
  try {
    stream_->synchronize();
  } catch (const Error&) {
    // What was to be uploaded is not wanted any more.
  }
}

void Upload::begin(std::span<const float> images, std::span<const std::uint8_t> targets) {
  stream_->synchronize();
  stage(images, image_, pinned_->data());
  std::memcpy(pinned_->data() + target_place_, targets.data(), targets.size());
  if (device_) stream_->copy(device_->data(), pinned_->data(), bytes_);
}

Upload::Places Upload::finish() {
  stream_->synchronize();
  const std::byte* const data = device_ ? device_->data() : pinned_->data();
  return {data, data + target_place_};
}

}  // namespace voxswap::pipeline
