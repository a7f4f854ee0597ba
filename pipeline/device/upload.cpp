#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "pipeline/device/staging.h"
#include "swap/execute/poison.h"

namespace voxswap::pipeline {

namespace {

// Returns the slabs' offsets and adds their sizes to `bytes`, or to `streamed_bytes`.
std::vector<std::int64_t> places_of(const std::vector<InputSlab>& slabs, std::int64_t& bytes,
                                    std::int64_t& streamed_bytes) {
  std::vector<std::int64_t> places;
  for (const InputSlab& slab : slabs) {
    std::int64_t& end = slab.streams ? streamed_bytes : bytes;
    places.push_back(end);
    end += (slab.value.bytes() + slab_alignment - 1) / slab_alignment * slab_alignment;
  }
  return places;
}

}  // namespace

Upload::Upload(net::Backend& backend, std::vector<InputSlab> image, std::vector<InputSlab> target,
               std::int64_t spare_bytes)
    : image_(std::move(image)),
      target_(std::move(target)),
      image_places_(places_of(image_, bytes_, streamed_bytes_)),
      target_places_(places_of(target_, bytes_, streamed_bytes_)),
      stream_(backend.make_stream()) {
  if (streamed_bytes_ > 0)
    for (std::unique_ptr<net::Memory>& block : streamed_) block = backend.allocate_host(streamed_bytes_);
  if (bytes_ == 0) return;
  pinned_ = backend.allocate_host(bytes_);
  // Use at most half of the free memory, since the driver needs some too.
  if (bytes_ <= std::min(spare_bytes, backend.free_bytes() / 2)) device_ = backend.allocate(bytes_);
}

Upload::~Upload() {
  try {
    stream_->synchronize();
  } catch (const Error&) {
    // The upload is no longer needed.
  }
}

void Upload::begin(std::span<const float> images, std::span<const std::uint8_t> targets) {
  stream_->synchronize();
  if (swap::poisoning_wanted())  // poison: reads at a wrong time then show in the loss
    for (net::Memory* block : {pinned_.get(), streamed_[turn_].get()})
      if (block != nullptr) std::memset(block->data(), 0xff, static_cast<std::size_t>(block->bytes()));
  for (std::size_t i = 0; i < image_.size(); ++i)
    stage(images, image_[i], host_place(image_[i], image_places_[i]));
  for (std::size_t i = 0; i < target_.size(); ++i)
    stage(targets, target_[i], host_place(target_[i], target_places_[i]));
  if (device_) stream_->copy(device_->data(), pinned_->data(), bytes_);
}

std::byte* Upload::host_place(const InputSlab& slab, std::int64_t place) const {
  return (slab.streams ? streamed_[turn_] : pinned_)->data() + place;
}

InputPlaces Upload::finish() {
  stream_->synchronize();
  const auto find = [&](const InputSlab& slab, std::int64_t place) -> const std::byte* {
    return device_ && !slab.streams ? device_->data() + place : host_place(slab, place);
  };
  InputPlaces places;
  for (std::size_t i = 0; i < image_.size(); ++i) places.image.push_back(find(image_[i], image_places_[i]));
  for (std::size_t i = 0; i < target_.size(); ++i)
    places.target.push_back(find(target_[i], target_places_[i]));
  turn_ = 1 - turn_;
  return places;
}

}  // namespace voxswap::pipeline
