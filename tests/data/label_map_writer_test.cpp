// Label maps written a few planes at a time: identical to those written at once, in the memory of a few
// planes.
#include "data/formats/label_map_writer.h"

#include "data/formats/header_text.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "data/volumes/orientation.h"
#include "tests/data/support.h"
#include "tests/folder.h"
#include "tests/heap.h"

namespace voxswap::data {
namespace {

using namespace test;

class LabelMapsByPlane : public ::testing::Test {
 protected:
  // Writes `planes` at a time; finish() may hold `room` voxels.
  std::string streamed(const LabelMap& labels, const Geometry& stored, std::int64_t planes,
                       std::int64_t room = 1 << 20) {
    const fs::path path = folder_ / "streamed.nii.gz";
    const auto plane = static_cast<std::size_t>(labels.geometry.size[0] * labels.geometry.size[1]);
    LabelMapWriter writer(path, stored, {}, room);
    for (std::span<const std::int16_t> left = labels.voxels; !left.empty();) {
      const std::size_t now = std::min(left.size(), plane * static_cast<std::size_t>(planes));
      writer.add(left.first(now));
      left = left.subspan(now);
    }
    writer.finish();
    EXPECT_EQ(writer.labels(), labels.voxels);
    return read_file(path);
  }
  std::string at_once(const LabelMap& labels, const Geometry& stored) {
    const fs::path path = folder_ / "at_once.nii.gz";
    write_label_map(path, as_stored(labels, stored));
    return read_file(path);
  }
  const TemporaryFolder folder_;
};

TEST_F(LabelMapsByPlane, GivesTheBytesOfOneAtOnceInEveryOrientation) {
  for (int number = 0; number < 48; ++number) {
    Geometry stored = oblique_geometry({17, 14, 11});
    const Symmetry turn = symmetry(number);
    const Geometry grid = stored;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto source = static_cast<std::size_t>(turn.axes[i]);
      for (std::size_t row = 0; row < 3; ++row)
        stored.direction[row * 3 + i] = (turn.flips[i] ? -1 : 1) * grid.direction[row * 3 + source];
    }
    const LabelMap labels = random_labels(canonical(stored), {0, 0, 0, 1, 2, 4});
    for (const std::int64_t room : {1, 500, 1 << 20})
      EXPECT_TRUE(streamed(labels, stored, 3, room) == at_once(labels, stored)) << number << " " << room;
  }
}

TEST_F(LabelMapsByPlane, RepeatWhatAFileSaysOfItsPosition) {
  const fs::path like = fs::path(VOXSWAP_SOURCE_DIR) / "tests/fixtures/quirks/forms_disagree.nii.gz";
  const Geometry stored = read_header(like).geometry;
  const LabelMap labels = random_labels(canonical(stored), {0, 1, 2});
  LabelMapWriter writer(folder_ / "streamed.nii.gz", stored, like);
  writer.add(labels.voxels);
  writer.finish();
  write_label_map(folder_ / "at_once.nii.gz", as_stored(labels, stored), like);
  EXPECT_EQ(read_file(folder_ / "streamed.nii.gz"), read_file(folder_ / "at_once.nii.gz"));
  EXPECT_EQ(read_header(folder_ / "streamed.nii.gz").oddities.size(), 1U);
}

TEST_F(LabelMapsByPlane, ChoosesTheElementTypeByAllLabels) {
  const Geometry grid = geometry({20, 10, 30});
  for (const std::vector<int>& values : {std::vector{0, 255}, {0, 256}, {-1, 3}, {0}}) {
    const LabelMap labels = random_labels(grid, values);
    EXPECT_TRUE(streamed(labels, grid, 1) == at_once(labels, grid)) << values.back();
  }
}

// zlib finds the same matches however its input is split.
TEST_F(LabelMapsByPlane, GivesTheBytesOfOneAtOnceBeyondTheWindowOfGzip) {
  Geometry grid = geometry({150, 130, 70});
  LabelMap labels = random_labels(grid, {0, 1});
  for (std::size_t v = 0; v < labels.voxels.size(); ++v)
    if (v / 1000 % 3 != 0) labels.voxels[v] = static_cast<std::int16_t>(v / 40'000 % 4);
  for (const std::int64_t room : {1, 100'000, 1 << 23})
    EXPECT_TRUE(streamed(labels, grid, 7, room) == at_once(labels, grid)) << room;
}

TEST_F(LabelMapsByPlane, HoldsAFewPlanesHoweverManyThereAre) {
  const auto most_bytes = [&](std::int64_t depth, std::int64_t axis) {
    Geometry stored = geometry({64, 64, 64});
    stored.size[static_cast<std::size_t>(axis)] = depth;
    std::swap(stored.direction[0], stored.direction[2]);  // the file's planes are perpendicular to those
                                                          // added
    std::swap(stored.direction[6], stored.direction[8]);
    const Geometry grid = canonical(stored);
    const std::vector<std::int16_t> plane(static_cast<std::size_t>(grid.size[0] * grid.size[1]), 1);
    LabelMapWriter writer(folder_ / "labels.nii.gz", stored, {}, 1);
    Heap::bytes = Heap::most_bytes = 0;
    Heap::counted = true;
    for (std::int64_t z = 0; z < grid.size[2]; ++z) writer.add(plane);
    writer.finish();
    Heap::counted = false;
    return Heap::most_bytes.load();
  };
  const long least = most_bytes(64, 2), most = most_bytes(1024, 2);  // across the planes of the file
  EXPECT_LT(most, 4 * 1024 * 64 * 2) << "of 8 MiB of labels";
  EXPECT_LT(least, most);
  EXPECT_LT(most_bytes(1024, 1), 6 * 1024 * 64 * 2);
}

TEST_F(LabelMapsByPlane, LeavesNothingOfAMapThatWasGivenUp) {
  const Geometry grid = geometry({4, 4, 4});
  {
    LabelMapWriter writer(folder_ / "labels.nii.gz", grid);
    writer.add(std::vector<std::int16_t>(16, 1));
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

}  // namespace
}  // namespace voxswap::data
