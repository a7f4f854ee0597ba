// Tests that cases of a prediction are read in order, each beside the use of the one before.
#include "pipeline/predict/case_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "base/error.h"
#include "base/text.h"

namespace voxswap::pipeline {
namespace {

data::PreparedCase named(std::size_t i) {
  data::PreparedCase made;
  made.id = format("case {}", i);
  return made;
}

TEST(CaseReader, GivesAllCasesInOrderAndReadsTheNextOneMeanwhile) {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t begun = 0;
  CaseReader reader(4, [&](std::size_t i) {
    const std::lock_guard lock(mutex);
    ++begun;
    changed.notify_all();
    return named(i);
  });
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(reader.next().id, format("case {}", i));
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return begun == std::min<std::size_t>(i + 2, 4); });  // without another call
  }
}

TEST(CaseReader, ThrowsWhatReadingACaseThrewAtThatCaseAndGoesOn) {
  CaseReader reader(4, [](std::size_t i) {
    if (i == 1 || i == 2) fail(Exit::bad_data, "case {} is damaged", i);
    return named(i);
  });
  EXPECT_EQ(reader.next().id, "case 0");
  for (int i = 0; i < 2; ++i) EXPECT_THROW(reader.next(), Error);
  EXPECT_EQ(reader.next().id, "case 3");
}

}  // namespace
}  // namespace voxswap::pipeline
