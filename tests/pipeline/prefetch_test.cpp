#include "pipeline/cases/prefetch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace voxswap::pipeline {
namespace {

Sample numbered(std::size_t i, Sample = {}) {
  Sample sample;
  sample.case_index = i;
  sample.image.assign(16, static_cast<float>(i));
  return sample;
}

TEST(Prefetching, StaysAtMostDepthSamplesAhead) {
  std::atomic<std::size_t> taken = 0, furthest = 0;
  {
    Prefetcher prefetcher(
        30,
        [&](std::size_t i, Sample) {
          furthest = std::max(furthest.load(), i - std::min(i, taken.load()));
          return numbered(i);
        },
        2);
    for (int i = 0; i < 30; ++i) {
      ++taken;
      prefetcher.next();
      if (i % 7 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  EXPECT_LE(furthest, 2U);
}

TEST(Prefetching, ThrowsInNextWhatTheProducerThrewAfterWhatWasReady) {
  Prefetcher prefetcher(10, [](std::size_t i, Sample) -> Sample {
    if (i == 2) throw std::runtime_error("case 2 is broken");
    return numbered(i);
  });
  EXPECT_EQ(prefetcher.next().case_index, 0U);
  EXPECT_EQ(prefetcher.next().case_index, 1U);
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      prefetcher.next();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "case 2 is broken");
    }
  }
}

TEST(Prefetching, IsReadyWhereASampleIsThereAndNotWhereOneFailed) {
  Prefetcher prefetcher(2, [](std::size_t i, Sample) -> Sample {
    if (i == 1) throw std::runtime_error("the second");
    return {};
  });
  while (!prefetcher.ready()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  prefetcher.next();
  EXPECT_FALSE(prefetcher.ready());
  EXPECT_THROW(prefetcher.next(), std::runtime_error);
}

TEST(Prefetching, StopsWhenItIsDestroyedEarly) {
  std::atomic<int> produced = 0;
  for (int taken = 0; taken < 4; ++taken) {
    produced = 0;
    {
      Prefetcher prefetcher(
          1000000,
          [&](std::size_t i, Sample) {
            ++produced;
            return numbered(i);
          },
          2);
      for (int i = 0; i < taken; ++i) prefetcher.next();
    }
    EXPECT_LE(produced, taken + 3);
  }
  { Prefetcher nothing(0, numbered); }
}

TEST(Prefetcher, GivesUsedSamplesBackForTheirMemory) {
  std::atomic<int> reused{0};
  Prefetcher prefetcher(20, [&](std::size_t i, Sample used) {
    reused += used.image.empty() ? 0 : 1;
    used.image.assign(3, static_cast<float>(i));
    return used;
  });
  Sample sample;
  for (std::size_t i = 0; i < 20; ++i) {
    sample = prefetcher.next(std::move(sample));
    EXPECT_EQ(sample.image, std::vector<float>(3, static_cast<float>(i)));
  }
  EXPECT_GT(reused, 0);
}

}  // namespace
}  // namespace voxswap::pipeline
