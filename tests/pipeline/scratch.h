// A folder of a test's own, gone with it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/text.h"

namespace voxswap::test {

class InAFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      format("voxswap_{}_{}", testing::UnitTest::GetInstance()->current_test_info()->test_suite_name(),
             ::getpid());
};

}  // namespace voxswap::test
