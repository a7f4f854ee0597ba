// Cases prepared at a spacing, and CT normalisation, compared with their definitions.
#include "data/prepare/prepare.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

// A channel with a block of foreground that begins at (2, 3, 4), with labels in it.
Volume labelled_block(const Size3& block) {
  const Geometry grid = oblique_geometry({block[0] + 5, block[1] + 6, block[2] + 7});  // 0.9, 1.2, 2.5 mm
  const Image random = random_image(grid, 7);
  Volume volume;
  volume.id = "block";
  volume.channels = {{grid, std::vector<float>(random.voxels.size())}};
  volume.truth = {grid, std::vector<std::int16_t>(random.voxels.size())};
  for_each_voxel({2, 3, 4}, {2 + block[0], 3 + block[1], 4 + block[2]}, [&](auto x, auto y, auto z) {
    volume.channels[0].at(x, y, z) = random.at(x, y, z);
    volume.truth.at(x, y, z) = static_cast<std::int16_t>(x % 3);
  });
  return volume;
}

TEST(PreparingAtASpacing, GivesEveryCaseItsOwnSize) {
  PrepareOptions options;
  options.spacing = {1.8, 1.2, 1.25};
  for (const Size3& block : {Size3{10, 8, 6}, Size3{13, 9, 4}}) {
    const PreparedCase prepared = prepare(labelled_block(block), options);
    // The foreground's box has a margin of one voxel.
    EXPECT_EQ(prepared.size, (Size3{(block[0] + 3) / 2, block[1] + 2, 2 * (block[2] + 2)}));
    EXPECT_EQ(prepared.image.size(), prepared.truth.size());
    EXPECT_NEAR(prepared.training_geometry().spacing[2], 1.25, 1e-12);
  }
}

TEST(PreparingAtASpacing, KeepsTheBackgroundAndTheStatisticsOfTheVoxelsAsTheyWere) {
  PrepareOptions options;
  options.spacing = {0.6, 0.8, 1.5};
  const Volume volume = labelled_block({10, 8, 6});
  const PreparedCase prepared = prepare(volume, options);
  double sum = 0, count = 0;
  for (const float value : volume.channels[0].voxels) {
    sum += value;
    count += value == 0 ? 0 : 1;
  }
  EXPECT_NEAR(prepared.statistics.mean[0], sum / count, 1e-9);
  EXPECT_EQ(prepared.image.front(), 0);
  EXPECT_EQ(prepared.image.back(), 0);
  const auto background = std::count(prepared.image.begin(), prepared.image.end(), 0.0F);
  const double share = static_cast<double>(background) / static_cast<double>(prepared.image.size());
  EXPECT_NEAR(share, 1 - 10.0 * 8 * 6 / (12 * 10 * 8), 0.05);
}

TEST(PreparingAtASpacing, TakesATruthBackToItsOwnGrid) {
  PrepareOptions options;
  options.spacing = {0.3, 0.4, 1.25};
  const Volume volume = labelled_block({10, 8, 6});
  const PreparedCase prepared = prepare(volume, options);
  const LabelMap back =
      test::restored({prepared.training_geometry(), prepared.truth}, prepared.box, prepared.original);
  EXPECT_EQ(back.voxels, volume.truth.voxels);
}

CaseStatistics labelled(const std::vector<float>& values) {
  return {{0}, {0}, values, {}};
}

// numpy.percentile(range(1, 201), [0.5, 99.5]) is 1.995 and 199.005.
TEST(NormalizingCt, ClipsToThePercentilesOfAllLabelledVoxelsAndTakesTheirMeanAndDeviation) {
  std::vector<CaseStatistics> cases(2, labelled({}));
  for (int value = 1; value <= 200; ++value) cases[value % 2].labelled.push_back(static_cast<float>(value));
  const Normalization found = dataset_normalization(cases, Normalize::ct);
  const double deviation = std::sqrt((200.0 * 200 - 1) / 12);
  EXPECT_NEAR(found.mean[0], 100.5, 1e-9);
  EXPECT_NEAR(found.deviation[0], deviation, 1e-9);
  EXPECT_NEAR(found.low[0], 1.995, 1e-5);
  EXPECT_NEAR(found.high[0], 199.005, 1e-4);
  PreparedCase image;
  image.channels = 1;
  image.background = {-1000};
  image.image = {-1000, 50, 3000};
  PrepareOptions options;
  options.normalize = Normalize::ct;
  const NormalizedCase made = normalize(image, normalization_for(image, options, found));
  EXPECT_NEAR(made.image[0], (1.995 - 100.5) / deviation, 1e-5);
  EXPECT_NEAR(made.image[1], (50 - 100.5) / deviation, 1e-5);
  EXPECT_NEAR(made.image[2], (199.005 - 100.5) / deviation, 1e-5);
}

TEST(NormalizingCt, NeedsLabelledVoxels) {
  expect_failure([] { dataset_normalization({labelled({})}, Normalize::ct); }, Exit::bad_data,
                 {"preprocess.normalize", "labelled voxels", "1 training case"});
}

TEST(LabelledVoxels, AreAllOfFewAndEvenlyTenThousandOfMany) {
  PrepareOptions options;
  options.resolution = {8, 8, 8};
  EXPECT_EQ(prepare(labelled_block({10, 8, 6}), options).statistics.labelled.size(), 7u * 8 * 6);
  EXPECT_EQ(prepare(labelled_block({40, 40, 40}), options).statistics.labelled.size(), 10000u);
}

}  // namespace
}  // namespace voxswap::data
