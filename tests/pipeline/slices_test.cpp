// Pictures of cases: what is around the head is cut off, a truth has a column of its own, labels are named.
#include "pipeline/slices.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "pipeline/lettering.h"

namespace voxswap {
namespace {

namespace fs = std::filesystem;

// Of the PNG's header: big-endian, from byte 16.
std::pair<int, int> size_of(const Image& image, const LabelMap& truth, const LabelMap& prediction,
                            const Labels& names) {
  const fs::path png = fs::path(testing::TempDir()) / format("voxswap_slices_{}.png", ::getpid());
  write_slices(png, image, truth, prediction, names);
  const std::string bytes = read_file(png);
  fs::remove(png);
  const auto number_at = [&](std::size_t at) {
    int value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value * 256 + static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  return {number_at(16), number_at(20)};
}

// A head of 30 voxels in a corner of 60.
struct Slices : testing::Test {
  Image image;
  LabelMap labels, no_truth;
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

TEST_F(Slices, LeaveOutWhatIsAroundTheHead) {
  const auto head = size_of(image, labels, labels, {});
  image.voxels.back() = 1;  // now all of the grid is wanted but its first planes
  const auto all = size_of(image, labels, labels, {});
  EXPECT_EQ(head.first, 2 * 32 * 4 + 6);  // a voxel of margin on either side, four pixels each
  EXPECT_GT(all.first, 3 * head.first / 2);
}

TEST_F(Slices, WithoutATruthHaveOneColumn) {
  EXPECT_EQ(size_of(image, no_truth, labels, {}).first, 32 * 4);
}

TEST_F(Slices, NameTheirLabelsInLinesThatFit) {
  const int without = size_of(image, labels, labels, {}).second;
  EXPECT_EQ(size_of(image, labels, labels, {{"oedema", 1}}).second, without + static_cast<int>(line_height));
  EXPECT_EQ(size_of(image, labels, labels, {{std::string(30, 'a'), 1}, {std::string(30, 'b'), 2}}).second,
            without + 2 * static_cast<int>(line_height));
}

TEST_F(Slices, OfDifferentGridsAreRefused) {
  LabelMap other = labels;
  other.geometry.spacing = {2, 2, 2};
  try {
    size_of(image, labels, other, {});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::bad_data);
  }
}

}  // namespace
}  // namespace voxswap
