// 2D images as data sets: PNG, TIFF and JPEG, folders of classes, images with masks, and invalid ones.
#include <itkImageIOBase.h>
#include <itkJPEGImageIO.h>
#include <itkTIFFImageIO.h>

#include "base/file.h"
#include "data/cases/check.h"
#include "data/cases/read_case.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "data/layouts/dataset_json.h"
#include "data/layouts/open_dataset.h"
#include "data/layouts/prediction_input.h"
#include "data/phantoms/phantom.h"
#include "data/volumes/picture.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

std::vector<std::uint8_t> bytes_of(const Size3& size, std::int64_t channels, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size[0] * size[1] * channels));
  const Philox random(seed, 0);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(random.word(i));
  return bytes;
}

void write_picture(const fs::path& path, const Size3& size = {9, 7, 1}, std::int64_t channels = 1,
                   std::uint64_t seed = 1) {
  fs::create_directories(path.parent_path());
  const std::vector<std::uint8_t> bytes = bytes_of(size, channels, seed);
  if (channels == 1)
    write_grey_png(path, size[0], size[1], bytes);
  else
    write_png(path, size[0], size[1], bytes);
}

void write_mask(const fs::path& path, const Size3& size = {9, 7, 1}, std::int16_t label = 1) {
  fs::create_directories(path.parent_path());
  LabelMap mask{geometry(size), std::vector<std::int16_t>(static_cast<std::size_t>(size[0] * size[1]))};
  mask.voxels[3] = label;
  write_label_map(path, mask);
}

void write_by_itk(const fs::path& path, itk::ImageIOBase& io, const Size3& size, unsigned channels,
                  const void* bytes) {
  io.SetNumberOfDimensions(2);
  io.SetComponentType(itk::IOComponentEnum::UCHAR);
  io.SetPixelType(channels == 1 ? itk::IOPixelEnum::SCALAR : itk::IOPixelEnum::RGB);
  io.SetNumberOfComponents(channels);
  itk::ImageIORegion region(2);
  for (unsigned axis = 0; axis < 2; ++axis) {
    io.SetDimensions(axis, static_cast<std::size_t>(size[axis]));
    region.SetSize(axis, static_cast<std::size_t>(size[axis]));
  }
  io.SetIORegion(region);
  io.SetFileName(path.string());
  io.Write(bytes);
}

TEST(Pictures, KeepEveryPixelOfAPngInGreyAndInColours) {
  const TemporaryFolder folder;
  const Size3 size = {9, 7, 1};
  write_picture(folder / "grey.png", size, 1);
  write_picture(folder / "colours.png", size, 3);
  const std::vector<Image> grey = read_images(folder / "grey.png"),
                           colours = read_images(folder / "colours.png");
  ASSERT_EQ(grey.size(), 1U);
  ASSERT_EQ(colours.size(), 3U);
  EXPECT_EQ(grey[0].geometry, geometry(size));
  const std::vector<std::uint8_t> one = bytes_of(size, 1, 1), three = bytes_of(size, 3, 1);
  EXPECT_EQ(grey[0].voxels, std::vector<float>(one.begin(), one.end()));
  for (std::size_t i = 0; i < three.size(); ++i) EXPECT_EQ(colours[i % 3].voxels[i / 3], three[i]);
  EXPECT_EQ(read_image(folder / "colours.png", 2).voxels, colours[2].voxels);
}

TEST(Pictures, AreReadFromTiffExactlyAndFromJpegNearly) {
  const TemporaryFolder folder;
  const Size3 size = {16, 12, 1};
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size[0] * size[1] * 3));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(40 + i / 3);
  write_by_itk(folder / "a.tif", *itk::TIFFImageIO::New(), size, 3, bytes.data());
  const auto jpeg = itk::JPEGImageIO::New();
  jpeg->SetQuality(100);
  write_by_itk(folder / "a.jpg", *jpeg, size, 3, bytes.data());
  for (std::size_t c = 0; c < 3; ++c) {
    const Image exact = read_image(folder / "a.tif", static_cast<int>(c)),
                near = read_image(folder / "a.jpg", static_cast<int>(c));
    EXPECT_EQ(near.geometry, geometry(size));
    for (std::size_t i = 0; i < exact.voxels.size(); ++i) {
      EXPECT_EQ(exact.voxels[i], bytes[3 * i + c]);
      EXPECT_NEAR(near.voxels[i], bytes[3 * i + c], 6);
    }
  }
}

TEST(Pictures, HoldLabelsOf8And16Bits) {
  const TemporaryFolder folder;
  for (const std::int16_t label : {std::int16_t{4}, std::int16_t{255}, std::int16_t{3000}}) {
    write_mask(folder / "mask.png", {9, 7, 1}, label);
    const LabelMap read = read_label_map(folder / "mask.png");
    EXPECT_EQ(read.voxels[3], label);
    EXPECT_EQ(read.voxels[4], 0);
  }
  write_picture(folder / "colours.png", {9, 7, 1}, 3);
  expect_failure([&] { read_label_map(folder / "colours.png"); }, Exit::bad_data,
                 {"colours.png", "is a colour image"});
}

// A palette of black, red, green and blue, the first one transparent; 4 bits per pixel, with values 0 1 2 and
// 2 1 3.
constexpr std::string_view picture_with_palette =
    "89504e470d0a1a0a0000000d49484452000000030000000204030000006f5a7b290000000c504c5445000000ff000000"
    "ff000000ff9bc013dc0000000274524e5300ff5b9122b50000000e49444154789c636054605034000000fd00734657a9"
    "500000000049454e44ae426082";

TEST(Pictures, WithAPaletteAreColoursAsImagesAndNumbersAsMasks) {
  const TemporaryFolder folder;
  std::string bytes;
  for (std::size_t i = 0; i < picture_with_palette.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(picture_with_palette.substr(i, 2)), nullptr, 16));
  write_file(folder / "palette.png", bytes);
  EXPECT_EQ(read_header(folder / "palette.png").volumes, 3);
  EXPECT_EQ(read_image(folder / "palette.png", 0).voxels, (std::vector<float>{0, 255, 0, 0, 255, 0}));
  EXPECT_EQ(read_image(folder / "palette.png", 2).voxels, (std::vector<float>{0, 0, 0, 0, 0, 255}));
  EXPECT_EQ(read_label_map(folder / "palette.png").voxels, (std::vector<std::int16_t>{0, 1, 2, 2, 1, 3}));
}

TEST(Pictures, CarryWordsThatChangeNoPixel) {
  const TemporaryFolder folder;
  const std::vector<std::uint8_t> bytes = bytes_of({9, 7, 1}, 3, 5);
  const std::string plain = png_bytes(9, 7, bytes);
  const std::string with_text =
      with_png_text(with_png_text(plain, "Description", "axial, Gr\u00f6\u00dfe"), "Comment", "orange");
  EXPECT_EQ(png_text(with_text, "Description"), "axial, Gr\u00f6\u00dfe");
  EXPECT_EQ(png_text(with_text, "Comment"), "orange");
  EXPECT_EQ(png_text(with_text, "Title"), "");
  write_file(folder / "plain.png", plain);
  write_file(folder / "with_text.png", with_text);
  EXPECT_EQ(read_image(folder / "with_text.png", 1).voxels, read_image(folder / "plain.png", 1).voxels);
  for (std::size_t end = 0; end < with_text.size(); ++end)
    EXPECT_TRUE(std::string("orange").starts_with(png_text(with_text.substr(0, end), "Comment")));
}

TEST(Pictures, ThatAreCutOffAreRefusedWhereverTheyEnd) {
  const TemporaryFolder folder;
  const Size3 size = {64, 48, 1};
  const std::vector<std::uint8_t> bytes = bytes_of(size, 3, 5);
  write_png(folder / "whole.png", size[0], size[1], bytes);
  write_by_itk(folder / "whole.tif", *itk::TIFFImageIO::New(), size, 3, bytes.data());
  write_by_itk(folder / "whole.jpg", *itk::JPEGImageIO::New(), size, 3, bytes.data());
  for (const char* extension : {".png", ".tif", ".jpg"}) {
    const fs::path whole = folder / (std::string("whole") + extension);
    ASSERT_EQ(read_images(whole).size(), 3U);
    const std::uintmax_t all = fs::file_size(whole);
    for (const std::uintmax_t kept :
         {std::uintmax_t{0}, std::uintmax_t{4}, std::uintmax_t{40}, all / 2, all - all / 10}) {
      const fs::path part = folder / (std::string("part") + extension);
      fs::copy_file(whole, part, fs::copy_options::overwrite_existing);
      fs::resize_file(part, kept);
      expect_failure([&] { read_images(part); }, Exit::bad_data, {part.filename().string()});
    }
  }
}

TEST(PicturesInClasses, HaveTheirFoldersForClasses) {
  const TemporaryFolder folder;
  for (const char* name : {"cat/1.png", "cat/2.png", "dog/1.png"}) write_picture(folder / name, {9, 7, 1}, 3);
  const Dataset dataset = open_dataset(at(folder.path()));
  EXPECT_EQ(dataset.layout, "classes");
  EXPECT_EQ(dataset.labels, (Labels{{"cat", 1}, {"dog", 2}}));
  EXPECT_EQ(dataset.modalities, (std::vector<std::string>{"red", "green", "blue"}));
  EXPECT_TRUE(dataset.images && dataset.classes);
  ASSERT_EQ(dataset.cases.size(), 3U);
  EXPECT_EQ(dataset.cases[0].id, "cat_1");
  EXPECT_EQ(dataset.cases[2].label, 2);
  EXPECT_EQ(read_case(dataset, dataset.cases[2]).channels.size(), 3U);
  write_description(folder / "dataset.json", dataset, "run");
  const Dataset described = read_description(folder / "dataset.json");
  EXPECT_TRUE(described.images && described.classes);
  DatasetOptions named = at(folder.path());
  named.labels = {{"dog", 1}, {"cat", 5}};
  EXPECT_EQ(open_dataset(named).cases[0].label, 5);
  named.labels = {{"dog", 1}};
  expect_failure([&] { open_dataset(named); }, Exit::bad_data, {"cat", "data.labels"});
}

TEST(PicturesInClasses, RefuseAFolderWithoutPictures) {
  const TemporaryFolder folder;
  write_picture(folder / "cat/1.png");
  write_picture(folder / "dog/1.png");
  fs::create_directories(folder / "bird");
  expect_failure([&] { open_dataset(at(folder.path())); }, Exit::bad_data, {"bird", "contains no image"});
}

TEST(PicturesInClasses, RefuseGreyAmongColours) {
  const TemporaryFolder folder;
  write_picture(folder / "cat/1.png", {9, 7, 1}, 3);
  write_picture(folder / "dog/1.png");
  const Dataset dataset = open_dataset(at(folder.path()));
  EXPECT_NO_THROW(read_case(dataset, dataset.cases[0]));
  expect_failure([&] { read_case(dataset, dataset.cases[1]); }, Exit::bad_data,
                 {"dog", "1.png", "is greyscale", "colour"});
  CheckOptions options;
  options.data = at(folder.path());
  const CheckReport report = check_dataset(options);
  EXPECT_TRUE(std::any_of(report.problems.begin(), report.problems.end(), [](const Problem& problem) {
    return problem.severity == "error" && problem.what.find("is greyscale") != std::string::npos;
  }));
}

TEST(PicturesWithMasks, AreFoundByNameAndReadWithTheirLabels) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b", "c"}) write_picture(folder / "images" / (std::string(name) + ".png"));
  write_mask(folder / "masks/a.png", {9, 7, 1}, 2);
  write_mask(folder / "masks/b_mask.png", {9, 7, 1}, 1);
  write_mask(folder / "masks/lost.png");
  const Dataset dataset = open_dataset(at(folder.path()));
  EXPECT_EQ(dataset.layout, "masks");
  EXPECT_EQ(dataset.modalities, (std::vector<std::string>{"grey"}));
  ASSERT_EQ(dataset.cases.size(), 3U);
  EXPECT_EQ(read_case(dataset, dataset.cases[0]).truth.voxels[3], 2);
  EXPECT_EQ(read_case(dataset, dataset.cases[1]).truth.voxels[3], 1);
  EXPECT_FALSE(dataset.cases[2].labelled());
  ASSERT_EQ(dataset.left_out.size(), 1U);
  EXPECT_EQ(dataset.left_out[0].path.filename(), "lost.png");
}

TEST(PicturesWithMasks, RefuseAMaskOfAnotherSizeAndOneWithOtherValues) {
  const TemporaryFolder folder;
  write_picture(folder / "images/a.png");
  write_picture(folder / "images/b.png");
  write_mask(folder / "masks/a.png", {8, 7, 1});
  write_mask(folder / "masks/b.png", {9, 7, 1}, 77);
  DatasetOptions options = at(folder.path());
  options.labels = {{"thing", 1}};
  const Dataset dataset = open_dataset(options);
  expect_failure([&] { read_case(dataset, dataset.cases[0]); }, Exit::bad_data, {"a.png", "different grid"});
  expect_failure([&] { read_case(dataset, dataset.cases[1]); }, Exit::bad_data,
                 {"b.png", "77", "not in the list"});
}

TEST(PicturesToPredict, AreAFolderOfThemOrOne) {
  const TemporaryFolder folder;
  for (const char* name : {"set/cat/1.png", "set/dog/1.png", "new/x.png", "new/y.png"})
    write_picture(folder / name);
  const DatasetOptions options = at(folder / "set");
  const Dataset trained = open_dataset(options);
  const Dataset several = open_for_prediction(trained, options, folder / "new"),
                one = open_for_prediction(trained, options, folder / "new/x.png"),
                same = open_for_prediction(trained, options, folder / "set");
  ASSERT_EQ(several.cases.size(), 2U);
  EXPECT_EQ(several.cases[1].id, "y");
  ASSERT_EQ(one.cases.size(), 1U);
  EXPECT_EQ(one.cases[0].id, "x");
  EXPECT_EQ(read_case(one, one.cases[0]).channels.size(), 1U);
  ASSERT_EQ(same.cases.size(), 2U);
  EXPECT_FALSE(same.cases[0].labelled());
}

TEST(PhantomPictures, ShowTheSliceWithTheirKindOfTissue) {
  const TemporaryFolder folder;
  PhantomOptions options;
  options.out = folder / "masks";
  options.cases = 2;
  options.size = {24, 24, 20};
  options.layout = "masks";
  ASSERT_TRUE(write_phantoms(options));
  const Dataset masks = open_dataset(at(options.out));
  EXPECT_EQ(masks.layout, "masks");
  ASSERT_EQ(masks.cases.size(), 2U);
  const Volume picture = read_case(masks, masks.cases[0]);
  const Volume whole = phantom(options.seed, 0, options.size);
  std::int64_t most = 0;
  for (std::int64_t z = 0; z < 20; ++z) {
    const auto plane = whole.truth.voxels.begin() + z * 576;
    most = std::max(most, static_cast<std::int64_t>(576 - std::count(plane, plane + 576, 0)));
  }
  EXPECT_EQ(576 - std::count(picture.truth.voxels.begin(), picture.truth.voxels.end(), 0), most);
  EXPECT_FALSE(write_phantoms(options)) << "a complete set is left alone";
  options.out = folder / "classes";
  options.layout = "classes";
  ASSERT_TRUE(write_phantoms(options));
  const Dataset classes = open_dataset(at(options.out));
  EXPECT_EQ(classes.labels, (Labels{{"healthy", 1}, {"tumor", 2}}));
  ASSERT_EQ(classes.cases.size(), 2U);
  EXPECT_EQ(classes.cases[0].label, 1);
}

}  // namespace
}  // namespace voxswap::data
