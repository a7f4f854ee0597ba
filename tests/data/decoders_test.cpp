// Third-party decoders in their own process: damaged files in every compression give an error.
#include <algorithm>

#include "base/file.h"
#include "data/formats/image_io.h"
#include "tests/data/encoded_images.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

// "" if the file can be read, else the error message, which must name the file.
std::string refusal_of(const fs::path& path) {
  const auto read = [&] {
    for (const Image& image : read_images(path))
      EXPECT_EQ(std::ssize(image.voxels), image.geometry.count()) << path;
  };
  const std::string message = error_of(read, Exit::bad_data);
  EXPECT_TRUE(message.empty() || contains(message, path.string())) << message;
  return message;
}

// Tests each image separately; a slice is a series of its own.
class EncodedImages : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string& name : write_encoded_images((folder_ / "whole/x").parent_path()))
      all_.emplace_back(name, read_file(folder_.path() / "whole" / name));
  }
  std::string message(const std::string& name, const std::string& bytes) const {
    const fs::path path = folder_ / ("one/" + name);
    fs::ofstream(path, std::ios::binary) << bytes;
    std::string text = refusal_of(is_slice(name) ? path.parent_path() : path);
    fs::remove(path);
    return text;
  }
  static bool is_slice(const std::string& name) { return name.ends_with(".dcm"); }
  static std::size_t pixels_of(const std::string& bytes) {
    return bytes.find(std::string("\xe0\x7f\x10\x00OB", 6));
  }

  TemporaryFolder folder_;
  std::vector<std::pair<std::string, std::string>> all_;
};

TEST_F(EncodedImages, AreReadInEveryCompression) {
  for (const auto& [name, bytes] : all_) EXPECT_EQ(message(name, bytes), "") << name;
  for (const auto& [name, bytes] : all_) {
    if (!is_slice(name) || name.find("lossy") != std::string::npos) continue;
    const fs::path path = folder_ / ("series/" + name + "/a.dcm");
    fs::ofstream(path, std::ios::binary) << bytes;
    const std::vector<float> voxels = read_image(path.parent_path()).voxels;
    for (std::size_t i = 0; i < voxels.size(); ++i) ASSERT_EQ(voxels[i], static_cast<float>(i + 1)) << name;
  }
}

TEST_F(EncodedImages, WithOneByteChangedAreReadOrReportedAndNothingElse) {
  for (const auto& [name, bytes] : all_) {
    const std::size_t first = is_slice(name) ? pixels_of(bytes) : 0;
    ASSERT_NE(first, std::string::npos) << name;
    const Philox random(7, 0);
    for (std::size_t i = 0; i < 20; ++i) {
      // The first bytes are headers, where damage has more effects.
      const std::size_t range = std::min<std::size_t>(i % 2 == 0 ? 120 : bytes.size(), bytes.size() - first);
      std::string changed = bytes;
      const std::size_t at = first + random.word(2 * i) % range;
      changed[at] = i % 3 == 0 ? '\0' : static_cast<char>(random.word(2 * i + 1));
      SCOPED_TRACE(format("{}, byte {} of {}", name, at, bytes.size()));
      message(name, changed);
    }
    EXPECT_EQ(message(name, bytes), "") << name;
  }
}

TEST_F(EncodedImages, OfAnotherSizeThanTheirElementsSayAreRefused) {
  for (const auto& [name, bytes] : all_) {
    if (!is_slice(name)) continue;
    for (const int element : {0x10, 0x11, 0x00}) {  // rows, columns, bits allocated
      const std::string tag = {'\x28', 0, static_cast<char>(element), element == 0 ? '\1' : '\0', 'U', 'S',
                               2,      0};
      const std::size_t at = bytes.find(tag);
      ASSERT_NE(at, std::string::npos) << name;
      for (const int value : {1, 8, 19, 32, 25, 1000, 65535}) {
        std::string changed = bytes;
        changed[at + tag.size()] = static_cast<char>(value & 0xff);
        changed[at + tag.size() + 1] = static_cast<char>(value >> 8);
        EXPECT_NE(message(name, changed), "") << name << ", element " << element << ": " << value;
      }
    }
  }
}

// ITK's reader then dereferences a null pointer.
TEST_F(EncodedImages, JpegWithoutItsQuantisationTableIsReportedWithoutHarmToTheNextFile) {
  for (const auto& [name, bytes] : all_) {
    if (name != "jpeg.jpg") continue;
    std::string changed = bytes;
    changed[21] = '\0';
    EXPECT_NE(message(name, changed), "");
    EXPECT_EQ(message(name, bytes), "");
  }
}

}  // namespace
}  // namespace voxswap::data
