// Pictures of cases: what is around the head is cut off, a truth has a column of its own, labels are named.
#include "pipeline/report/slices.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/filesystem.h"
#include "pipeline/report/lettering.h"
#include "pipeline/report/slice_view.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

// Of the PNG's header: big-endian, from byte 16.
std::pair<int, int> size_of(const data::Image& image, const data::LabelMap& truth,
                            const data::LabelMap& prediction, const data::Labels& names) {
  const test::TemporaryFolder folder;
  const fs::path png = folder / "slices.png";
  write_slices(png, {"case", "t1", image, truth, prediction, names, image.geometry});
  const std::string bytes = read_file(png);
  const auto number_at = [&](std::size_t at) {
    int value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value * 256 + static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  return {number_at(16), number_at(20)};
}

// A head of 30 voxels in a corner of 60.
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

// A voxel of margin on either side of the head gives 32 voxels, of eight pixels each.
TEST_F(Slices, LeaveOutWhatIsAroundTheHead) {
  EXPECT_EQ(size_of(image, labels, labels, {}).first, 2 * 32 * 8 + 6);
  image.voxels.back() = 1;  // now all of the grid is wanted but its first planes: 51 voxels in 288 pixels
  EXPECT_EQ(size_of(image, labels, labels, {}).first, 2 * 288 + 6);
}

// Letters are 12 pixels wide; the longest caption has 25.
TEST_F(Slices, WithoutATruthHaveOneColumnAsWideAsTheirCaptions) {
  EXPECT_EQ(size_of(image, no_truth, labels, {}).first, 25 * 12);
}

TEST_F(Slices, NameTheirLabelsInLinesThatFit) {
  const int without = size_of(image, labels, labels, {}).second, line = 2 * static_cast<int>(line_height);
  EXPECT_EQ(size_of(image, labels, labels, {{"oedema", 1}}).second, without + line);
  EXPECT_EQ(size_of(image, labels, labels, {{std::string(30, 'a'), 1}, {std::string(30, 'b'), 2}}).second,
            without + 2 * line);
}

// A file whose first axis is the canonical one from inferior to superior, and another that runs the other
// way.
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

// Red, green and blue of every pixel: the legend shows the very colours of the outlines.
TEST_F(Slices, OutlineLabelsInTheColoursOfTheLegend) {
  const data::Geometry& grid = image.geometry;
  const Plane plane(grid, views[0], labels, to_fit(grid, 288));
  Pixels picture(plane.width(), plane.height());
  paint(picture, 0, 0, plane, image, window_of(image), labels, 2);
  std::size_t outlined = 0;
  for (std::size_t i = 0; i < picture.rgb.size(); i += 3) {
    const Color color{picture.rgb[i], picture.rgb[i + 1], picture.rgb[i + 2]};
    const bool grey = color[0] == color[1] && color[1] == color[2];
    if (!grey) {
      EXPECT_EQ(color, label_color(1));
      ++outlined;
    }
  }
  // One voxel of 4.8 pixels: all of it lies within two pixels of its edge but at most one.
  EXPECT_GE(outlined, 15u);
  EXPECT_LE(outlined, 25u);
}

TEST_F(Slices, OfDifferentGridsAreRefused) {
  data::LabelMap other = labels;
  other.geometry.spacing = {2, 2, 2};
  try {
    size_of(image, labels, other, {});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::bad_data);
  }
}

}  // namespace
}  // namespace voxswap::pipeline
