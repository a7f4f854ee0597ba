// DICOM segmentation objects, checked byte by byte, because our readers reject them.
// tests/fixtures/dicom_segmentation.py reads one with highdicom.
#include "base/error.h"
#include "base/file.h"
#include "data/formats/dicom_segmentation.h"
#include "data/formats/dicom_slice.h"
#include "data/formats/dicom_writing.h"
#include "data/formats/image_io.h"
#include "data/formats/segmentation_writing.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

class DicomSegmentation : public testing::Test {
 protected:
  DicomSegmentation() {
    if (!writes_dicom_segmentations()) return;
    fs::create_directories(folder_ / "t1");
    Image image = random_image(geometry({5, 4, 3}), 1);
    for (float& value : image.voxels) value = std::round(1000 * value);
    write_dicom(folder_ / "t1", image, "t1", "1.1");
    labels_.geometry = read_image(folder_ / "t1").geometry;
    labels_.voxels.assign(60, 0);
  }
  void SetUp() override {
    if (!writes_dicom_segmentations()) GTEST_SKIP() << "built without DCMTK";
  }
  std::string written() const {
    write_dicom_segmentation(folder_ / "out.dcm", labels_, {{"core", 2, {}}, {"rim", 300, {}}},
                             folder_ / "t1", "9.9");
    return read_file(folder_ / "out.dcm");
  }
  TemporaryFolder folder_;
  LabelMap labels_;
};

TEST_F(DicomSegmentation, HasAFrameForEverySliceOfALabelAsBits) {
  labels_.at(0, 0, 1) = 2;
  labels_.at(3, 2, 1) = 300;
  labels_.at(4, 3, 2) = 300;
  const std::string file = written();
  EXPECT_EQ(file.substr(128, 4), "DICM");
  EXPECT_TRUE(contains(file, "1.2.840.10008.5.1.4.1.1.66.4"));  // Segmentation Storage
  EXPECT_TRUE(contains(file, "core", "rim", "BINARY", "9.9",
                       std::string("\x28\x00\x08\x00IS\x02\x00"
                                   "3 ",
                                   10)));  // NumberOfFrames
  // Frames of 20 pixels without padding, the first pixel in the lowest bit.
  std::string bits(8, '\0');  // padded to an even number
  for (const int pixel : {0, 20 + 13, 40 + 19})
    bits[static_cast<std::size_t>(pixel / 8)] |= static_cast<char>(1 << pixel % 8);
  EXPECT_EQ(file.substr(file.size() - 8), bits);
}

// Appends an element of the series that nothing needs: sequences within sequences, all of explicit length,
// which a reader that follows them does on its stack.
TEST_F(DicomSegmentation, DoesNotReadWhatItDoesNotTakeFromTheSeries) {
  labels_.at(0, 0, 1) = 2;
  labels_.at(1, 0, 1) = 300;
  const auto number = [](std::uint32_t value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  std::string nested;
  constexpr std::uint32_t header = 8, item = 8;
  for (std::uint32_t depth = 100000; depth > 0; --depth) {
    const std::uint32_t inner = (depth - 1) * (header + item);
    nested += std::string("\x20\x00\x22\x92", 4) + number(item + inner);
    nested += std::string("\xfe\xff\x00\xe0", 4) + number(inner);
  }
  for (const auto& entry : fs::directory_iterator(folder_ / "t1")) {
    std::string file = read_file(entry.path());
    ASSERT_EQ(read_elements(entry.path()).syntax, "1.2.840.10008.1.2") << "elements without types";
    const std::size_t image_group = file.find(std::string("\x28\x00\x02\x00", 4));
    ASSERT_NE(image_group, std::string::npos);
    write_file(entry.path(), file.insert(image_group, nested));
  }
  EXPECT_TRUE(contains(written(), "core"));
}

TEST_F(DicomSegmentation, TakesPatientStudyAndFrameOfReferenceFromTheSeries) {
  labels_.at(0, 0, 1) = 2;
  labels_.at(1, 0, 1) = 300;
  const std::string file = written();
  const DicomElements slice = read_elements(fs::directory_iterator(folder_ / "t1")->path());
  for (const std::uint32_t tag : {0x00100010, 0x0020000d, 0x00200052}) {
    EXPECT_FALSE(slice.text(tag).empty()) << tag;
    EXPECT_TRUE(contains(file, slice.text(tag))) << tag;
  }
  // The instances of the slices that have a frame are referenced.
  std::size_t referenced = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "t1"))
    referenced += contains(file, read_elements(entry.path()).text(0x00080018)) ? 1U : 0U;
  EXPECT_EQ(referenced, 1U);
  EXPECT_TRUE(contains(file, slice.text(0x0020000e))) << "the series is not referenced";
}

TEST_F(DicomSegmentation, AcceptsSlicesThatAreNotQuiteEvenlySpaced) {
  labels_.at(0, 0, 1) = 2;
  labels_.at(1, 0, 1) = 300;
  labels_.geometry.origin[2] += 0.02;
  EXPECT_TRUE(contains(written(), "core"));
}

TEST_F(DicomSegmentation, IsRefusedWithoutAFrameOfReference) {
  labels_.at(0, 0, 1) = 2;
  for (const auto& entry : fs::directory_iterator(folder_ / "t1")) {
    std::string file = read_file(entry.path());
    const std::size_t element = file.find(std::string("\x20\x00\x52\x00", 4));
    ASSERT_NE(element, std::string::npos);
    file[element + 2] = '\x51';  // another element
    write_file(entry.path(), file);
  }
  expect_failure([&] { written(); }, Exit::bad_data, {"has no FrameOfReferenceUID"});
}

TEST_F(DicomSegmentation, IsRefusedWhereItsPlanesAreNoSlicesOrNothingIsLabelled) {
  expect_failure([&] { written(); }, Exit::bad_data, {"the label map is empty"});
  labels_.at(0, 0, 1) = 2;
  labels_.geometry.origin[2] += 0.5;
  expect_failure([&] { written(); }, Exit::bad_data, {"has no slice at"});
  EXPECT_FALSE(fs::exists(folder_ / "out.dcm"));
}

// --- Label maps with names and colours, for 3D Slicer and ITK-SNAP

class Segmentation : public InAFolder {
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

TEST_F(Segmentation, StoresNamesColoursValuesAndBoxes) {
  const std::string text = read_file(file_);
  EXPECT_TRUE(test::contains(
      text, "Segment0_Name:=necrosis\n", "Segment0_LabelValue:=1\n", "Segment0_Color:=1 0 0.2\n",
      "Segment0_Extent:=3 3 1 1 1 1\n", "Segment1_LabelValue:=300\n", "Segment1_Extent:=1 2 0 2 0 1\n",
      "Segment2_Extent:=0 -1 0 -1 0 -1\n", "Segmentation_MasterRepresentation:=Binary labelmap\n",
      "space: left-posterior-superior\n"));
}

TEST_F(Segmentation, IsDescribedForItkSnapByValueColourAndName) {
  const std::string text = itk_snap_labels(segments_);
  EXPECT_TRUE(test::contains(text, "    0     0    0    0        0  0  0    \"Clear Label\"\n",
                             "  300     0  255    0        1  1  1    \"oedema\"\n"));
}

}  // namespace
}  // namespace voxswap::data
