// Predicts scans in other layouts and storage orders than those of training, with the training data gone.
#include "pipeline/predict/new_scans.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "data/phantoms/phantom.h"
#include "data/phantoms/phantom_layouts.h"
#include "data/volumes/orientation.h"
#include "pipeline/train/train.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

class NewScans : public test::InASharedFolder<NewScans> {
 protected:
  static void write_phantoms_as(const std::string& layout, int cases) {
    data::write_phantoms({.out = folder() / layout, .cases = cases, .size = {20, 24, 18}, .layout = layout});
  }
  static Experiment& experiment() {
    static Experiment one;
    return one;
  }
  static data::LabelMap expected(int index) {
    return data::read_label_map(folder() / format("expected/BraTS2021_{:05}.nii.gz", index));
  }

 public:
  // One short training on nnU-Net's layout; its data is moved away afterwards.
  static void make() {
    write_phantoms_as("nnunet", 3);
    experiment().data.root = folder() / "nnunet";
    experiment().data.modalities = {"flair", "t1ce"};
    experiment().output = folder() / "run";
    experiment().memory.device = "reference";
    experiment().network = {.base_filters = 2, .depth = 2};
    experiment().preprocess.resolution = {12, 12, 12};
    experiment().preprocess.normalize = data::Normalize::image;
    experiment().training.epochs = 1;
    train(experiment(), {});
    fs::rename(folder() / "nnunet", folder() / "gone");
    write_phantoms_as("brats2021", 2);
    predict({{experiment()}}, folder() / "brats2021", folder() / "expected", {});
  }
};

TEST_F(NewScans, AreSegmentedAlikeInWhateverLayoutTheyCome) {
  EXPECT_NE(expected(0).voxels, std::vector<std::int16_t>(20 * 24 * 18, 0));  // else trivially equal
  for (const auto& [layout, id] :
       {std::pair{"brats2023", "BraTS-GLI-00001-000"}, std::pair{"nnunet", "PHANTOM_001"},
        std::pair{"dicom", "phantom_001"}, std::pair{"brats2018", "Brats18_TCIA_001_1"}}) {
    write_phantoms_as(layout, 2);
    predict({{experiment()}}, folder() / layout, folder() / "out" / layout, {});
    const data::LabelMap found =
        data::read_label_map(folder() / "out" / layout / (std::string(id) + ".nii.gz"));
    EXPECT_EQ(found.voxels, expected(1).voxels) << layout;
    EXPECT_TRUE(data::same_grid(found.geometry, expected(1).geometry))
        << layout << data::describe(found.geometry);
  }
}

// In BIDS, names are letters and digits.
TEST_F(NewScans, AreRefusedIfTwoWouldBeOneSubjectOfBids) {
  for (const char* name : {"P-01", "P_01"})
    for (const char* channel : {"flair", "t1ce"}) {
      fs::create_directories(folder() / "alike" / name);
      fs::copy_file(folder() / format("brats2021/BraTS2021_00000/BraTS2021_00000_{}.nii.gz", channel),
                    folder() / "alike" / name / (std::string(channel) + ".nii.gz"));
    }
  PredictOptions how;
  how.bids = true;
  test::expect_failure([&] { predict({{experiment()}}, folder() / "alike", folder() / "out/alike", how); },
                       Exit::bad_data, {"P_01", "is the label map of case P-01"});
  EXPECT_FALSE(fs::exists(folder() / "out/alike/sub-P01"));
}

// The axes are permuted and two of them flipped, with a matching affine.
TEST_F(NewScans, GetLabelMapsOnTheGridOfTheirFilesExactly) {
  const fs::path from = folder() / "brats2021/BraTS2021_00000", to = folder() / "turned/BraTS2021_00000";
  data::Geometry stored;
  fs::create_directories(to);
  for (const char* channel : {"t1", "t1ce", "t2", "flair"}) {
    const std::string name = format("BraTS2021_00000_{}.nii.gz", channel);
    const data::Image image = data::read_image(from / name);
    const data::Geometry& straight = image.geometry;
    stored = straight;
    stored.size = {straight.size[2], straight.size[0], straight.size[1]};
    stored.spacing = {straight.spacing[2], straight.spacing[0], straight.spacing[1]};
    stored.direction = {0, -1, 0, 0, 0, 1, -1, 0, 0};  // first axis to inferior, second to the right
    stored.origin[0] += straight.spacing[0] * static_cast<double>(straight.size[0] - 1);
    stored.origin[2] += straight.spacing[2] * static_cast<double>(straight.size[2] - 1);
    data::write_image(to / name, data::as_stored(image, stored));
  }
  predict({{experiment()}}, folder() / "turned", folder() / "out/turned", {});
  const data::LabelMap found = data::read_label_map(folder() / "out/turned/BraTS2021_00000.nii.gz");
  EXPECT_TRUE(
      data::same_grid(found.geometry, data::read_header(to / "BraTS2021_00000_flair.nii.gz").geometry))
      << data::describe(found.geometry);
  EXPECT_EQ(found.voxels, data::as_stored(expected(0), stored).voxels);
}

}  // namespace
}  // namespace voxswap::pipeline
