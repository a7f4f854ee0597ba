// Sums of a volume that is finished plane by plane, of which only the planes between the first unfinished one
// and the last one begun are held: in memory or, if they are too many, in a mapped scratch file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "pipeline/cases/scratch.h"
#include "swap/execute/scratch_file.h"

namespace voxswap::pipeline {

class PlaneRing {
 public:
  // All zero. `values`: of a plane; `depth`: most planes that are held. Throws Exit::does_not_fit if the disk
  // has too little space.
  PlaneRing(std::int64_t values, std::int64_t depth, Scratch& scratch);

  // REQUIRES: these planes are held, and `count` is 1 or as many as take_until() passes on.
  std::span<float> planes(std::int64_t first, std::int64_t count = 1);
  std::int64_t first() const { return first_; }
  // Planes that are in memory at a time, at least 1.
  std::int64_t at_once(std::int64_t values) const;
  // Takes the memory of planes in a file back; they keep their values.
  void release();

  // Passes on the planes before `end`, a few at a time, then lets them go: the planes that follow are zero.
  void take_until(std::int64_t end,
                  const std::function<void(std::int64_t first, std::span<float> planes)>& take);

 private:
  std::int64_t values_, depth_, resident_bytes_, first_ = 0;
  std::vector<float> memory_;
  std::unique_ptr<swap::ScratchFile> file_;
  std::span<float> all_;
};

}  // namespace voxswap::pipeline
