// Findings of `voxswap check` that do not prevent reading, and its report on a valid data set.
#include "data/cases/check.h"

#include <algorithm>

#include "base/file.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "data/prepare/resolution_advice.h"
#include "data/volumes/orientation.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

const Geometry case_grid = geometry({9, 8, 7});

// Three cases of two channels: a block of foreground on 0, with labels in it.
class Checking : public testing::Test {
 protected:
  Checking() {
    std::uint64_t seed = 0;
    for (const char* id : {"a", "b", "c"}) {
      write_image(file(id, "t1"), block(++seed));
      write_image(file(id, "t2"), block(++seed));
      write_label_map(file(id, "truth"), labels());
    }
    options_.data = files_by_name(folder_.path(), {{"one", 1}, {"two", 2}});
  }
  fs::path file(const std::string& id, const std::string& what) const {
    return folder_ / format("{}_{}.nii.gz", id, what);
  }
  static bool in_block(std::int64_t x, std::int64_t y, std::int64_t z) {
    return x >= 2 && x < 7 && y >= 2 && y < 6 && z >= 2 && z < 5;
  }
  template <class T>
  static void blank_outside(Grid<T>& voxels) {
    for_each_voxel(case_grid.size, [&](auto x, auto y, auto z) {
      if (!in_block(x, y, z)) voxels.at(x, y, z) = 0;
    });
  }
  static Image block(std::uint64_t seed) {
    Image image = random_image(case_grid, seed);
    blank_outside(image);
    return image;
  }
  static LabelMap labels() {
    LabelMap truth = random_labels(case_grid, {1});
    blank_outside(truth);
    truth.at(3, 3, 3) = 2;
    return truth;
  }
  // Exactly one problem of this severity contains all of `parts`; returns it.
  Problem expect_problem(const std::string& severity, const std::vector<std::string>& parts) const {
    std::vector<Problem> found;
    for (const Problem& problem : check_dataset(options_).problems) {
      const bool fits = std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
        return (problem.case_id + ": " + problem.what + " " + problem.fix).find(part) != std::string::npos;
      });
      if (fits) found.push_back(problem);
    }
    EXPECT_EQ(found.size(), 1U) << parts.front();
    if (found.empty()) return {};
    EXPECT_EQ(found[0].severity, severity);
    return found[0];
  }
  TemporaryFolder folder_;
  CheckOptions options_;
};

TEST_F(Checking, FindsNothingWrongAndReportsGridsTypesForegroundsAndLabels) {
  const CheckReport report = check_dataset(options_);
  for (const Problem& problem : report.problems) ADD_FAILURE() << problem.what;
  ASSERT_EQ(report.cases.size(), 3U);
  const CaseFacts& facts = report.cases[1];
  EXPECT_EQ(facts.id, "b");
  EXPECT_EQ(facts.grid->size, case_grid.size);
  EXPECT_EQ(facts.axes, "LPS");
  EXPECT_EQ(facts.elements, (std::vector<std::string>{"float32", "float32"}));
  EXPECT_EQ(facts.foreground, (Size3{7, 6, 5}));  // the block plus a margin of one voxel
  EXPECT_EQ(facts.labels, (std::map<int, std::int64_t>{{1, 59}, {2, 1}}));
}

TEST_F(Checking, FindsThatOneCaseIsTooFewToTrain) {
  for (const char* id : {"b", "c"})
    for (const char* what : {"t1", "t2", "truth"}) fs::remove(file(id, what));
  expect_problem("warning", {"only 1 case has a ground truth", "add cases"});
}

TEST_F(Checking, FindsTheSameScanUnderTwoNames) {
  fs::copy_file(file("a", "t1"), file("c", "t2"), fs::copy_options::overwrite_existing);
  expect_problem("warning", {"c: ", "t2 has the same voxels as t1 of a"});
  for (const char* channel : {"t1", "t2"})
    fs::copy_file(file("b", channel), file("c", channel), fs::copy_options::overwrite_existing);
  expect_problem("warning", {"c: ", "case c has the same voxels as b in every channel", "remove one"});
}

TEST_F(Checking, FindsTheSameScanStoredInAnotherOrder) {
  Geometry flipped = case_grid;
  flipped.direction = {-1, 0, 0, 0, 1, 0, 0, 0, 1};
  flipped.origin = {8, 0, 0};
  write_image(file("b", "t1"), as_stored(read_image(file("a", "t1")), flipped));
  expect_problem("warning", {"b: ", "t1 has the same voxels as t1 of a"});
}

TEST_F(Checking, FindsAnEmptyForeground) {
  for (const char* channel : {"t1", "t2"})
    write_image(file("b", channel),
                Image{case_grid, std::vector<float>(static_cast<std::size_t>(case_grid.count()), 0)});
  expect_problem("error", {"b: ", "all channels contain only background"});
  expect_problem("warning", {"b_t1.nii.gz: all voxels have the value 0"});
}

TEST_F(Checking, FindsLabelsBesideTheHead) {
  LabelMap truth = labels();
  std::reverse(truth.voxels.begin(), truth.voxels.end());
  truth.at(0, 0, 0) = truth.at(1, 0, 0) = truth.at(2, 0, 0) = 1;
  write_label_map(file("b", "truth"), truth);
  expect_problem("warning", {"b_truth.nii.gz", "every channel is background in "});
}

TEST_F(Checking, DoesNotExpectIgnoredVoxelsInTheHead) {
  LabelMap truth = labels();
  std::ranges::replace(truth.voxels, std::int16_t{0}, std::int16_t{9});
  write_label_map(file("b", "truth"), truth);
  options_.data.ignore_label = 9;
  for (const Problem& problem : check_dataset(options_).problems)
    EXPECT_EQ(problem.what.find("every channel is background"), std::string::npos) << problem.what;
}

TEST_F(Checking, FindsFloatLabelsLongVoxelsAndOddScans) {
  const LabelMap truth = labels();
  Image stored{case_grid, {truth.voxels.begin(), truth.voxels.end()}};
  write_image(file("a", "truth"), stored);
  for (const Problem& problem : check_dataset(options_).problems)
    EXPECT_EQ(problem.what.find("a_truth"), std::string::npos) << problem.what;
  stored.voxels[0] = 0.9999f;
  write_image(file("a", "truth"), stored);
  expect_problem("warning", {"a_truth.nii.gz", "non-integer labels are rounded, e.g. 0.9999"});
  for (const char* what : {"t1", "t2"}) {
    Image image = block(17 + static_cast<std::uint64_t>(what[1]));
    image.geometry.spacing = {1, 1, 5};
    write_image(file("b", what), image);
  }
  LabelMap thick = labels();
  thick.geometry.spacing = {1, 1, 5};
  write_label_map(file("b", "truth"), thick);
  expect_problem("warning", {"b_t1.nii.gz", "1x1x5 mm", "5.0 : 1"});
  expect_problem("warning", {"b: ", "5 mm^3, while the median is 1 mm^3"});
}

TEST_F(Checking, OfUnalignedChannelsIsAnErrorOrWhenResamplingIsAskedForAWarning) {
  Image image = block(30);
  image.geometry.origin = {0.5, 0, 0};
  write_image(file("b", "t2"), image);
  expect_problem("error", {"b_t2.nii.gz", "different grid", "data.align: true"});
  image.geometry.origin = {500, 0, 0};
  write_image(file("b", "t2"), image);
  expect_problem("error", {"b_t2.nii.gz", "different grid", "hardly overlap", "another patient"});
  image.geometry.origin = {0.5, 0, 0};
  write_image(file("b", "t2"), image);
  options_.data.align = true;
  expect_problem("warning", {"b_t2.nii.gz", "is resampled onto the grid of b_t1.nii.gz"});
}

// Computed by hand: sides rounded up to multiples of 16; the share of voxels kept is the product over the
// axes.
TEST(SensibleResolutions, FitTheMedianAndTheLargestForeground) {
  const std::vector<Size3> foregrounds = {{120, 150, 130}, {140, 170, 140}, {160, 192, 150}};
  const auto advice = sensible_resolutions(foregrounds);
  const auto of = [&](const Size3& size) {
    const auto found = std::find_if(advice.begin(), advice.end(),
                                    [&](const ResolutionAdvice& one) { return one.size == size; });
    return found == advice.end() ? ResolutionAdvice{} : *found;
  };
  EXPECT_EQ(of({160, 192, 160}).shrunk, 0);
  EXPECT_EQ(of({160, 192, 160}).kept, 1);
  EXPECT_EQ(of({192, 192, 192}).shrunk, 0);
  EXPECT_EQ(of({144, 176, 144}).shrunk, 1);
  EXPECT_NEAR(of({144, 176, 144}).kept, (1 + 1 + 0.9 * 176 / 192 * 0.96) / 3, 1e-12);
  EXPECT_EQ(of({144, 144, 144}).shrunk, 3);
  EXPECT_EQ(of({96, 96, 96}).shrunk, 3);
  for (std::size_t i = 1; i < advice.size(); ++i) {
    const auto count = [&](std::size_t j) {
      return advice[j].size[0] * advice[j].size[1] * advice[j].size[2];
    };
    EXPECT_LE(count(i - 1), count(i));
  }
  EXPECT_TRUE(sensible_resolutions({}).empty());
}

}  // namespace
}  // namespace voxswap::data
