// Clipping and the ways to normalise, from their formulas.
#include <algorithm>
#include <cmath>

#include "data/prepare/prepare.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

// Values 1, 2, … 100 in a row of 110 voxels whose other voxels are background.
Volume ramp() {
  Image image{geometry({110, 1, 1}), std::vector<float>(110, 0.0F)};
  for (std::size_t i = 0; i < 100; ++i) image.voxels[i + 5] = static_cast<float>((i * 37) % 100 + 1);
  Volume volume;
  volume.id = "ramp";
  volume.channels = {image};
  return volume;
}

PrepareOptions as_it_is() {
  PrepareOptions options;
  options.resolution = {110, 1, 1};
  options.crop = Crop::none;
  return options;
}

PreparedCase prepared_as(Normalize normalize) {
  PrepareOptions options = as_it_is();
  options.normalize = normalize;
  PreparedCase result = prepare(ramp(), options);
  voxswap::data::normalize(result, normalization_for(result, options, {{10}, {4}}));
  return result;
}

// NumPy: percentile(arange(1, 101), 5) = 5.95, 90: 90.1.
TEST(Clipping, HoldsTheForegroundBetweenItsPercentilesAndLeavesTheBackground) {
  PrepareOptions options = as_it_is();
  options.clip_low = 5;
  options.clip_high = 90;
  const Image before = ramp().channels[0];
  const PreparedCase after = prepare(ramp(), options);
  for (std::size_t i = 0; i < 110; ++i) {
    const float expected = before.voxels[i] == 0 ? 0 : std::clamp(before.voxels[i], 5.95F, 90.1F);
    EXPECT_NEAR(after.image[i], expected, 1e-5);
  }
}

TEST(Normalization, OfAnImageIsOverItsForegroundAndMovesTheBackgroundToo) {
  const PreparedCase made = prepared_as(Normalize::image);
  const double mean = 50.5, deviation = std::sqrt((100.0 * 100 - 1) / 12);  // of 1 … 100
  EXPECT_NEAR(made.image[0], (0 - mean) / deviation, 1e-6);
  EXPECT_NEAR(made.image[5], (1 - mean) / deviation, 1e-6);
}

TEST(Normalization, ThatIsMaskedHasTheBackgroundAtZero) {
  const PreparedCase made = prepared_as(Normalize::masked), image = prepared_as(Normalize::image);
  for (std::size_t i = 0; i < 110; ++i) EXPECT_EQ(made.image[i], i < 5 || i >= 105 ? 0 : image.image[i]);
}

TEST(Normalization, OfTheWholeImageCountsEveryVoxel) {
  const PreparedCase made = prepared_as(Normalize::whole);
  const double mean = 5050.0 / 110,
               deviation = std::sqrt(338350.0 / 110 - mean * mean);  // sum of squares of 1 … 100
  EXPECT_NEAR(made.image[0], (0 - mean) / deviation, 1e-6);
  EXPECT_NEAR(made.image[5], (1 - mean) / deviation, 1e-6);
}

TEST(Normalization, OfTheDataSetAndNoneUseWhatTheyAreGiven) {
  EXPECT_EQ(prepared_as(Normalize::dataset).image[5], (1.0F - 10) / 4);
  EXPECT_EQ(prepared_as(Normalize::none).image[5], 1);
}

TEST(Preparing, AppliesBiasCorrectionToTheChannelsThatAreNamed) {
  Volume volume;
  volume.id = "two";
  volume.channels = {random_image(geometry({20, 20, 20}), 1), random_image(geometry({20, 20, 20}), 2)};
  PrepareOptions options;
  options.resolution = {20, 20, 20};
  const PreparedCase before = prepare(volume, options);
  options.bias_correction = {"t2"};
  const PreparedCase after = prepare(volume, for_modalities(options, {"t1", "t2"}));
  int first = 0, second = 0;
  for (std::size_t i = 0; i < after.image.size(); i += 2) {
    first += before.image[i] != after.image[i] ? 1 : 0;
    second += before.image[i + 1] != after.image[i + 1] ? 1 : 0;
  }
  EXPECT_EQ(first, 0);
  EXPECT_GT(second, 7000);
}

}  // namespace
}  // namespace voxswap::data
