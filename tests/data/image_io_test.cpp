#include "data/formats/image_io.h"

#include <itkImage.h>
#include <itkImageFileWriter.h>
#include <itkNiftiImageIO.h>

#include <cctype>
#include <cmath>
#include <limits>

#include "base/file.h"
#include "base/text.h"
#include "data/formats/formats.h"
#include "data/formats/image_writing.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

void expect_same_grid(const Geometry& read, const Geometry& written) {
  EXPECT_TRUE(same_grid(read, written)) << describe(read) << " against " << describe(written);
}

TEST(Images, SurviveAWriteReadRoundTripWithFlippedAndObliqueDirections) {
  const TemporaryFolder folder;
  Geometry flipped = geometry({5, 6, 7});
  flipped.direction = {-1, 0, 0, 0, -1, 0, 0, 0, 1};
  flipped.origin = {120, 119, -3};
  Geometry permuted = geometry({5, 6, 7});
  permuted.direction = {0, 0, 1, -1, 0, 0, 0, -1, 0};
  for (const Geometry& grid : {geometry({5, 6, 7}), flipped, permuted, oblique_geometry({5, 6, 7})}) {
    const Image image = random_image(grid);
    for (const char* name : {"a.nii.gz", "a.nii", "a.nrrd", "a.mha"}) {
      write_image(folder / name, image);
      const Image back = read_image(folder / name);
      expect_same_grid(back.geometry, grid);
      expect_same_grid(read_header(folder / name).geometry, grid);
      EXPECT_EQ(back.voxels, image.voxels) << name;
    }
  }
}

TEST(LabelMaps, SurviveARoundTripInOneByteAndInTwo) {
  const TemporaryFolder folder;
  for (const int highest : {4, 1000}) {
    const LabelMap labels = random_labels(oblique_geometry({5, 6, 7}), {0, 1, highest});
    write_label_map(folder / "a.nii.gz", labels);
    EXPECT_EQ(read_label_map(folder / "a.nii.gz").voxels, labels.voxels);
  }
}

TEST(Images, AreReadAsFloatFromAnyElementType) {
  const TemporaryFolder folder;
  const auto round_trip = [&](auto value, const char* name) {
    using T = decltype(value);
    using ItkImage = itk::Image<T, 3>;
    const auto image = ItkImage::New();
    image->SetRegions(typename ItkImage::SizeType{{3, 2, 2}});
    image->Allocate();
    for (int i = 0; i < 12; ++i) image->GetBufferPointer()[i] = static_cast<T>(value - static_cast<T>(i));
    const auto writer = itk::ImageFileWriter<ItkImage>::New();
    writer->SetImageIO(itk::NiftiImageIO::New());
    writer->SetInput(image);
    writer->SetFileName((folder / name).string());
    writer->Update();
    const Image back = read_image(folder / name);
    for (int i = 0; i < 12; ++i) {
      EXPECT_EQ(back.voxels[static_cast<std::size_t>(i)],
                static_cast<float>(static_cast<T>(value - static_cast<T>(i))));
    }
  };
  round_trip(static_cast<unsigned char>(255), "u8.nii.gz");
  round_trip(static_cast<signed char>(5), "i8.nii.gz");
  round_trip(static_cast<unsigned short>(65535), "u16.nii.gz");
  round_trip(static_cast<short>(-30000), "i16.nii.gz");
  round_trip(4000000000U, "u32.nii.gz");
  round_trip(-2000000000, "i32.nii.gz");
  round_trip(1.5F, "f32.nii.gz");
  round_trip(2.25, "f64.nii.gz");
}

// NIfTI-1 (nifti1.h): scl_slope is at byte 112, scl_inter at 116; value = slope * stored + inter.
TEST(Images, AreScaledBySlopeAndIntercept) {
  const TemporaryFolder folder;
  const LabelMap stored = random_labels(geometry({4, 4, 4}), {0, 100, 1000});
  write_label_map(folder / "a.nii", stored);
  const float slope_and_intercept[] = {0.5F, -3};
  overwrite(folder / "a.nii", 112, {reinterpret_cast<const char*>(slope_and_intercept), 8});
  const Image image = read_image(folder / "a.nii");
  for (std::size_t i = 0; i < stored.voxels.size(); ++i) {
    EXPECT_EQ(image.voxels[i], 0.5F * static_cast<float>(stored.voxels[i]) - 3);
  }
}

TEST(LabelMaps, AreRoundedWhenTheyWereStoredScaledAndRefusedWhenTheyAreNoWholeNumbers) {
  const TemporaryFolder folder;
  Image image{geometry({3, 3, 3}), std::vector<float>(27, 0.99999997F)};
  image.voxels[4] = 1.9995F;
  write_image(folder / "good.nii.gz", image);
  const LabelMap labels = read_label_map(folder / "good.nii.gz");
  EXPECT_EQ(labels.voxels[0], 1);
  EXPECT_EQ(labels.voxels[4], 2);
  for (const float bad : {1.5F, 40000.0F, std::numeric_limits<float>::quiet_NaN()}) {
    image.voxels[7] = bad;
    write_image(folder / "bad.nii.gz", image);
    expect_failure([&] { read_label_map(folder / "bad.nii.gz"); }, Exit::bad_data,
                   {"bad.nii.gz", "not a label"});
  }
}

TEST(Images, OfA4DFileAreReadOneByOneOrAllAtOnce) {
  const TemporaryFolder folder;
  const Geometry grid = oblique_geometry({4, 5, 6});
  const std::vector<Image> images{random_image(grid, 1), random_image(grid, 2), random_image(grid, 3)};
  for (const char* name : {"a.nii.gz", "a.nrrd", "a.mha"}) {
    write_images_4d(folder / name, images);
    EXPECT_EQ(read_header(folder / name).volumes, 3);
    const std::vector<Image> all = read_images(folder / name);
    ASSERT_EQ(all.size(), 3U);
    for (int i = 0; i < 3; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_EQ(read_image(folder / name, i).voxels, images[at].voxels);
      EXPECT_EQ(all[at].voxels, images[at].voxels);
      expect_same_grid(all[at].geometry, grid);
    }
    expect_failure([&] { read_image(folder / name); }, Exit::bad_data, {name, "3 volumes"});
    expect_failure([&] { read_image(folder / name, 3); }, Exit::bad_data, {name, "3 volumes"});
  }
}

// Lengths that a broken download may have: within the header, within the voxels, and (NIfTI) without the
// checksum only.
TEST(TruncatedFiles, AreOneClearErrorNamingTheFile) {
  const TemporaryFolder folder;
  const Image small = random_image(geometry({40, 40, 40})), large = random_image(geometry({128, 128, 80}));
  for (const char* name : {"a.nii.gz", "large.nii.gz", "a.nii", "a.nrrd", "a.mha"}) {
    const Image& image = name[0] == 'l' ? large : small;
    write_image(folder / name, image);
    const auto whole = fs::file_size(folder / name);
    for (const std::uintmax_t kept : {std::uintmax_t{0}, std::uintmax_t{100}, whole / 2, whole - 4}) {
      if (kept == whole - 4 && std::string(name) == "a.nrrd") continue;  // all voxels are present
      write_image(folder / name, image);
      fs::resize_file(folder / name, kept);
      testing::internal::CaptureStderr();
      testing::internal::CaptureStdout();
      expect_failure([&] { read_image(folder / name); }, Exit::bad_data, {(folder / name).string()});
      EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << name << " cut to " << kept;
      EXPECT_EQ(testing::internal::GetCapturedStdout(), "") << name << " cut to " << kept;
    }
  }
}

// The NIfTI library would replace them by 0.
TEST(NaNAndInfiniteVoxels, AreReadAsTheyAre) {
  const TemporaryFolder folder;
  Image image = random_image(geometry({4, 4, 4}));
  image.voxels[5] = std::numeric_limits<float>::quiet_NaN();
  image.voxels[6] = -std::numeric_limits<float>::infinity();
  for (const char* name : {"a.nii.gz", "a.nii", "a.nrrd", "a.mha"}) {
    write_image(folder / name, image);
    const Image back = read_image(folder / name);
    EXPECT_TRUE(std::isnan(back.voxels[5])) << name;
    EXPECT_EQ(back.voxels[6], image.voxels[6]) << name;
  }
}

TEST(DamagedFiles, AreReported) {
  const TemporaryFolder folder;
  write_image(folder / "a.nii.gz", random_image(geometry({40, 40, 40})));
  overwrite(folder / "a.nii.gz", fs::file_size(folder / "a.nii.gz") / 2, "garbage garbage");
  expect_failure([&] { read_image(folder / "a.nii.gz"); }, Exit::bad_data, {"a.nii.gz", "damaged"});
}

TEST(Files, ThatAreNoImagesAreRefusedWithTheReason) {
  const TemporaryFolder folder;
  expect_failure([&] { read_image(folder / "none.nii.gz"); }, Exit::bad_data,
                 {"none.nii.gz", "no such file"});
  fs::ofstream(folder / "notes.txt") << "hello";
  expect_failure([&] { read_image(folder / "notes.txt"); }, Exit::bad_data,
                 {"notes.txt", "unknown image format"});
  fs::ofstream(folder / "text.nii") << std::string(1000, 'x');
  expect_failure([&] { read_image(folder / "text.nii"); }, Exit::bad_data, {"text.nii"});
  fs::create_directories(folder / "dir.nii.gz");
  expect_failure([&] { read_image(folder / "dir.nii.gz"); }, Exit::bad_data, {"dir.nii.gz", "folder"});
}

TEST(Writing, ToWhereNothingCanBeWrittenFailsAndLeavesNothingBehind) {
  const TemporaryFolder folder;
  const Image image = random_image(geometry({4, 4, 4}));
  expect_failure([&] { write_image(folder.path() / "no" / "a.nii.gz", image); }, Exit::failed, {"a.nii.gz"});
  expect_failure([&] { write_image(folder / "a.txt", image); }, Exit::usage, {"a.txt", ".nii.gz"});
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Grids, AreTheSameUpToWhatFilesRoundAway) {
  const Geometry grid = oblique_geometry({4, 5, 6});
  Geometry other = grid;
  other.direction[0] += 1e-8;
  other.origin[1] += 1e-5;
  EXPECT_TRUE(same_grid(grid, other));
  other.origin[1] += 1e-2;
  EXPECT_FALSE(same_grid(grid, other));
  other = grid;
  other.size[2] = 7;
  EXPECT_FALSE(same_grid(grid, other));
  Geometry brats = geometry({240, 240, 155});
  brats.origin = {0, -239, 0};
  EXPECT_EQ(describe(brats), "240x240x155 voxels of 1x1x1 mm at (0, -239, 0)");
}

TEST(Formats, AreRecognisedByTheirExtensionsInUpperAndLowerCase) {
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
  const TemporaryFolder folder;
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
    const std::string message = message_of([&] { write_image(file, image); }, Exit::usage);
    for (const ImageExtension& other : image_extensions()) {
      const bool named = contains(message, std::string(other.text) + ",") || ends_with(message, other.text);
      EXPECT_EQ(named, other.written) << message;
    }
  }
}

}  // namespace
}  // namespace voxswap::data
