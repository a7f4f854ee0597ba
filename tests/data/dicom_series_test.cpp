// Series with missing or irregular data: the message names the file and the problem.
#include "base/file.h"
#include "data/formats/dicom.h"
#include "data/formats/dicom_slice.h"
#include "data/formats/file_bytes.h"
#include "data/formats/image_io.h"
#include "tests/data/dicom_bytes.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

// Slices `1.dcm`, `2.dcm`, … at these heights, which tests then modify.
class ASeries : public testing::Test {
 protected:
  void write(const std::vector<double>& heights) {
    slices_.clear();
    for (const double height : heights) {
      SliceBytes& slice = slices_.emplace_back();
      slice.number = static_cast<int>(slices_.size());
      slice.position = {-10, -20, height};
    }
    write();
  }
  void write() {
    fs::remove_all(series());
    for (const SliceBytes& slice : slices_) write_slice(file(slice.number), slice);
  }
  fs::path series() const { return folder_.path() / "s"; }
  fs::path file(int number) const { return series() / format("{}.dcm", number); }
  // The message without the folder's name, so that tests do not match parts of the path.
  std::string message() const {
    std::string text = error_of([&] { read_image(series()); }, Exit::bad_data);
    for (std::size_t at; (at = text.find(folder_.path().string())) != std::string::npos;)
      text.erase(at, folder_.path().string().size());
    return text;
  }
  void expect_message(const std::vector<std::string>& parts) const {
    const std::string text = message();
    for (const std::string& part : parts) EXPECT_TRUE(contains(text, part));
  }
  TemporaryFolder folder_;
  std::vector<SliceBytes> slices_;
};

TEST_F(ASeries, WrittenByteByByteIsRead) {
  write({0, 3.25, 6.5});
  const Image image = read_image(series());
  EXPECT_EQ(image.geometry.size, (Size3{6, 4, 3}));
  EXPECT_EQ(image.geometry.spacing, (Spacing{1, 1, 3.25}));
  EXPECT_EQ(image.geometry.origin, (std::array<double, 3>{-10, -20, 0}));
  EXPECT_EQ(image.at(5, 3, 2), 24);
}

TEST_F(ASeries, WithASliceCutShortAnywhereIsRefused) {
  write({0, 3, 6});
  const std::string whole = read_file(file(2));
  for (std::size_t length = 132; length < whole.size(); length += 7) {
    fs::ofstream(file(2), std::ios::binary) << whole.substr(0, length);
    expect_message({"/s/2.dcm", ""});
  }
  fs::ofstream(file(2), std::ios::binary) << whole.substr(0, whole.size() - 1);
  expect_message({"/s/2.dcm: is truncated: its header declares 48 bytes of pixels, found 47"});
}

// Linux returns EIO for reads of unmapped memory there.
TEST(ASlice, OnADeviceThatFailsIsNotCalledTruncated) {
  for (const auto& read :
       {std::function<void()>([] { read_elements("/proc/self/mem"); }),
        std::function<void()>([] { FileBytes("/proc/self/mem").read(std::array<char, 4>().data(), 4); })}) {
    expect_failure([&] { read(); }, Exit::failed);
  }
}

TEST_F(ASeries, WithMoreOrFewerPixelsThanItsHeaderPromisesIsRefused) {
  write({0, 3, 6});
  slices_[0].promised_bytes = 20;
  write();
  expect_message({"/s/1.dcm: is truncated", "48"});
  slices_[0].promised_bytes = 5000;
  write();
  expect_message({"/s/1.dcm: is truncated", "5000"});
  slices_[0].promised_bytes.reset();
  write();
  std::string bytes = read_file(file(1));
  bytes[bytes.size() - 48 - 4] = 100;
  fs::ofstream(file(1), std::ios::binary) << bytes + std::string(52, 'x');
  expect_message({"/s/1.dcm: is damaged: it holds 100 bytes of pixels, but its header declares 48"});
}

TEST_F(ASeries, WithCompressedPixelsCutShortIsRefused) {
  write({0, 3, 6});
  slices_[1].syntax = "1.2.840.10008.1.2.5";  // run lengths: a header of 64 bytes, two planes of 24 bytes
  const auto word = [](unsigned value) { return std::string{static_cast<char>(value), 0, 0, 0}; };
  std::string planes = word(2) + word(64) + word(90);
  planes.resize(64);
  for (int plane = 0; plane < 2; ++plane) {
    planes += std::string(1, 23);  // 24 literal bytes follow
    for (int i = 0; i < 24; ++i) planes += static_cast<char>(plane == 0 ? 0 : i + 1);
    planes += std::string(1, '\x80');  // no operation
  }
  slices_[1].fragments = {planes};
  write();
  const std::string whole = read_file(file(2));
  EXPECT_EQ(message(), "");
  EXPECT_EQ(read_image(series()).at(5, 3, 1), 24);
  for (const std::size_t cut : {1U, 8U, 9U, 30U, 100U}) {
    fs::ofstream(file(2), std::ios::binary) << whole.substr(0, whole.size() - cut);
    expect_message({"/s/2.dcm: is truncated: its compressed pixels end early"});
  }
}

TEST_F(ASeries, WithMissingSlicesSaysBetweenWhich) {
  write({0, 3.25, 9.75, 13});
  expect_message(
      {"1 slice is missing: between 2.dcm and 3.dcm, which are 6.5 mm apart, while the others are 3.25 mm"});
  write({0, 3.25, 9.75});
  expect_message({"1 slice is missing: between 2.dcm and 3.dcm, which are 6.5 mm apart"});
  write({0, 6.5, 9.75, 16.25});
  expect_message({"2 slices are missing: between 1.dcm and 2.dcm", "between 3.dcm and 4.dcm"});
  write({0, 1, 2, 3, 4, 14, 15, 16});
  expect_message(
      {"9 slices are missing: between 5.dcm and 6.dcm, which are 10 mm apart, while the others are 1 mm"});
}

TEST_F(ASeries, OfUnevenDistancesSaysTheseAndWhichSlicesAreOdd) {
  write({0, 3, 6, 10, 12, 15});
  expect_message({"its slices are 2 to 4 mm apart, most of them 3 mm", "3.dcm and 4.dcm are 4 mm apart"});
}

TEST_F(ASeries, WithOneOddSliceNamesThatSlice) {
  for (const int odd : {1, 3, 5}) {
    SCOPED_TRACE(odd);
    const auto index = static_cast<std::size_t>(odd - 1);
    const std::string file = format("/s/{}.dcm: ", odd);
    write({0, 3, 6, 9, 12});
    slices_[index].cosines = {0, 1, 0, 0, 0, -1};
    write();
    expect_message({file + "is not parallel to"});
    write({0, 3, 6, 9, 12});
    slices_[index].columns = 5;
    write();
    expect_message({file + "has 5x4 pixels of 1x1 mm", "most others have 6x4 pixels of 1x1 mm"});
    write({0, 3, 6, 9, 12});
    slices_[index].spacing = 0.5;
    write();
    expect_message({file + "has 6x4 pixels of 0.5x0.5 mm"});
    write({0, 3, 6, 9, 12});
    slices_[index].position->at(0) += 7;
    write();
    expect_message({format("{}.dcm is up to 7 mm off the axis", odd)});
  }
}

TEST_F(ASeries, ThatIsSlantedSaysSo) {
  write({0, 3, 6, 9, 12});
  for (SliceBytes& slice : slices_) slice.position->at(1) += 0.7 * slice.number;
  write();
  expect_message({"off their common axis"});
}

// DICOM, part 5, 8.1.1: bits above the stored ones are not part of the value (they were once used for
// overlays).
TEST_F(ASeries, OfFewerBitsThanItsNumbersHaveIsReadWithoutTheOtherBits) {
  write({0});
  slices_[0].stored_bits = 12;
  slices_[0].pixels.assign(24, 0xf005);
  write();
  EXPECT_EQ(read_image(series()).voxels, std::vector<float>(24, 5));
  slices_[0].sign = 1;
  slices_[0].pixels.assign(24, 0x0fff);
  write();
  EXPECT_EQ(read_image(series()).voxels, std::vector<float>(24, -1));
}

TEST_F(ASeries, WithoutOrientationOrPositionSaysWhatIsNotKnown) {
  write({0, 3, 6});
  for (SliceBytes& slice : slices_) slice.cosines.reset();
  write();
  expect_message({"1.dcm: has no orientation (Image Orientation Patient)", "left and right are unknown"});
  write({0, 3, 6});
  slices_[2].position.reset();
  write();
  expect_message({"/s/3.dcm: has no position (Image Position Patient)"});
}

TEST_F(ASeries, HasItsDescriptionReadWithoutItsPixels) {
  write({0, 3});
  slices_[0].description = "Ax T1 +C";
  write();
  truncate_file(file(1), 0.9);
  EXPECT_EQ(dicom_description(series()), "Ax T1 +C");
}

}  // namespace
}  // namespace voxswap::data
