// DICOM segmentation objects, read byte by byte: no reader of ours takes them for scans.
// tests/fixtures/dicom_segmentation.py reads one with highdicom.
#include "data/formats/dicom_segmentation.h"

#include "base/error.h"
#include "base/file.h"
#include "data/formats/dicom_writing.h"
#include "data/formats/image_io.h"
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
  EXPECT_NE(file.find("1.2.840.10008.5.1.4.1.1.66.4"), file.npos);  // Segmentation Storage
  for (const char* word : {"core", "rim", "BINARY", "9.9"}) EXPECT_NE(file.find(word), file.npos) << word;
  EXPECT_NE(file.find(std::string("\x28\x00\x08\x00IS\x02\x00"
                                  "3 ",
                                  10)),
            file.npos);  // NumberOfFrames
  // Frames of 20 pixels, the first pixel in the lowest bit, one frame directly behind another.
  std::string bits(8, '\0');  // padded to an even number
  for (const int pixel : {0, 20 + 13, 40 + 19})
    bits[static_cast<std::size_t>(pixel / 8)] |= static_cast<char>(1 << pixel % 8);
  EXPECT_EQ(file.substr(file.size() - 8), bits);
}

TEST_F(DicomSegmentation, IsRefusedWhereItsPlanesAreNoSlicesOrNothingIsLabelled) {
  expect_failure([&] { written(); }, Exit::bad_data, {"the label map is empty"});
  labels_.at(0, 0, 1) = 2;
  labels_.geometry.origin[2] += 0.5;
  expect_failure([&] { written(); }, Exit::bad_data, {"has no slice at"});
  EXPECT_FALSE(fs::exists(folder_ / "out.dcm"));
}

}  // namespace
}  // namespace voxswap::data
