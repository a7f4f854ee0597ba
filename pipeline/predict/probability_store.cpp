#include "pipeline/predict/probability_store.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

#include "base/shape.h"
#include "swap/plan/plan.h"

namespace voxswap::pipeline {

namespace {

constexpr std::align_val_t alignment{static_cast<std::size_t>(swap::disk_block)};

std::int64_t voxels_of_plane(const VoxelBox& box) {
  return box.size[0] * box.size[1];
}

}  // namespace

void ProbabilityStore::Delete::operator()(std::byte* memory) const {
  ::operator delete(memory, alignment);
}

ProbabilityStore::ProbabilityStore(const data::PreparedCase& prepared, std::size_t outputs, Scratch& scratch)
    : box_(prepared.box),
      whole_(prepared.original),
      outputs_(outputs),
      stride_(swap::whole_blocks(voxels_of_plane(prepared.box) * static_cast<std::int64_t>(sizeof(float)))) {
  const std::int64_t planes = prepared.box.size[2];
  if (!scratch.takes(bytes_of_planes(planes))) file_ = scratch.file(bytes_of_planes(planes));
  const std::size_t held = index(bytes_of_planes(file_ ? 1 : planes));
  memory_.reset(static_cast<std::byte*>(::operator new(held, alignment)));
  if (file_) std::memset(memory_.get(), 0, held);  // also what fills the last block of a plane
}

std::int64_t ProbabilityStore::bytes_of_planes(std::int64_t planes) const {
  return planes * static_cast<std::int64_t>(outputs_) * stride_;
}

std::span<float> ProbabilityStore::plane(std::size_t output) {
  std::byte* const first =
      memory_.get() + (file_ ? 0 : bytes_of_planes(added_)) + static_cast<std::int64_t>(output) * stride_;
  return {reinterpret_cast<float*>(first), index(voxels_of_plane(box_))};
}

void ProbabilityStore::add_plane() {
  if (file_) file_->write(bytes_of_planes(added_), memory_.get(), bytes_of_planes(1));
  ++added_;
}

data::Image ProbabilityStore::output(std::size_t output) {
  assert(added_ == box_.size[2]);
  data::Image whole{whole_, std::vector<float>(index(whole_.count()))};
  for (std::int64_t z = 0; z < box_.size[2]; ++z) {
    const std::int64_t place = bytes_of_planes(z) + static_cast<std::int64_t>(output) * stride_;
    if (file_) file_->read(place, memory_.get(), stride_);
    const float* row = reinterpret_cast<const float*>(memory_.get() + (file_ ? 0 : place));
    for (std::int64_t y = 0; y < box_.size[1]; ++y, row += box_.size[0])
      std::copy(row, row + box_.size[0], &whole.at(box_.start[0], box_.start[1] + y, box_.start[2] + z));
  }
  return whole;
}

}  // namespace voxswap::pipeline
