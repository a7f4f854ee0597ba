// Probabilities of all outputs on the crop of a case's own grid: written plane by plane for all outputs, read
// output by output for all planes. Without this, writing a file per output would need all outputs in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/file.h"
#include "data/volumes/prepared_case.h"
#include "pipeline/cases/scratch.h"
#include "swap/execute/scratch_file.h"

namespace voxswap::pipeline {

class ProbabilityStore {
 public:
  // In memory or a scratch file, which disappears with the program. Throws Exit::does_not_fit if the disk has
  // too little space.
  ProbabilityStore(const data::PreparedCase& prepared, std::size_t outputs, Scratch& scratch);

  // Memory for the next plane of an output, H,W of the crop. All outputs of a plane are filled, then added.
  std::span<float> plane(std::size_t output);
  void add_plane();

  // An output on the case's own grid; 0 outside the crop. REQUIRES: all planes were added.
  data::Image output(std::size_t output);

  bool is_on_disk() const { return file_ != nullptr; }

 private:
  struct Delete {
    void operator()(std::byte* memory) const;
  };
  std::int64_t bytes_of_planes(std::int64_t planes) const;

  VoxelBox box_;
  data::Geometry whole_;
  std::size_t outputs_;
  std::int64_t stride_;  // bytes of a plane of one output, in whole blocks
  std::int64_t added_ = 0;
  std::unique_ptr<swap::ScratchFile> file_;
  std::unique_ptr<std::byte, Delete> memory_;  // all planes, or with a file one
};

}  // namespace voxswap::pipeline
