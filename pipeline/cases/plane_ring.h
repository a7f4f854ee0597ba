// Sums of a volume that is finished plane by plane, of which only the planes between the first unfinished one
// and the last one begun are held: in memory or, if they are too many, in a mapped scratch file.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/file.h"
#include "pipeline/cases/experiment.h"
#include "swap/execute/scratch_file.h"

namespace voxswap::pipeline {

// Where large intermediate results are held. It changes no result.
struct Scratch {
  std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();  // in memory; more is in scratch files
  fs::path folder{};                                                   // of these files
  // Part of a file that is in memory at a time. Smaller results always stay in memory.
  std::int64_t resident_bytes = std::int64_t{64} << 20;
  std::int64_t most_disk_bytes = std::numeric_limits<std::int64_t>::max();

  // True if a result of this size stays in memory, of which then less is left.
  bool takes(std::int64_t bytes);
  // Throws Exit::does_not_fit if it exceeds what is left of most_disk_bytes or of the disk.
  std::unique_ptr<swap::ScratchFile> file(std::int64_t bytes);
};
// Up to memory.host in memory, by default a quarter of the free memory. More is in memory.disk, by default in
// `folder`.
Scratch scratch_for(const MemoryOptions& memory, const fs::path& folder);

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
