// The inputs and both results of a case that disagreed with the reference, as NumPy files for later analysis
// on a machine without that device. A test program keeps only the worst case, and only if
// VOXSWAP_FAILED_CASES names a folder.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "tests/net/run_graph.h"

namespace voxswap::net {

// An f64 array in NumPy's format 1.0.
inline std::string npy(const Shape& shape, const std::vector<double>& values) {
  std::string sizes;
  for (int i = 0; i < shape.rank(); ++i) sizes += format("{},", shape[i]);
  std::string header = format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({})}}", sizes);
  constexpr std::size_t before = 10, unit = 64;  // bytes before the header; alignment of its end, including
                                                 // the newline
  header += std::string(unit - (before + header.size() + 1) % unit, ' ') + "\n";
  std::string bytes = std::string("\x93NUMPY\x01\0", 8);
  bytes += static_cast<char>(header.size() % 256);
  bytes += static_cast<char>(header.size() / 256);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  return bytes;
}

struct FailedCase {
  std::string name;
  double excess = 0;  // largest difference divided by the tolerance
  std::vector<std::pair<std::string, std::string>> files;

  void add(const std::string& what, const CaseGraph& example, ValueId id, const std::vector<double>& values) {
    files.emplace_back(what + ".npy", npy(example.graph.value(id).shape, values));
  }
};

class FailedCases {
 public:
  explicit FailedCases(fs::path folder) : folder_(std::move(folder)) {}  // empty: keeps nothing
  void keep(const FailedCase& failed) {
    if (folder_.empty() || failed.excess <= worst_) return;
    worst_ = failed.excess;
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    write_file(folder_ / "case.txt", format("{}: {} times what is allowed\n", failed.name, failed.excess));
    for (const auto& [file, bytes] : failed.files) write_file(folder_ / file, bytes);
  }

 private:
  fs::path folder_;
  double worst_ = 0;
};

inline FailedCases& failed_cases() {
  const char* const folder = std::getenv("VOXSWAP_FAILED_CASES");
  static FailedCases cases(
      folder == nullptr || *folder == '\0' ? fs::path() : fs::path(folder) / std::to_string(getpid()));
  return cases;
}

}  // namespace voxswap::net
