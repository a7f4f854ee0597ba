// The message about how much of an epoch the device computed.
#include "pipeline/train/device_use.h"

#include <gtest/gtest.h>

namespace voxswap::pipeline {
namespace {

TEST(DeviceUse, NamesTheLargestCauseOfWaitingFirst) {
  DeviceUse use;
  use.seconds = 10;
  use.training_busy = 4;
  use.validation = 2;
  use.validation_busy = 1;
  use.samples = 3;
  use.copies = 0.1;
  EXPECT_DOUBLE_EQ(use.busy(), 0.5);
  EXPECT_EQ(
      device_use_text(use, 2),
      "the device was busy for 50 % of this epoch; 30 % waiting for samples (raise training.loader_threads, "
      "now 2, or data.memory), 10 % reading and scoring validation cases, 9 % starting steps, writing files "
      "and the rest");
}

TEST(DeviceUse, NamesNoCauseForABusyDeviceAndIsEmptyForAShortEpoch) {
  DeviceUse use;
  use.seconds = 10;
  use.training_busy = 9.19;
  EXPECT_EQ(device_use_text(use, 2), "the device was busy for 91 % of this epoch");
  use.seconds = 0.5;
  EXPECT_EQ(device_use_text(use, 2), "");
}

}  // namespace
}  // namespace voxswap::pipeline
