#include "pipeline/device/upload.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace voxswap::pipeline {

namespace {

constexpr std::int64_t alignment = 256;  // of every piece

// Appends the pieces behind `bytes` bytes, which grow by them; their places.
std::vector<std::int64_t> places_of(const std::vector<InputPiece>& pieces, std::int64_t& bytes) {
  std::vector<std::int64_t> places;
  for (const InputPiece& piece : pieces) {
    places.push_back(bytes);
    bytes += (piece.value.bytes() + alignment - 1) / alignment * alignment;
  }
  return places;
}

}  // namespace

Upload::Upload(net::Backend& backend, std::vector<InputPiece> image, std::vector<InputPiece> target,
               std::int64_t spare_bytes)
    : image_(std::move(image)),
      target_(std::move(target)),
      image_places_(places_of(image_, bytes_)),
      target_places_(places_of(target_, bytes_)),
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
  for (std::size_t i = 0; i < image_.size(); ++i)
    stage(images, image_[i], pinned_->data() + image_places_[i]);
  for (std::size_t i = 0; i < target_.size(); ++i)
    stage(targets, target_[i], pinned_->data() + target_places_[i]);
  if (device_) stream_->copy(device_->data(), pinned_->data(), bytes_);
}

Upload::Places Upload::finish() {
  stream_->synchronize();
  const std::byte* const data = device_ ? device_->data() : pinned_->data();
  Places places;
  for (const std::int64_t place : image_places_) places.image.push_back(data + place);
  for (const std::int64_t place : target_places_) places.target.push_back(data + place);
  return places;
}

}  // namespace voxswap::pipeline
