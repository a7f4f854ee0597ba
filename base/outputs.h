// Rules for overwriting files. A command never overwrites its own inputs. It overwrites a file that was not
// written by voxswap only with --force.
//
// A command records its outputs in a file .voxswap in their folder: name, size and modification time. A file
// that differs from its entry belongs to the user.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"

namespace voxswap {

std::string looks_of(const struct stat& status);  // size and modification time, as in the records

// A record of files in or below its folder: name, size and modification time.
class WrittenFiles {
 public:
  explicit WrittenFiles(fs::path record) : record_(std::move(record)) {}

  // True if voxswap wrote the file and it has not changed since.
  bool contains(const fs::path& file) const;
  // Calls `produce` to write the files, and records them. Thread-safe.
  void write(const std::vector<fs::path>& files, const std::function<void()>& produce);
  // The existing files that must not be removed: not written by voxswap, modified, or outside `folder` after
  // resolving links.
  std::vector<fs::path> not_ours(const std::vector<fs::path>& files, const fs::path& folder) const;
  // Removes all other files and returns those that remain.
  std::vector<fs::path> remove(const std::vector<fs::path>& files, const fs::path& folder);

 private:
  std::string name_of(const fs::path& file) const;
  void update(const std::map<std::string, std::string>& looks);

  fs::path record_;
  mutable std::mutex mutex_;
};

// Removes a file written by Outputs, by the rules of WrittenFiles; returns false if it remains.
bool remove_output(const fs::path& output, const fs::path& folder);

class Outputs {
 public:
  explicit Outputs(bool force) : force_(force) {}

  // Protects an input file, also under other names (links). For a folder: every file directly in it.
  void protect(const fs::path& input);
  // Protects everything below a folder of inputs, except files that voxswap wrote.
  void protect_below(const fs::path& folder);

  // Throws Exit::usage if `output` must not be written. Call it for all outputs before starting.
  void check(const fs::path& output) const;
  // Checks `output`, calls `produce` to write it, and records it.
  void write(const fs::path& output, const std::function<void()>& produce) const;

 private:
  bool force_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> inputs_;  // device and inode
  std::vector<fs::path> folders_;                             // input folders, canonical paths
};

// Checks of --out before the work starts. Throws Exit::usage if the folder of `file` does not exist or `file`
// is a folder, Exit::failed if it is not writable.
void check_output_file(const std::string& option, const fs::path& file);

// Throws Exit::failed if the folder cannot be created or written. Removes temporary files of killed processes
// in it.
void check_output_folder(const fs::path& folder);

}  // namespace voxswap
