#include "pipeline/cases/plane_ring.h"

#include <algorithm>
#include <cassert>

#include "base/error.h"
#include "base/keys.h"
#include "base/shape.h"
#include "base/units.h"
#include "net/backends/cpu/host_device.h"

namespace voxswap::pipeline {

bool Scratch::takes(std::int64_t bytes) {
  if (bytes > std::max(most_bytes, resident_bytes)) return false;
  most_bytes = std::max<std::int64_t>(0, most_bytes - bytes);
  return true;
}

std::unique_ptr<swap::ScratchFile> Scratch::file(std::int64_t bytes) {
  if (bytes > most_disk_bytes)
    fail(Exit::does_not_fit,
         "prediction needs a scratch file of {}, but only {} of {} are left. Increase it, or {}",
         format_bytes(bytes), format_bytes(most_disk_bytes), key::memory_disk, key::memory_host);
  most_disk_bytes -= bytes;
  return std::make_unique<swap::ScratchFile>(folder, bytes);
}

Scratch scratch_for(const MemoryOptions& memory, const fs::path& folder) {
  Scratch scratch{memory.host_bytes.value_or(net::free_host_bytes() / 4), folder};
  if (memory.disk_folder.empty()) return scratch;
  scratch.folder = memory.disk_folder;
  scratch.most_disk_bytes = memory.disk_bytes;
  return scratch;
}

PlaneRing::PlaneRing(std::int64_t values, std::int64_t depth, Scratch& scratch)
    : values_(values), depth_(depth), resident_bytes_(scratch.resident_bytes) {
  const std::int64_t bytes = values * depth * static_cast<std::int64_t>(sizeof(float));
  if (scratch.takes(bytes)) {
    memory_.resize(index(values * depth));
    all_ = memory_;
  } else {
    file_ = scratch.file(bytes);
    all_ = {reinterpret_cast<float*>(file_->map()), index(values * depth)};
  }
}

std::span<float> PlaneRing::planes(std::int64_t first, std::int64_t count) {
  const std::int64_t slot = first % depth_;
  assert(first >= first_ && first + count <= first_ + depth_ && slot + count <= depth_);
  return all_.subspan(index(slot * values_), index(count * values_));
}

std::int64_t PlaneRing::at_once(std::int64_t values) const {
  return std::max<std::int64_t>(1, resident_bytes_ / static_cast<std::int64_t>(sizeof(float)) / values);
}

void PlaneRing::release() {
  if (file_) file_->release();
}

void PlaneRing::take_until(std::int64_t end,
                           const std::function<void(std::int64_t first, std::span<float> planes)>& take) {
  while (first_ < end) {
    const std::int64_t count = std::min({end - first_, depth_ - first_ % depth_, at_once(values_)});
    const std::span<float> now = planes(first_, count);
    take(first_, now);
    std::fill(now.begin(), now.end(), 0.0F);
    release();
    first_ += count;
  }
}

}  // namespace voxswap::pipeline
