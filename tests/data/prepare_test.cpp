#include "data/prepare/prepare.h"

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/log.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "data/layouts/dataset.h"
#include "data/layouts/open_dataset.h"
#include "data/prepare/cache.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

// Two channels with a block of foreground at (2..9, 3..8, 4..11), on backgrounds 0 and -5, and labels in the
// block.
Volume block_volume(const Geometry& grid) {
  Volume volume;
  volume.id = "block";
  volume.truth = {grid, std::vector<std::int16_t>(static_cast<std::size_t>(grid.count()), 0)};
  for (const float background : {0.0F, -5.0F}) {
    const Image random = random_image(grid, 7);
    Image image{grid, std::vector<float>(random.voxels.size(), background)};
    for_each_voxel({2, 3, 4}, {10, 9, 12}, [&](auto x, auto y, auto z) {
      image.at(x, y, z) = random.at(x, y, z);
      volume.truth.at(x, y, z) = static_cast<std::int16_t>(x % 3);
    });
    volume.channels.push_back(std::move(image));
  }
  return volume;
}

PrepareOptions corner_options(const Size3& resolution) {
  PrepareOptions options;
  options.resolution = resolution;
  options.corner_background = true;
  return options;
}

TEST(Preparing, CropsToTheForegroundAndPutsTheChannelsSideBySide) {
  const Volume volume = block_volume(oblique_geometry({14, 12, 16}));
  const PreparedCase prepared = prepare(volume, corner_options({10, 8, 10}));
  EXPECT_EQ(prepared.box, (VoxelBox{{1, 2, 3}, {10, 8, 10}}));
  EXPECT_EQ(prepared.background, (std::vector<float>{0, -5}));
  EXPECT_EQ(prepared.size, (Size3{10, 8, 10}));
  ASSERT_EQ(prepared.image.size(), 10U * 8 * 10 * 2);
  // The resolution is that of the box, so no voxel changes.
  std::size_t i = 0;
  for_each_voxel({1, 2, 3}, {11, 10, 13}, [&](auto x, auto y, auto z) {
    ASSERT_EQ(prepared.image[2 * i], volume.channels[0].at(x, y, z));
    ASSERT_EQ(prepared.image[2 * i + 1], volume.channels[1].at(x, y, z));
    ASSERT_EQ(prepared.truth[i++], volume.truth.at(x, y, z));
  });
  EXPECT_EQ(prepared.training_geometry(), crop(volume.truth, prepared.box).geometry);
}

TEST(Preparing, RefusesACaseThatIsAllBackground) {
  Volume volume = block_volume(oblique_geometry({14, 12, 16}));
  std::ranges::fill(volume.channels[0].voxels, 0);
  prepare(volume, corner_options({10, 8, 10}));
  std::ranges::fill(volume.channels[1].voxels, -5);
  for (const Crop crop : {Crop::foreground, Crop::none}) {
    PrepareOptions options = corner_options({10, 8, 10});
    options.crop = crop;
    expect_failure([&] { prepare(volume, options); }, Exit::bad_data, {"block", "only background"});
  }
}

TEST(Preparing, MeasuresMeanAndDeviationOverTheForegroundOnly) {
  const Volume volume = block_volume(geometry({14, 12, 16}));
  const PreparedCase prepared = prepare(volume, corner_options({10, 8, 10}));
  double sum = 0, squares = 0;
  for (const float value : volume.channels[0].voxels) {
    if (value == 0) continue;
    sum += value;
    squares += double{value} * value;
  }
  const double count = 8 * 6 * 8, mean = sum / count;
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(prepared.statistics.mean[c], mean, 1e-9);
    EXPECT_NEAR(prepared.statistics.deviation[c], std::sqrt(squares / count - mean * mean), 1e-9);
  }
}

TEST(Preparing, WithoutCroppingKeepsTheWholeGrid) {
  PrepareOptions options = corner_options({7, 6, 8});
  options.crop = Crop::none;
  const PreparedCase prepared = prepare(block_volume(geometry({14, 12, 16})), options);
  EXPECT_EQ(prepared.box, (VoxelBox{{0, 0, 0}, {14, 12, 16}}));
  EXPECT_EQ(prepared.training_geometry().spacing, (Spacing{2, 2, 2}));
}

TEST(APreparedTruth, ReturnsToTheOriginalGridExactlyAtWholeFactors) {
  const Volume volume = block_volume(oblique_geometry({14, 12, 16}));
  const PreparedCase prepared = prepare(volume, corner_options({20, 16, 30}));
  const LabelMap back =
      test::restored({prepared.training_geometry(), prepared.truth}, prepared.box, prepared.original);
  EXPECT_EQ(back.voxels, volume.truth.voxels);
  EXPECT_EQ(back.geometry, volume.truth.geometry);
}

TEST(Normalizing, OverTheDataSetTakesTheMeanOfMeansAndOfDeviations) {
  const CaseStatistics one{{1, 10}, {2, 4}, {}, {}}, other{{3, 30}, {4, 0}, {}, {}};
  const Normalization over_both = dataset_normalization({one, other});
  EXPECT_EQ(over_both.mean, (std::vector<double>{2, 20}));
  EXPECT_EQ(over_both.deviation, (std::vector<double>{3, 2}));
  PreparedCase a;
  a.statistics = one;
  a.channels = 2;
  a.image = {5, 40, 2, 20};
  PrepareOptions options;
  options.normalize = Normalize::none;
  EXPECT_EQ(normalization_for(a, options, over_both).deviation, (std::vector<double>{1, 1}));
  options.normalize = Normalize::image;
  EXPECT_EQ(normalization_for(a, options, over_both).mean, one.mean);
  options.normalize = Normalize::dataset;
  EXPECT_EQ(normalize(a, normalization_for(a, options, over_both)).image, (std::vector<float>{1, 10, 0, 0}));
}

TEST(Normalizing, AChannelWithoutContrastGivesNoNaN) {
  PreparedCase flat;
  flat.channels = 1;
  flat.image = {3, 3};
  EXPECT_EQ(normalize(flat, {{3}, {0}}).image, (std::vector<float>{0, 0}));
}

TEST(TargetBits, AreSetForEveryClassThatHoldsTheLabel) {
  EXPECT_EQ(target_bits({0, 1, 2, 4}, {{1, 2, 4}, {1, 4}, {4}}), (std::vector<std::uint8_t>{0, 3, 1, 7}));
}

// Label k belongs to class k - 1, label 1000 to all of them.
TEST(TargetBits, OfMoreThanEightClassesTakeSeveralBytesOfAVoxel) {
  std::vector<std::vector<int>> classes;
  for (int c = 0; c < 17; ++c) classes.push_back({c + 1, 1000});
  EXPECT_EQ(target_bits({0, 1, 9, 1000, 17}, classes),
            (std::vector<std::uint8_t>{0, 0, 0, 1, 0, 0, 0, 1, 0, 255, 255, 1, 0, 0, 1}));
}

TEST(TargetClasses, OfMoreThan255TakeTwoBytesAndTheLargestNumberIsNone) {
  std::vector<std::vector<int>> classes;
  for (int c = 0; c < 300; ++c) classes.push_back({c});
  EXPECT_EQ(target_classes({0, 299, 300}, classes), (std::vector<std::uint8_t>{0, 0, 43, 1, 255, 255}));
  classes.resize(255);
  EXPECT_EQ(target_classes({0, 254, 255}, classes), (std::vector<std::uint8_t>{0, 254, 255}));
}

void expect_equal(const PreparedCase& a, const PreparedCase& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.size, b.size);
  EXPECT_EQ(a.channels, b.channels);
  EXPECT_EQ(a.image, b.image);
  EXPECT_EQ(a.truth, b.truth);
  EXPECT_EQ(a.statistics.mean, b.statistics.mean);
  EXPECT_EQ(a.statistics.deviation, b.statistics.deviation);
  EXPECT_EQ(a.background, b.background);
  EXPECT_EQ(a.box, b.box);
  EXPECT_EQ(a.original, b.original);
}

class Cache : public testing::Test {
 protected:
  Cache() {
    Volume volume = block_volume(oblique_geometry({14, 12, 16}));
    write_image(folder_ / "data/c_t1.nii.gz", volume.channels[0]);
    write_image(folder_ / "data/c_t2.nii.gz", volume.channels[1]);
    write_label_map(folder_ / "data/c_truth.nii.gz", volume.truth);
    dataset_ = open_dataset(files_by_name(folder_ / "data", {{"one", 1}, {"two", 2}}));
  }
  PreparedCase get(const PrepareOptions& options, const fs::path& folder) const {
    return PreparedCache(dataset_, options, folder).get(dataset_.cases[0]);
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> result;
    for (const auto& entry : fs::directory_iterator(folder_.path() / "cache")) result.push_back(entry.path());
    return result;
  }
  TemporaryFolder folder_;
  fs::path cache_ = folder_.path() / "cache";
  Dataset dataset_;
  PrepareOptions options_ = corner_options({16, 16, 16});
};

TEST_F(Cache, GivesOnAHitWhatItGaveOnAMissAndWhatPreparingGives) {
  const PreparedCase direct = get(options_, {});
  expect_equal(get(options_, cache_), direct);
  ASSERT_EQ(files().size(), 1U);
  const auto written = fs::last_write_time(files()[0]);
  expect_equal(get(options_, cache_), direct);
  EXPECT_EQ(fs::last_write_time(files()[0]), written);
}

TEST_F(Cache, RewritesATruncatedFile) {
  const PreparedCase direct = get(options_, cache_);
  const fs::path file = files()[0];
  const auto size = fs::file_size(file);
  const log::Level before = log::level();
  log::set_level(log::Level::error);
  for (const std::uintmax_t kept : {std::uintmax_t{0}, std::uintmax_t{40}, size / 2}) {
    fs::resize_file(file, kept);
    expect_equal(get(options_, cache_), direct);
    EXPECT_EQ(fs::file_size(file), size);
  }
  log::set_level(before);
}

// Flips a bit in every 997th byte, in the header and in the voxels.
TEST_F(Cache, NoticesABitThatIsFlippedWhereverItIsAndSaysSo) {
  const PreparedCase direct = get(options_, cache_);
  const fs::path file = files()[0];
  for (std::size_t at = 0; at < fs::file_size(file); at += 997) {
    flip_bits(file, at, 1 << at % 8);
    testing::internal::CaptureStderr();
    expect_equal(get(options_, cache_), direct);
    EXPECT_TRUE(contains(testing::internal::GetCapturedStderr(), "prepared again")) << "byte " << at;
  }
}

TEST_F(Cache, OfOneCaseIsNotTakenForAnothers) {
  const PreparedCase direct = get(options_, cache_);
  const fs::path one = files()[0];
  PrepareOptions other = options_;
  other.crop = Crop::none;
  get(other, cache_);
  const fs::path second = files()[0] == one ? files()[1] : files()[0];
  fs::copy_file(second, one, fs::copy_options::overwrite_existing);
  expect_equal(get(options_, cache_), direct);
}

TEST_F(Cache, ThatCannotBeWrittenIsDoneWithout) {
  fs::ofstream(folder_.path() / "file") << "a file with this name exists";
  const fs::path impossible = folder_.path() / "file/cache";
  testing::internal::CaptureStderr();
  expect_equal(get(options_, impossible), get(options_, {}));
  EXPECT_TRUE(contains(testing::internal::GetCapturedStderr(), "cannot be cached"));
}

TEST_F(Cache, KeepsDifferentOptionsAndContentsApart) {
  get(options_, cache_);
  PrepareOptions other = options_;
  other.resolution = {16, 16, 32};
  EXPECT_EQ(get(other, cache_).size, other.resolution);
  EXPECT_EQ(files().size(), 2U);
  other = options_;
  other.crop = Crop::none;
  EXPECT_EQ(get(other, cache_).box.size, (Size3{14, 12, 16}));
  EXPECT_EQ(files().size(), 3U);
  other = options_;
  other.corner_background = false;
  EXPECT_EQ(get(other, cache_).background, (std::vector<float>{0, 0}));
  EXPECT_EQ(files().size(), 4U);
  Image image = read_image(folder_ / "data/c_t1.nii.gz");
  image.at(5, 5, 5) += 1;
  write_image(folder_ / "data/c_t1.nii.gz", image);
  expect_equal(get(options_, cache_), get(options_, {}));
  EXPECT_EQ(files().size(), 5U);
}

TEST_F(Cache, IsSharedByNormalizationsForItStoresNone) {
  get(options_, cache_);
  PrepareOptions other = options_;
  other.normalize = Normalize::image;
  get(other, cache_);
  EXPECT_EQ(files().size(), 1U);
}

// Values 1, 2, … 100 in a row of 110 voxels; the other voxels are background.
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

NormalizedCase normalized_as(Normalize how) {
  PrepareOptions options = as_it_is();
  options.normalize = how;
  const PreparedCase prepared = prepare(ramp(), options);
  return normalize(prepared, normalization_for(prepared, options, {{10}, {4}}));
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
  const NormalizedCase made = normalized_as(Normalize::image);
  const double mean = 50.5, deviation = std::sqrt((100.0 * 100 - 1) / 12);  // of 1 … 100
  EXPECT_NEAR(made.image[0], (0 - mean) / deviation, 1e-6);
  EXPECT_NEAR(made.image[5], (1 - mean) / deviation, 1e-6);
}

TEST(Normalization, ThatIsMaskedHasTheBackgroundAtZero) {
  const NormalizedCase made = normalized_as(Normalize::masked), image = normalized_as(Normalize::image);
  for (std::size_t i = 0; i < 110; ++i) EXPECT_EQ(made.image[i], i < 5 || i >= 105 ? 0 : image.image[i]);
}

TEST(Normalization, OfTheWholeImageCountsEveryVoxel) {
  const NormalizedCase made = normalized_as(Normalize::whole);
  const double mean = 5050.0 / 110,
               deviation = std::sqrt(338350.0 / 110 - mean * mean);  // sum of squares of 1 … 100
  EXPECT_NEAR(made.image[0], (0 - mean) / deviation, 1e-6);
  EXPECT_NEAR(made.image[5], (1 - mean) / deviation, 1e-6);
}

TEST(Normalization, OfTheDataSetAndNoneUseWhatTheyAreGiven) {
  EXPECT_EQ(normalized_as(Normalize::dataset).image[5], (1.0F - 10) / 4);
  EXPECT_EQ(normalized_as(Normalize::none).image[5], 1);
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
