// A folder of a test's own, gone with it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/filesystem.h"
#include "base/text.h"

namespace voxswap::test {

class InAFolder : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_ =
      fs::path(testing::TempDir()) /
      format("voxswap_{}_{}", testing::UnitTest::GetInstance()->current_test_info()->test_suite_name(),
             ::getpid());
};

}  // namespace voxswap::test
