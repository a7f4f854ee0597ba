#include "pipeline/cases/plane_ring.h"

#include <algorithm>
#include <cassert>

#include "base/shape.h"

namespace voxswap::pipeline {

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
