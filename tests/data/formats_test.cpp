// Extensions of images: what one of them promises holds for all.
#include "data/formats/formats.h"

#include <gtest/gtest.h>

#include <cctype>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "tests/folder.h"

namespace voxswap::data {
namespace {

TEST(Formats, AreToldByTheirExtensionsInUpperAndLowerCase) {
  for (const ImageExtension& extension : image_extensions()) {
    const std::string text(extension.text);
    std::string upper = text;
    for (char& c : upper) c = static_cast<char>(std::toupper(c));
    for (const std::string& name : {"a scan.of.1" + text, "a scan.of.1" + upper}) {
      EXPECT_EQ(image_stem(name), "a scan.of.1");
      EXPECT_EQ(is_nifti(name), extension.format == ImageFormat::nifti) << name;
      EXPECT_NE(is_nifti(name), is_raw_image(name)) << name;
    }
  }
  EXPECT_EQ(image_stem("notes.txt"), "");
  EXPECT_EQ(image_extension("notes.txt"), nullptr);
}

TEST(Formats, AreWrittenOrRefusedAsTheirExtensionsSay) {
  const test::TemporaryFolder folder;
  Image image;
  image.geometry.size = {2, 3, 4};
  image.voxels.assign(24, 1.5F);
  for (const ImageExtension& extension : image_extensions()) {
    const fs::path file = folder / ("image" + std::string(extension.text));
    if (extension.written) {
      write_image(file, image);
      EXPECT_EQ(read_image(file).voxels, image.voxels) << file;
      continue;
    }
    try {
      write_image(file, image);
      ADD_FAILURE() << file << " was written";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::usage);
      for (const ImageExtension& other : image_extensions()) {
        const bool named =
            std::string(error.what()).find(std::string(other.text) + ",") != std::string::npos ||
            ends_with(error.what(), other.text);
        EXPECT_EQ(named, other.written) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace voxswap::data
