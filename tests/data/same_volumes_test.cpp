// One and the same phantom, written in every layout there is, becomes the same prepared volume to the last
// bit.
#include "base/file.h"
#include "data/cases/read_case.h"
#include "data/layouts/dataset.h"
#include "data/layouts/open_dataset.h"
#include "data/phantoms/phantom.h"
#include "data/phantoms/phantom_layouts.h"
#include "data/prepare/prepare.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

constexpr int cases = 2;

DatasetOptions options_for(const std::string& layout, const fs::path& root) {
  DatasetOptions options;
  options.root = root;
  options.modalities = {"t1", "t1ce", "t2", "flair"};
  if (layout == "nrrd" || layout == "mha") {
    for (const std::string name : {"t1", "t1ce", "t2", "flair", "truth"})
      options.files[name] = "{case}/" + name + "." + layout;
    options.labels = {{"necrosis", 1}, {"oedema", 2}, {"enhancing", 4}};
  }
  if (layout == "dicom") options.labels = {{"necrosis", 1}, {"oedema", 2}, {"enhancing", 4}};
  return options;
}

std::vector<std::vector<int>> classes_of(const Dataset& dataset) {
  std::vector<std::vector<int>> classes;
  for (const auto& [name, values] : dataset.regions) classes.push_back(values);
  return classes;
}

class EveryLayout : public testing::TestWithParam<std::string> {};

TEST_P(EveryLayout, GivesThePreparedVolumesOfThePhantomsBitByBit) {
  const TemporaryFolder folder;
  PhantomOptions phantoms;
  phantoms.out = folder.path() / "set";
  phantoms.cases = cases;
  phantoms.size = {20, 24, 18};
  phantoms.seed = 7;
  phantoms.layout = GetParam();
  ASSERT_TRUE(write_phantoms(phantoms));
  const Dataset dataset = open_dataset(options_for(GetParam(), phantoms.out));
  ASSERT_EQ(dataset.cases.size(), static_cast<std::size_t>(cases)) << dataset.recognised;
  std::vector<std::string> regions;  // BraTS 2024 has a fourth, which phantoms lack
  for (const auto& [name, values] : dataset.regions) regions.push_back(name);
  regions.resize(3);
  EXPECT_EQ(regions, (std::vector<std::string>{"whole_tumor", "tumor_core", "enhancing_tumor"}))
      << dataset.recognised;

  PrepareOptions options;
  options.resolution = {16, 16, 16};
  for (std::size_t i = 0; i < dataset.cases.size(); ++i) {
    const Volume made = phantom(phantoms.seed, static_cast<int>(i), phantoms.size);
    const PreparedCase expected = prepare(made, options);
    const PreparedCase prepared = prepare(read_case(dataset, dataset.cases[i]), options);
    EXPECT_TRUE(prepared.image == expected.image);
    EXPECT_EQ(prepared.box, expected.box);
    EXPECT_EQ(prepared.mean, expected.mean);
    EXPECT_EQ(prepared.deviation, expected.deviation);
    EXPECT_TRUE(same_grid(prepared.original, expected.original)) << describe(prepared.original);
    // Label values differ from layout to layout; the regions that they make do not.
    EXPECT_EQ(target_bits(prepared.truth, classes_of(dataset)),
              target_bits(expected.truth, {{1, 2, 4}, {1, 4}, {4}}));
  }
  EXPECT_FALSE(write_phantoms(phantoms)) << "a complete set is left alone";
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const PhantomLayout& layout : phantom_layouts())
    if (!layout.of_slices && !layout.of_ct) result.push_back(layout.name);
  return result;
}
INSTANTIATE_TEST_SUITE_P(, EveryLayout, testing::ValuesIn(names()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace voxswap::data
