// Properties of phantoms: the same subject for the same seed, nested tumours in every case, nothing outside
// the brain, and data sets on disk that read back unchanged.
#include "data/phantoms/phantom.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "data/cases/read_case.h"
#include "data/layouts/dataset.h"
#include "data/layouts/open_dataset.h"
#include "data/phantoms/phantom_layouts.h"
#include "data/prepare/prepare.h"
#include "tests/data/support.h"
#include "tests/expect.h"

namespace voxswap::data {
namespace {

using namespace test;

bool same_voxels(const Volume& a, const Volume& b) {
  for (std::size_t m = 0; m < 4; ++m) {
    if (a.channels[m].voxels != b.channels[m].voxels) return false;
  }
  return a.truth.voxels == b.truth.voxels;
}

std::int64_t count_label(const Volume& volume, std::int16_t label) {
  return std::count(volume.truth.voxels.begin(), volume.truth.voxels.end(), label);
}

class PhantomDataset : public InAFolder {
 protected:
  // Path and content of every file; hidden files contain times.
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(set_)) {
      if (fs::is_regular_file(entry) && !entry.path().filename().string().starts_with("."))
        files[fs::relative(entry, set_).string()] = read_file(entry);
    }
    return files;
  }
  const fs::path set_ = folder_ / "set";
  PhantomOptions options_{set_, 3, {24, 20, 16}, 5, "brats2021"};
};

TEST(Phantom, IsAPureFunctionOfSeedIndexAndSize) {
  const Volume first = phantom(3, 1, {32, 32, 32});
  phantom(4, 0, {20, 20, 20});
  EXPECT_TRUE(same_voxels(first, phantom(3, 1, {32, 32, 32})));
  EXPECT_FALSE(same_voxels(first, phantom(3, 2, {32, 32, 32})));
  EXPECT_FALSE(same_voxels(first, phantom(4, 1, {32, 32, 32})));
}

TEST(Phantom, HasEveryLabelAtEverySize) {
  for (const Size3& size : {Size3{16, 16, 16}, Size3{32, 32, 32}, Size3{48, 40, 16}, Size3{64, 64, 64}}) {
    const int cases = size[0] < 64 ? 12 : 4;
    for (int index = 0; index < cases; ++index) {
      const Volume volume = phantom(1, index, size);
      for (std::int16_t label : {1, 2, 4}) {
        EXPECT_GT(count_label(volume, label), 0)
            << "label " << label << ", case " << index << ", side " << size[0];
      }
      const std::int64_t labelled = count_label(volume, 1) + count_label(volume, 2) + count_label(volume, 4);
      EXPECT_EQ(labelled + count_label(volume, 0), volume.truth.geometry.count());
    }
  }
}

TEST(Phantom, IsZeroOutsideTheBrainInEveryModalityAndNowhereInside) {
  const Volume volume = phantom(2, 0, {48, 48, 48});
  ASSERT_EQ(volume.channels.size(), 4u);
  std::int64_t brain = 0;
  for (std::size_t i = 0; i < volume.truth.voxels.size(); ++i) {
    const bool inside = volume.channels[0].voxels[i] > 0;
    brain += inside;
    for (const Image& channel : volume.channels) ASSERT_EQ(channel.voxels[i] > 0, inside);
    for (const Image& channel : volume.channels) ASSERT_GE(channel.voxels[i], 0);
    ASSERT_TRUE(inside || volume.truth.voxels[i] == 0);
  }
  // An ellipsoid of 124..159 x 151..191 x 121..150 mm in 240 x 240 x 155 mm.
  const double fraction = static_cast<double>(brain) / static_cast<double>(volume.truth.geometry.count());
  EXPECT_GT(fraction, 0.9 * 3.14159 / 6 * 124 * 151 * 121 / (240.0 * 240 * 155));
  EXPECT_LT(fraction, 1.1 * 3.14159 / 6 * 159 * 191 * 150 / (240.0 * 240 * 155));
}

// Necrosis borders on enhancing tumour or on the edge of the brain, never on healthy tissue. Enhancing tumour
// is separated from healthy tissue by at least 4 mm of oedema, two voxels of 2.5 mm.
TEST(Phantom, NestsNecrosisInEnhancingTumorInOedema) {
  for (int index = 0; index < 3; ++index) {
    const Volume volume = phantom(1, index, {96, 96, 62});
    const LabelMap& truth = volume.truth;
    const auto [nx, ny, nz] = truth.geometry.size;
    std::int64_t necrosis = 0, bare = 0;
    for_each_voxel({1, 1, 1}, {nx - 1, ny - 1, nz - 1}, [&](auto x, auto y, auto z) {
      if (truth.at(x, y, z) == 0) return;
      const std::array<std::int16_t, 6> near = {truth.at(x - 1, y, z), truth.at(x + 1, y, z),
                                                truth.at(x, y - 1, z), truth.at(x, y + 1, z),
                                                truth.at(x, y, z - 1), truth.at(x, y, z + 1)};
      const bool by_healthy = std::find(near.begin(), near.end(), 0) != near.end();
      const bool by_oedema = std::find(near.begin(), near.end(), 2) != near.end();
      if (truth.at(x, y, z) == 1) ++necrosis, bare += by_healthy || by_oedema;
      if (truth.at(x, y, z) != 4 || volume.channels[0].at(x, y, z) == 0 || !by_healthy) return;
      bool at_edge = false;  // the edge of the brain cuts the tumour off
      for (std::int64_t i = -1; i <= 1; ++i) {
        at_edge = at_edge || volume.channels[0].at(x + i, y, z) == 0 ||
                  volume.channels[0].at(x, y + i, z) == 0 || volume.channels[0].at(x, y, z + i) == 0;
      }
      EXPECT_TRUE(at_edge) << "enhancing tumour on healthy tissue at " << x << ", " << y << ", " << z;
    });
    EXPECT_GT(necrosis, 0);
    EXPECT_EQ(bare, 0) << "case " << index;
  }
}

TEST(Phantom, CoversTheFieldOfViewOfBratsAtAnySize) {
  const Geometry coarse = phantom(1, 0, {60, 60, 31}).geometry();
  EXPECT_EQ(coarse.spacing, (Spacing{4, 4, 5}));
  // The corner of the corner voxel is that of 240x240x155 voxels of 1 mm at (0, -239, 0).
  EXPECT_EQ(coarse.origin, (std::array<double, 3>{-0.5 + 2, -239.5 + 2, -0.5 + 2.5}));
  EXPECT_EQ(coarse.direction, Geometry{}.direction);
}

TEST(Phantom, RefusesGridsTooSmallToShowATumor) {
  EXPECT_THROW(phantom(1, 0, {15, 32, 32}), Error);
}

TEST_F(PhantomDataset, IsUnchangedWhenCompleteAndCompletedWhenNot) {
  ASSERT_TRUE(write_phantoms(options_));
  const auto before = contents();
  EXPECT_FALSE(write_phantoms(options_));
  fs::remove(set_ / "BraTS2021_00001" / "BraTS2021_00001_t2.nii.gz");
  EXPECT_TRUE(write_phantoms(options_));
  EXPECT_TRUE(contents() == before) << "the same options gave other bytes";
}

TEST_F(PhantomDataset, OfOtherOptionsReplacesItsOwnFilesOnly) {
  ASSERT_TRUE(write_phantoms(options_));
  write_file(set_ / "BraTS2021_00002" / "notes.txt", "mine");
  options_.cases = 1;
  EXPECT_TRUE(write_phantoms(options_));
  EXPECT_FALSE(fs::exists(set_ / "BraTS2021_00001"));
  EXPECT_FALSE(fs::exists(set_ / "BraTS2021_00002" / "BraTS2021_00002_t1.nii.gz"));
  EXPECT_EQ(read_file(set_ / "BraTS2021_00002" / "notes.txt"), "mine");
}

TEST_F(PhantomDataset, NeverOverwritesFilesThatAreNoPhantoms) {
  fs::create_directories(set_ / "BraTS2021_00001");
  write_file(set_ / "BraTS2021_00001" / "BraTS2021_00001_t1.nii.gz", "a real scan");
  expect_failure([&] { write_phantoms(options_); }, Exit::usage);
  EXPECT_EQ(contents().size(), 1u);
}

TEST_F(PhantomDataset, OfOtherOptionsReplacesNothingWhenAFileWasChanged) {
  ASSERT_TRUE(write_phantoms(options_));
  const fs::path edited = set_ / "BraTS2021_00002" / "BraTS2021_00002_seg.nii.gz";
  write_file(edited, "segmented by hand");
  const auto before = contents();
  options_.cases = 1;
  expect_failure([&] { write_phantoms(options_); }, Exit::usage, {edited.string(), "changed"});
  EXPECT_TRUE(contents() == before);
}

TEST_F(PhantomDataset, IsNotRemovedOnTheWordOfADescriptionThatVoxswapDidNotWrite) {
  ASSERT_TRUE(write_phantoms(options_));
  fs::rename(set_, folder_ / "phantoms");
  fs::create_directories(set_ / "BraTS2021_00000");
  write_file(set_ / "BraTS2021_00000" / "BraTS2021_00000_t1.nii.gz", "a real scan");
  fs::copy_file(folder_ / "phantoms" / "phantom.json", set_ / "phantom.json");
  const auto before = contents();
  options_.seed = 6;
  expect_failure([&] { write_phantoms(options_); }, Exit::usage, {"phantom.json"});
  EXPECT_TRUE(contents() == before);
}

TEST_F(PhantomDataset, OfOtherOptionsRemovesNothingBehindALink) {
  ASSERT_TRUE(write_phantoms(options_));
  fs::rename(set_ / "BraTS2021_00001", folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", set_ / "BraTS2021_00001");
  options_.cases = 1;
  expect_failure([&] { write_phantoms(options_); }, Exit::usage, {"BraTS2021_00001"});
  EXPECT_TRUE(fs::exists(folder_ / "elsewhere" / "BraTS2021_00001_t1.nii.gz"));
}

TEST_F(PhantomDataset, RefusesOptionsThatMakeNoSense) {
  for (const auto& spoil : {+[](PhantomOptions& o) { o.cases = 0; },
                            +[](PhantomOptions& o) {
                              o.size = {8, 8, 8};
                            },
                            +[](PhantomOptions& o) { o.layout = "nifti"; }}) {
    PhantomOptions spoiled = options_;
    spoil(spoiled);
    SCOPED_TRACE(
        format("{} cases of {} voxels along x, as {}", spoiled.cases, spoiled.size[0], spoiled.layout));
    expect_failure([&] { write_phantoms(spoiled); }, Exit::usage);
  }
  EXPECT_FALSE(fs::exists(set_));
}

// --- All layouts give identical prepared volumes

DatasetOptions options_for(const std::string& layout, const fs::path& root) {
  DatasetOptions options = at(root);
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
  phantoms.cases = 2;
  phantoms.size = {20, 24, 18};
  phantoms.seed = 7;
  phantoms.layout = GetParam();
  ASSERT_TRUE(write_phantoms(phantoms));
  const Dataset dataset = open_dataset(options_for(GetParam(), phantoms.out));
  ASSERT_EQ(dataset.cases.size(), 2u) << dataset.recognised;
  std::vector<std::string> regions;  // BraTS 2024 has a fourth one, which phantoms lack
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
    EXPECT_EQ(prepared.statistics.mean, expected.statistics.mean);
    EXPECT_EQ(prepared.statistics.deviation, expected.statistics.deviation);
    EXPECT_TRUE(same_grid(prepared.original, expected.original)) << describe(prepared.original);
    // Label values differ between layouts; the resulting regions do not.
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
