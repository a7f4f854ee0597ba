// Files with quirks of real images, made by tests/fixtures/quirks.py with nibabel and pydicom: read as these
// libraries do, or rejected with a specific message.
#include <zlib.h>

#include <cmath>

#include "base/csv.h"
#include "base/file.h"
#include "data/cases/read_case.h"
#include "data/formats/formats.h"
#include "data/formats/header_text.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "data/layouts/dataset.h"
#include "data/volumes/orientation.h"
#include "tests/data/support.h"
#include "tests/folder.h"

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

TEST(FilesWithQuirks, AreReadAsOtherProgramsReadThemOrRefusedWithTheReason) {
  const Csv expected = read_csv(quirks / "expected.csv");
  EXPECT_GT(expected.rows.size(), 30U);
  for (const auto& row : expected.rows) {
    const fs::path path = quirks / row[0];
    if (row[1].empty()) {
      expect_read(path, row);
    } else {
      std::string message = message_of([&] { read_image(path); }, Exit::bad_data);
      EXPECT_TRUE(contains(message, path.string()));
      for (std::size_t at; (at = message.find(path.string())) != message.npos;)  // it may contain the words
        message.erase(at, path.string().size());
      EXPECT_TRUE(contains(message, row[1])) << path;
    }
  }
}

// The first bytes of a file that may be compressed.
std::string header_bytes(const fs::path& path) {
  std::string bytes(348, '\0');
  gzFile file = gzopen(path.c_str(), "rb");
  EXPECT_EQ(gzread(file, bytes.data(), 348), 348) << path;
  gzclose(file);
  return bytes;
}

TEST(FilesWithQuirks, StateThePositionOfTheirLabelMapsAsTheirOwn) {
  const TemporaryFolder folder;
  int identical = 0;
  for (const auto& row : read_csv(quirks / "expected.csv").rows) {
    const fs::path path = quirks / row[0];
    if (!row[1].empty() || !is_nifti(path)) continue;
    const LabelMap labels = random_labels(read_header(path).geometry, {0, 1, 300});
    for (const char* name : {"map.nii", "map.nii.gz"}) {
      const fs::path map = folder.path() / name;
      write_label_map(map, labels, path);
      EXPECT_EQ(read_header(map).oddities, read_header(path).oddities) << path;
      EXPECT_TRUE(same_grid(read_header(map).geometry, read_header(path).geometry)) << path;
      EXPECT_EQ(read_label_map(map).voxels, labels.voxels) << path;
      const std::string given = header_bytes(path), made = header_bytes(map);
      if (given[0] != 92 || given[1] != 1) continue;  // another version or byte order
      ++identical;
      constexpr std::pair<std::size_t, std::size_t> statement[] = {// pixdim, xyzt_units, qform to srow
                                                                   {76, 16},
                                                                   {123, 1},
                                                                   {252, 76}};
      for (const auto& [offset, bytes] : statement)
        EXPECT_EQ(made.substr(offset, bytes), given.substr(offset, bytes)) << path << " " << offset;
    }
  }
  EXPECT_GT(identical, 20);
}

TEST(FilesWithQuirks, StateNoPositionForOtherGridsOrFormats) {
  const TemporaryFolder folder;
  const LabelMap labels = random_labels(geometry({5, 4, 3}), {0, 1});
  write_label_map(folder.path() / "alone.nii.gz", labels);
  for (const char* other : {"other_grid.nii.gz", "plain.mha", "truncated.nii.gz", "gone.nii.gz"}) {
    write_label_map(folder.path() / "map.nii.gz", labels, quirks / other);
    EXPECT_EQ(read_file(folder.path() / "map.nii.gz"), read_file(folder.path() / "alone.nii.gz")) << other;
  }
}

// A case of files with quirks, as from layout `files`.
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

TEST(ACase, WithLabelsStoredAsFloatHasWholeLabels) {
  const Volume volume = QuirkyCase({"straight.nii.gz"}, "float_labels.nii.gz").read();
  std::set<int> values(volume.truth.voxels.begin(), volume.truth.voxels.end());
  EXPECT_EQ(values, (std::set<int>{0, 1, 2, 4}));
}

TEST(ACase, WhoseMaskIsScaledTo0_99999997HasWholeLabels) {
  EXPECT_NE(read_image(quirks / "scaled_mask.nii.gz").voxels, std::vector<float>(60, 1));
  const Volume volume = QuirkyCase({"straight.nii.gz"}, "scaled_mask.nii.gz").read();
  for (const std::int16_t value : volume.truth.voxels) EXPECT_TRUE(value == 0 || value == 1);
}

TEST(ACase, WithAnSformInOneChannelAndAQformInTheOtherIsOneGrid) {
  const Volume volume = QuirkyCase({"sform_only.nii.gz", "qform_only.nii.gz"}).read();
  EXPECT_EQ(volume.channels[0].geometry, volume.channels[1].geometry);
}

TEST(Headers, HaveAmbiguitiesReported) {
  const auto oddity = [](const char* name) {
    const ImageHeader header = read_header(quirks / name);
    return header.oddities.empty() ? std::string() : header.oddities.front();
  };
  EXPECT_EQ(oddity("both.nii.gz"), "");
  EXPECT_TRUE(contains(oddity("forms_disagree.nii.gz"), "up to 5 mm"));
  EXPECT_TRUE(contains(oddity("neither_form.nii.gz"), "neither qform nor sform"));
  EXPECT_TRUE(contains(oddity("sheared_with_qform.nii.gz"), "the qform is used"));
  EXPECT_TRUE(contains(oddity("empty_sform.nii.gz"), "the qform is used"));
  EXPECT_TRUE(contains(oddity("micrometres.nii"), "micrometre"));
  EXPECT_EQ(read_header(quirks / "float_labels.nii.gz").element, "float32");
  EXPECT_EQ(read_header(quirks / "both.nii.gz").element, "int16");
}

}  // namespace
}  // namespace voxswap::data
