// Rules for overwriting files. A command never overwrites a file that it read. It overwrites a file that no
// voxswap command wrote only with --force.
//
// A command records its outputs in a file .voxswap beside them: name, size and time of last change. A file
// that differs from its entry counts as the user's own.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"

namespace voxswap {

// A record of files beside it or below its folder: name, size and time of last change of each.
class WrittenFiles {
 public:
  explicit WrittenFiles(fs::path record) : record_(std::move(record)) {}

  // Was it written by us, and not changed since?
  bool contains(const fs::path& file) const;
  // Calls `produce` to write the files, and records them. Several threads may do so at a time.
  void write(const std::vector<fs::path>& files, const std::function<void()>& produce);
  // Of `files`, those that are there and may not be removed: somebody else's, changed ones, and those that
  // are outside `folder` with all links resolved.
  std::vector<fs::path> not_ours(const std::vector<fs::path>& files, const fs::path& folder) const;
  // Removes all others, and returns those that are still there.
  std::vector<fs::path> remove(const std::vector<fs::path>& files, const fs::path& folder);

 private:
  std::string name_of(const fs::path& file) const;
  void update(const std::map<std::string, std::string>& looks);

  fs::path record_;
  mutable std::mutex mutex_;
};

// Removes a file that Outputs wrote, by the rules of WrittenFiles; false when it is still there.
bool remove_output(const fs::path& output, const fs::path& folder);

class Outputs {
 public:
  explicit Outputs(bool force) : force_(force) {}

  // Protects a file that the command reads, whatever other names (links) it has. For a folder: every file
  // directly in it.
  void protect(const fs::path& input);
  // Protects everything below a folder of inputs, except files that voxswap wrote.
  void protect_below(const fs::path& folder);

  // Throws Exit::usage when `output` must not be written. Call it for all outputs before the work begins.
  void check(const fs::path& output) const;
  // Checks `output`, calls `produce` to write it, and records it.
  void write(const fs::path& output, const std::function<void()>& produce) const;

 private:
  bool force_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> inputs_;  // device and inode
  std::vector<fs::path> folders_;                             // of inputs, canonical paths
};

// Checks of --out before the work, not after it.
// Throws Exit::usage when the folder of `file` is not there or `file` is a folder, Exit::failed when it may
// not be written to.
void check_output_file(const std::string& option, const fs::path& file);

// May a folder be written to, that may have to be made? Throws Exit::failed. Removes what killed processes
// left there.
void check_output_folder(const fs::path& folder);

}  // namespace voxswap
