// Files with the quirks of real images, made by tests/fixtures/quirks.py with nibabel and pydicom, read as
// those say they must be, or refused with the right words.
#include <cmath>

#include "base/csv.h"
#include "base/file.h"
#include "data/cases/read_case.h"
#include "data/formats/header_text.h"
#include "data/formats/image_io.h"
#include "data/layouts/dataset.h"
#include "data/volumes/orientation.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

const fs::path quirks = fs::path(VOXSWAP_SOURCE_DIR) / "tests/fixtures/quirks";

// Row-major, 3 x 4: voxel index to LPS millimetres.
std::array<double, 12> affine(const Geometry& geometry) {
  std::array<double, 12> result;
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      result[row * 4 + axis] = geometry.direction[row * 3 + axis] * geometry.spacing[axis];
    result[row * 4 + 3] = geometry.origin[row];
  }
  return result;
}

void expect_read(const fs::path& path, const std::vector<std::string>& row) {
  const Image image = read_image(path);
  EXPECT_TRUE(same_grid(read_header(path).geometry, image.geometry)) << path;
  for (std::size_t axis = 0; axis < 3; ++axis)
    EXPECT_EQ(image.geometry.size[axis], std::stoll(row[2 + axis])) << path;
  for (std::size_t i = 0; i < 12; ++i)
    EXPECT_NEAR(affine(image.geometry)[i], std::stod(row[5 + i]), 1e-5) << path;
  double sum = 0, weighted = 0;
  for (std::size_t i = 0; i < image.voxels.size(); ++i) {
    sum += image.voxels[i];
    weighted += static_cast<double>(i + 1) * image.voxels[i];
  }
  const double expected = std::stod(row[17]), expected_weighted = std::stod(row[18]);
  EXPECT_NEAR(sum, expected, 1e-6 * (1 + std::fabs(expected))) << path;
  EXPECT_NEAR(weighted, expected_weighted, 1e-6 * (1 + std::fabs(expected_weighted))) << path;
}

std::string message_without(const fs::path& path, const std::function<void()>& action) {
  std::string message;
  try {
    action();
  } catch (const Error& error) {
    message = error.what();
  }
  for (std::size_t at; (at = message.find(path.string())) != std::string::npos;)
    message.erase(at, path.string().size());
  return message;
}

TEST(FilesWithQuirks, AreReadAsOtherProgramsReadThemOrRefusedWithTheReason) {
  const Csv expected = read_csv(quirks / "expected.csv");
  EXPECT_GT(expected.rows.size(), 30U);
  for (const auto& row : expected.rows) {
    const fs::path path = quirks / row[0];
    if (row[1].empty()) {
      expect_read(path, row);
    } else {
      // What the message says must not be found in the file's own name.
      expect_failure([&] { read_image(path); }, Exit::bad_data, {path.string()});
      EXPECT_NE(message_without(path, [&] { read_image(path); }).find(row[1]), std::string::npos) << path;
    }
  }
}

// A case made of files with quirks, as layout `files` gives it.
struct QuirkyCase {
  Dataset dataset;
  CaseFiles files{"quirky", {}, {}, {}};

  QuirkyCase(const std::vector<std::string>& channels, const std::string& truth = "") {
    dataset.labels = {{"necrosis", 1}, {"oedema", 2}, {"enhancing", 4}};
    for (const std::string& name : channels) {
      dataset.modalities.push_back(name);
      files.channels.push_back(quirks / name);
      files.components.push_back(-1);
    }
    if (!truth.empty()) files.truth = quirks / truth;
  }
  Volume read() const { return read_case(dataset, files); }
};

TEST(ACase, WhoseLabelsAreStoredAsFloatHasWholeLabels) {
  const Volume volume = QuirkyCase({"straight.nii.gz"}, "float_labels.nii.gz").read();
  std::set<int> values(volume.truth.voxels.begin(), volume.truth.voxels.end());
  EXPECT_EQ(values, (std::set<int>{0, 1, 2, 4}));
}

TEST(ACase, WhoseMaskIsScaledTo0_99999997HasWholeLabels) {
  EXPECT_NE(read_image(quirks / "scaled_mask.nii.gz").voxels, std::vector<float>(60, 1));
  const Volume volume = QuirkyCase({"straight.nii.gz"}, "scaled_mask.nii.gz").read();
  for (const std::int16_t value : volume.truth.voxels) EXPECT_TRUE(value == 0 || value == 1);
}

TEST(ACase, WithACosineOffInTheEighthDigitIsOneGrid) {
  const Volume volume = QuirkyCase({"straight.nii.gz", "eighth_digit.nii.gz"}).read();
  EXPECT_NE(read_header(quirks / "straight.nii.gz").geometry,
            read_header(quirks / "eighth_digit.nii.gz").geometry);
  EXPECT_EQ(volume.channels[0].geometry, volume.channels[1].geometry);
}

TEST(ACase, WithAFlippedArrayAndARightAffineIsOneGrid) {
  const Volume volume = QuirkyCase({"both.nii.gz", "flipped.nii.gz"}).read();
  EXPECT_NE(read_image(quirks / "both.nii.gz").voxels, read_image(quirks / "flipped.nii.gz").voxels);
  EXPECT_EQ(volume.channels[0].voxels, volume.channels[1].voxels);
}

TEST(ACase, WithAnSformInOneChannelAndAQformInTheOtherIsOneGrid) {
  const Volume volume = QuirkyCase({"sform_only.nii.gz", "qform_only.nii.gz"}).read();
  EXPECT_EQ(volume.channels[0].geometry, volume.channels[1].geometry);
}

TEST(ACase, OnDifferentGridsIsRefusedUnlessResamplingIsAskedFor) {
  QuirkyCase quirky({"straight.nii.gz", "other_grid.nii.gz"});
  expect_failure([&] { quirky.read(); }, Exit::bad_data,
                 {"other_grid.nii.gz", "1.5x1.5x2 mm", "straight.nii.gz", "1x1x1 mm", "data.align"});
  quirky.dataset.align = true;
  EXPECT_EQ(quirky.read().channels[1].geometry, read_header(quirks / "straight.nii.gz").geometry);
}

TEST(ACase, WithNaNIsRefusedAndSaysWhereItIs) {
  expect_failure([] { QuirkyCase({"nan.nii.gz"}).read(); }, Exit::bad_data,
                 {"nan.nii.gz", "1 of 60", "NaN", "(3, 2, 1)"});
}

TEST(ACase, ThatIsTruncatedOrLacksAChannelIsRefused) {
  expect_failure([] { QuirkyCase({"truncated.nii.gz"}).read(); }, Exit::bad_data,
                 {"truncated.nii.gz", "truncated"});
  expect_failure([] { QuirkyCase({"none.nii.gz"}).read(); }, Exit::bad_data, {"none.nii.gz", "no such file"});
}

TEST(Headers, TellWhatCouldBeMeantOtherwise) {
  const auto oddity = [](const char* name) {
    const ImageHeader header = read_header(quirks / name);
    return header.oddities.empty() ? std::string() : header.oddities.front();
  };
  EXPECT_EQ(oddity("both.nii.gz"), "");
  EXPECT_NE(oddity("forms_disagree.nii.gz").find("up to 5 mm"), std::string::npos)
      << oddity("forms_disagree.nii.gz");
  EXPECT_NE(oddity("neither_form.nii.gz").find("neither qform nor sform"), std::string::npos);
  EXPECT_NE(oddity("sheared_with_qform.nii.gz").find("the qform is used"), std::string::npos);
  EXPECT_NE(oddity("empty_sform.nii.gz").find("the qform is used"), std::string::npos);
  EXPECT_NE(oddity("micrometres.nii").find("micrometre"), std::string::npos);
  EXPECT_EQ(read_header(quirks / "float_labels.nii.gz").element, "float32");
  EXPECT_EQ(read_header(quirks / "both.nii.gz").element, "int16");
}

}  // namespace
}  // namespace voxswap::data
