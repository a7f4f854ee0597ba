// Label maps with names and colours, for 3D Slicer and ITK-SNAP.
#include <gtest/gtest.h>

#include "base/file.h"
#include "data/formats/image_io.h"
#include "data/formats/segmentation_writing.h"
#include "tests/folder.h"

namespace voxswap::data {
namespace {

class Segmentation : public test::InAFolder {
 protected:
  Segmentation() {
    labels_.geometry = {{4, 3, 2}, {1, 1.5, 2}, {-10, 20.25, 5}, {0, -1, 0, 1, 0, 0, 0, 0, 1}};
    labels_.voxels.assign(24, 0);
    labels_.at(1, 0, 0) = 300;
    labels_.at(2, 2, 1) = 300;
    labels_.at(3, 1, 1) = 1;
    write_segmentation(file_, labels_, segments_);
  }
  LabelMap labels_;
  const std::vector<Segment> segments_ = {
      {"necrosis", 1, {255, 0, 51}}, {"oedema", 300, {0, 255, 0}}, {"absent", 4, {1, 2, 3}}};
  const fs::path file_ = folder_ / "case.seg.nrrd";
};

TEST_F(Segmentation, ReadsBackAsTheLabelMapOnItsGrid) {
  const LabelMap back = read_label_map(file_);
  EXPECT_EQ(back.voxels, labels_.voxels);
  EXPECT_TRUE(same_grid(back.geometry, labels_.geometry)) << describe(back.geometry);
}

TEST_F(Segmentation, TellsNamesColoursValuesAndBoxes) {
  const std::string text = read_file(file_);
  for (const char* line :
       {"Segment0_Name:=necrosis\n", "Segment0_LabelValue:=1\n", "Segment0_Color:=1 0 0.2\n",
        "Segment0_Extent:=3 3 1 1 1 1\n", "Segment1_LabelValue:=300\n", "Segment1_Extent:=1 2 0 2 0 1\n",
        "Segment2_Extent:=0 -1 0 -1 0 -1\n", "Segmentation_MasterRepresentation:=Binary labelmap\n",
        "space: left-posterior-superior\n"})
    EXPECT_NE(text.find(line), text.npos) << line;
}

TEST_F(Segmentation, IsToldToItkSnapByValueColourAndName) {
  const std::string text = itk_snap_labels(segments_);
  EXPECT_NE(text.find("    0     0    0    0        0  0  0    \"Clear Label\"\n"), text.npos) << text;
  EXPECT_NE(text.find("  300     0  255    0        1  1  1    \"oedema\"\n"), text.npos) << text;
}

}  // namespace
}  // namespace voxswap::data
