// Reorientation of images to one frame, and its exact inverse.
#include "data/volumes/orientation.h"

#include <cmath>

#include "data/cases/read_case.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "data/layouts/dataset.h"
#include "data/layouts/open_dataset.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

// World position of a voxel: origin + direction * (spacing * index).
std::array<double, 3> place(const Geometry& geometry, const Size3& index) {
  std::array<double, 3> world = geometry.origin;
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      world[row] +=
          geometry.direction[row * 3 + axis] * geometry.spacing[axis] * static_cast<double>(index[axis]);
    }
  }
  return world;
}

// The 48 ways to store the same oblique volume.
std::vector<Geometry> all_storages() {
  std::vector<Geometry> result;
  const Geometry oblique = oblique_geometry({3, 4, 5});
  for (int number = 0; number < 48; ++number) {
    const Symmetry turn = symmetry(number);
    Geometry grid = oblique;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto source = static_cast<std::size_t>(turn.axes[i]);
      grid.size[i] = oblique.size[source];
      grid.spacing[i] = oblique.spacing[source];
      for (std::size_t row = 0; row < 3; ++row)
        grid.direction[row * 3 + i] = (turn.flips[i] ? -1 : 1) * oblique.direction[row * 3 + source];
    }
    result.push_back(grid);
  }
  return result;
}

TEST(TheCanonicalFrame, MovesNoVoxelInTheWorld) {
  for (const Geometry& stored : all_storages()) {
    Image image = random_image(stored);
    const Image turned = canonical(image);
    EXPECT_EQ(axis_codes(turned.geometry), "LPS") << axis_codes(stored);
    // Every voxel of the reoriented image is the voxel of the stored image at the same position.
    std::map<std::array<long, 3>, float> by_place;
    const auto key = [](const std::array<double, 3>& world) {
      return std::array<long, 3>{std::lround(world[0] * 1e6), std::lround(world[1] * 1e6),
                                 std::lround(world[2] * 1e6)};
    };
    const auto visit = [](const Image& grid, const auto& step) {
      for_each_voxel(grid.geometry.size, [&](auto x, auto y, auto z) {
        step(place(grid.geometry, {x, y, z}), grid.at(x, y, z));
      });
    };
    visit(image, [&](const auto& world, float value) { by_place[key(world)] = value; });
    visit(turned, [&](const auto& world, float value) {
      const auto [x, y, z] = key(world);
      for (int i = 0; i < 27;
           ++i) {  // positions agree to a millionth of a millimetre, and may round either way
        const auto found = by_place.find({x + i % 3 - 1, y + i / 3 % 3 - 1, z + i / 9 - 1});
        if (found == by_place.end()) continue;
        EXPECT_EQ(found->second, value);
        by_place.erase(found);
        return;
      }
      ADD_FAILURE() << "no voxel of the file lies there";
    });
    EXPECT_TRUE(by_place.empty());
  }
}

TEST(TheCanonicalFrame, IsLeftExactlyAsItWasEntered) {
  for (const Geometry& stored : all_storages()) {
    const Image image = random_image(stored);
    const Image back = as_stored(canonical(image), stored);
    EXPECT_EQ(back.voxels, image.voxels);
    EXPECT_EQ(back.geometry, stored);
    const LabelMap labels = random_labels(stored, {0, 1, 2, 300});
    EXPECT_EQ(as_stored(canonical(labels), stored).voxels, labels.voxels);
  }
}

TEST(TheCanonicalFrame, IsThatOfBratsFilesWhichStayAsTheyAre) {
  const Image image = random_image(geometry({3, 4, 5}));
  EXPECT_EQ(axis_codes(image.geometry), "LPS");
  EXPECT_EQ(canonical(image).voxels, image.voxels);
  Geometry ras = image.geometry;
  ras.direction = {-1, 0, 0, 0, -1, 0, 0, 0, 1};
  EXPECT_EQ(axis_codes(ras), "RAS");
  Geometry sagittal = image.geometry;  // axes: posterior, inferior, right
  sagittal.direction = {0, 0, -1, 1, 0, 0, 0, -1, 0};
  EXPECT_EQ(axis_codes(sagittal), "PIR");
}

TEST(ChannelsOfACase, StoredInDifferentOrdersWithRightAffinesAreOneGrid) {
  const TemporaryFolder folder;
  Geometry flipped = geometry({4, 5, 6});
  flipped.direction = {-1, 0, 0, 0, 1, 0, 0, 0, -1};
  flipped.origin = {3, 0, 5};
  const Image t1 = random_image(geometry({4, 5, 6}), 1);
  const LabelMap truth = random_labels(t1.geometry, {0, 1, 2});
  write_image(folder / "c_t1.nii.gz", t1);
  write_image(folder / "c_t2.nii.gz", as_stored(t1, flipped));
  write_label_map(folder / "c_truth.nii.gz", as_stored(truth, flipped));
  EXPECT_NE(read_image(folder / "c_t2.nii.gz").voxels, t1.voxels);
  const Dataset dataset = open_dataset(files_by_name(folder.path(), {{"one", 1}, {"two", 2}}));
  const Volume volume = read_case(dataset, dataset.cases[0]);
  EXPECT_EQ(volume.channels[0].voxels, t1.voxels);
  EXPECT_EQ(volume.channels[1].voxels, t1.voxels);
  EXPECT_EQ(volume.truth.voxels, truth.voxels);
}

}  // namespace
}  // namespace voxswap::data
