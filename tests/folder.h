// A temporary folder for a test: empty at first and removed afterwards.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/file.h"

namespace voxswap::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::path(testing::TempDir()) / "voxswap-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }
  // A path in the folder; parent folders are created.
  fs::path operator/(const std::string& name) const {
    fs::create_directories((path_ / name).parent_path());
    return path_ / name;
  }

 private:
  fs::path path_;
};

// Each test runs in its own folder.
class InAFolder : public testing::Test {
 private:
  const TemporaryFolder own_;

 protected:
  const fs::path folder_ = own_.path();
};

// All tests of a suite share one folder, which Suite::make() fills once before them.
template <class Suite>
class InASharedFolder : public testing::Test {
 protected:
  InASharedFolder() {  // in SetUpTestSuite(), a failure would only skip the tests
    if (!std::exchange(made_, true)) Suite::make();
  }
  static void SetUpTestSuite() { shared_.emplace(); }
  static void TearDownTestSuite() { shared_.reset(); }
  static const fs::path& folder() { return shared_->path(); }

 private:
  static inline std::optional<TemporaryFolder> shared_;
  static inline bool made_ = false;
};

}  // namespace voxswap::test
