// What a command may write over: never a file that it read, and a file that no command of voxswap wrote only
// when it is told to (--force).
//
// Beside its outputs a command leaves a record of them, .voxswap: name, size and time of the last change.
// What does not look like its entry any more is somebody else's.
#pragma once

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "base/filesystem.h"

namespace voxswap {

class Outputs {
 public:
  explicit Outputs(bool force) : force_(force) {}

  // A file that the command reads, under whatever other names it may have; of a folder every file that lies
  // in it.
  void protect(const fs::path& input);
  // A folder of inputs, of which the command reads only some: what lies below is protected unless voxswap
  // wrote it.
  void protect_below(const fs::path& folder);

  // Throws Exit::usage when `output` must not be written. To be asked for all outputs before the work begins.
  void check(const fs::path& output) const;
  // Checks, lets `produce` write the file, and adds it to the record.
  void write(const fs::path& output, const std::function<void()>& produce) const;

 private:
  bool force_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> inputs_;  // device and inode
  std::vector<fs::path> folders_;                             // of inputs, canonical
};

}  // namespace voxswap
