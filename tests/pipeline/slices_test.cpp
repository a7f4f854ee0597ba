// Tests the pictures of cases: they are cropped to the head, a truth has its own column, regions have the
// colours of the palette, and the file contains a description.
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "base/file.h"
#include "data/decoders/raster.h"
#include "data/volumes/picture.h"
#include "pipeline/report/slice_view.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

// The width of the picture in pixels.
std::int64_t width_of(const data::Image& image, const data::LabelMap& truth, const data::LabelMap& prediction,
                      const data::Regions& regions) {
  const test::TemporaryFolder folder;
  const fs::path png = folder / "slices.png";
  write_slices(png, {"case", "t1", image, truth, prediction, regions, image.geometry});
  return data::read_png(png, data::PngPart::header, data::RasterMeaning::brightness).width;
}

// A head of 30 voxels in the corner of a grid of 60.
struct Slices : testing::Test {
  data::Image image;
  data::LabelMap labels, no_truth;
  Slices() {
    image.geometry.size = labels.geometry.size = {60, 60, 60};
    image.voxels.assign(60 * 60 * 60, 0);
    labels.voxels.assign(60 * 60 * 60, 0);
    for (std::size_t z = 10; z < 40; ++z) {
      for (std::size_t y = 10; y < 40; ++y) {
        for (std::size_t x = 10; x < 40; ++x) image.voxels[(z * 60 + y) * 60 + x] = static_cast<float>(x);
      }
    }
    labels.voxels[(20 * 60 + 20) * 60 + 20] = 1;
  }
};

// With a margin of one voxel the head has 32 voxels of eight pixels each.
TEST_F(Slices, LeaveOutWhatIsAroundTheHead) {
  EXPECT_EQ(width_of(image, labels, labels, {}), 2 * 32 * 8 + 6);
  image.voxels.back() = 1;  // now the crop has 51 voxels in 288 pixels
  EXPECT_EQ(width_of(image, labels, labels, {}), 2 * 288 + 6);
}

TEST_F(Slices, WithoutATruthHaveOneColumn) {
  EXPECT_EQ(width_of(image, no_truth, labels, {}), 32 * 8);
}

TEST_F(Slices, SayInWordsWhatTheyShow) {
  const data::Regions regions = {{"whole_tumor", {1, 2}}, {"tumor_core", {1}}};
  const std::string png = slices_png({"case", "t1", image, labels, labels, regions, image.geometry});
  EXPECT_EQ(data::png_text(png, "Description"),
            "t1; ground truth left, prediction right; axial slice 21 of 60, coronal slice 21 of 60, sagittal "
            "slice 21 of 60");
  EXPECT_EQ(data::png_text(png, "Comment"), "Outlines: whole_tumor orange, tumor_core sky blue.");
  EXPECT_EQ(slices_caption(png), data::png_text(png, "Description") + ". " + data::png_text(png, "Comment"));
  EXPECT_EQ(slices_caption("no picture"), "");
}

// One file has the canonical axis from inferior to superior first; another has it reversed.
TEST(SliceNumber, IsThatOfTheFile) {
  data::Geometry canonical, stored;
  canonical.size = {10, 20, 30};
  stored.size = {30, 10, 20};
  stored.direction = {0, 1, 0, 0, 0, 1, 1, 0, 0};
  EXPECT_EQ(slice_number(canonical, 2, 4, canonical), "slice 5 of 30");
  EXPECT_EQ(slice_number(canonical, 2, 4, stored), "slice 5 of 30");
  EXPECT_EQ(slice_number(canonical, 0, 4, stored), "slice 5 of 10");
  stored.direction[6] = -1;
  EXPECT_EQ(slice_number(canonical, 2, 4, stored), "slice 26 of 30");
}

// The colours other than grey in a plane of these labels, with their numbers of pixels.
std::map<Color, std::size_t> outlines(const data::Image& image, const data::LabelMap& labels,
                                      const data::Regions& regions) {
  const Plane plane(image.geometry, views[0], labels, to_fit(image.geometry, 288));
  const Pixels picture = painted(plane, image, window_of(image), labels, regions, 2);
  std::map<Color, std::size_t> found;
  for (std::size_t i = 0; i < picture.rgb.size(); i += 3) {
    const Color color{picture.rgb[i], picture.rgb[i + 1], picture.rgb[i + 2]};
    if (color[0] != color[1] || color[1] != color[2]) ++found[color];
  }
  return found;
}

TEST_F(Slices, OutlineRegionsInTheColoursOfThePalette) {
  const std::map<Color, std::size_t> found = outlines(image, labels, {{"none", {7}}, {"one", {1}}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.begin()->first, palette_color(1));
  // One voxel of 4.8 pixels: at most one of its pixels is farther than two pixels from the edge.
  EXPECT_GE(found.begin()->second, 15u);
  EXPECT_LE(found.begin()->second, 25u);
}

TEST_F(Slices, ShowBothColoursWhereOutlinesOverlap) {
  for (std::size_t y = 15; y < 30; ++y)
    for (std::size_t x = 15; x < 30; ++x) labels.voxels[(20 * 60 + y) * 60 + x] = 1;
  const std::map<Color, std::size_t> found = outlines(image, labels, {{"outer", {1, 2}}, {"inner", {1}}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_GT(found.at(palette_color(0)), 100u);
  EXPECT_GT(found.at(palette_color(1)), 100u);
}

TEST_F(Slices, OfDifferentGridsAreRefused) {
  data::LabelMap other = labels;
  other.geometry.spacing = {2, 2, 2};
  test::expect_failure([&] { width_of(image, labels, other, {}); }, Exit::bad_data);
}

}  // namespace
}  // namespace voxswap::pipeline
