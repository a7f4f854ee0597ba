// Randomly damaged files give an error with exit code 3 or a correct read, never a crash, a hang or unlimited
// memory use. Damage is seeded, so failures are reproducible.
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include <memory>

#include "base/file.h"
#include "data/cases/read_case.h"
#include "data/formats/header_text.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "data/layouts/dataset.h"
#include "data/layouts/open_dataset.h"
#include "tests/data/dicom_bytes.h"
#include "tests/data/support.h"

namespace voxswap::data {
namespace {

using namespace test;

constexpr std::uint64_t files_of_a_kind = 500;

// Damages bytes in several ways, one after the other, drawn by `seed`.
class Damage {
 public:
  explicit Damage(std::uint64_t seed) : random_(seed, 0xda3a6e) {}

  std::string operator()(std::string bytes) {
    const std::uint64_t times = 1 + draw(4);
    for (std::uint64_t i = 0; i < times && !bytes.empty(); ++i) once(bytes);
    return bytes;
  }

 private:
  std::uint64_t draw(std::uint64_t below) {
    const std::uint64_t word =
        (static_cast<std::uint64_t>(random_.word(next_)) << 32) | random_.word(next_ + 1);
    next_ += 2;
    return word % below;
  }

  void once(std::string& bytes) {
    // Headers are hit more often than voxels.
    const std::size_t at = draw(2) == 0 ? draw(bytes.size()) : draw(std::min<std::size_t>(bytes.size(), 360));
    const std::size_t length = std::min<std::size_t>(1 + draw(16), bytes.size() - at);
    switch (draw(8)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << draw(8)));
        break;
      case 2:
        for (std::size_t i = 0; i < length; ++i) bytes[at + i] = static_cast<char>(draw(256));
        break;
      case 3:
        bytes.erase(at, length);
        break;
      case 4:
        bytes.insert(at, bytes.substr(draw(bytes.size()), length));
        break;
      case 5:
        extreme_number(bytes, at);
        break;
      case 6:
        other_text_number(bytes, at);
        break;
      default:
        for (std::size_t i = 0; i < length; ++i) bytes[at + i] = static_cast<char>(draw(2) == 0 ? 0 : 0xff);
    }
  }

  // Binary numbers that often crash programs.
  void extreme_number(std::string& bytes, std::size_t at) {
    static const std::vector<std::string> extremes = {
        {"\xff\x7f", 2},         {"\x00\x80", 2},         {"\xff\xff", 2},         {"\x00\x00", 2},
        {"\xff\xff\xff\x7f", 4}, {"\x00\x00\xc0\x7f", 4}, {"\x00\x00\x80\x7f", 4}, {"\x00\x00\x00\xff", 4}};
    const std::string& extreme = extremes[draw(extremes.size())];
    at -= at % extreme.size();
    if (at + extreme.size() <= bytes.size()) bytes.replace(at, extreme.size(), extreme);
  }

  // The same in text: replaces the number at or after `at`.
  void other_text_number(std::string& bytes, std::size_t at) {
    static const std::vector<std::string> others = {"0",     "-1",  "4000000000", "99999999999999999999",
                                                    "1e308", "nan", "-0.0",       "2147483648",
                                                    "",      "{}",  "\"",         "[[[[["};
    const std::size_t begin = bytes.find_first_of("0123456789", at);
    if (begin == std::string::npos) return;
    const std::size_t end = std::min(bytes.find_first_not_of("0123456789", begin), bytes.size());
    bytes.replace(begin, end - begin, others[draw(others.size())]);
  }

  Philox random_;
  std::uint64_t next_ = 0;
};

long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Tries to read the file; returns whether that succeeded.
bool is_readable(const fs::path& path, std::uint64_t seed, std::vector<Image>& images) {
  try {
    const ImageHeader header = read_header(path);
    images = read_images(path);
    EXPECT_EQ(static_cast<std::int64_t>(images.size()), header.volumes) << "seed " << seed;
    for (const Image& image : images) {
      EXPECT_EQ(image.voxels.size(), static_cast<std::size_t>(image.geometry.count())) << "seed " << seed;
    }
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::bad_data) << "seed " << seed << ": " << error.what();
    EXPECT_TRUE(contains(error.what(), path.string())) << "seed " << seed;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "seed " << seed << ": " << error.what();
  }
  return false;
}

class DamagedImages : public testing::TestWithParam<std::string> {};

TEST_P(DamagedImages, AreReadOrReportedAndNothingElse) {
  const TemporaryFolder folder;
  const fs::path path = folder / ("image" + GetParam());
  write_images_4d(
      path, {random_image(oblique_geometry({7, 6, 5}), 1), random_image(oblique_geometry({7, 6, 5}), 2)});
  const std::vector<Image> whole = read_images(path);
  const std::string bytes = read_file(path);
  const long before = peak_kilobytes();
  std::size_t readable = 0;
  for (std::uint64_t seed = 0; seed < files_of_a_kind; ++seed) {
    const std::string damaged = Damage(seed)(bytes);
    fs::ofstream(path, std::ios::binary) << damaged;
    std::vector<Image> images;
    if (!is_readable(path, seed, images)) continue;
    ++readable;
    if (GetParam() != ".nii.gz") continue;
    // gzip has a checksum: everything that can be read is as written.
    for (std::size_t i = 0; i < whole.size() && i < images.size(); ++i)
      EXPECT_EQ(images[i].voxels, whole[i].voxels) << "seed " << seed;
  }
  EXPECT_GT(readable, 0U);
  EXPECT_LT(readable, files_of_a_kind);
  constexpr long allowed = 200 * 1024;  // for files below 2 KiB
  EXPECT_LT(peak_kilobytes() - before, allowed);
}

INSTANTIATE_TEST_SUITE_P(, DamagedImages, testing::Values(".nii", ".nii.gz", ".nrrd", ".mha"),
                         [](const auto& one) {
                           std::string name;
                           for (const char c : one.param) name += c == '.' ? '_' : c;
                           return name;
                         });

TEST(DamagedSlices, AreReadOrReportedAndNothingElse) {
  const TemporaryFolder folder;
  for (int number = 1; number <= 3; ++number) {
    SliceBytes slice;
    slice.number = number;
    slice.position = {-10, -20, 3.0 * number};
    write_slice(folder / format("s/{}.dcm", number), slice);
  }
  const fs::path path = folder / "s/2.dcm";
  const std::string bytes = read_file(path);
  std::size_t readable = 0;
  for (std::uint64_t seed = 0; seed < files_of_a_kind; ++seed) {
    fs::ofstream(path, std::ios::binary) << Damage(seed)(bytes);
    std::vector<Image> images;
    if (is_readable(folder / "s", seed, images)) ++readable;
  }
  EXPECT_GT(readable, 0U);
  EXPECT_LT(readable, files_of_a_kind);
}

// A gzip stream of 400 MB after a header that declares 2 KiB, and a file of that size: data beyond the
// declared size is not kept.
TEST(Images, TakeNoMoreMemoryThanTheirHeadersPromise) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "this sanitizer keeps what was given back for a while";
#endif
  const TemporaryFolder folder;
  for (const char* name : {"a.nii", "a.nrrd", "a.mha"}) {
    const fs::path path = folder / name, packed = folder / (std::string(name) + ".gz");
    write_image(path, random_image(geometry({8, 8, 8})));
    const std::vector<float> voxels = read_image(path).voxels;
    constexpr std::uintmax_t large = 400 << 20;
    const std::string whole = read_file(path);
    if (std::string(name) == "a.nii") {
      const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(packed.c_str(), "wb1"), gzclose);
      ASSERT_EQ(gzwrite(file.get(), whole.data(), static_cast<unsigned>(whole.size())),
                static_cast<int>(whole.size()));
      const std::string zeros(1 << 20, '\0');
      for (int i = 0; i < 400; ++i) gzwrite(file.get(), zeros.data(), static_cast<unsigned>(zeros.size()));
    }
    fs::resize_file(path, large);  // sparse at its end
    const long before = peak_kilobytes();
    EXPECT_EQ(read_image(path).voxels, voxels) << path;
    if (fs::exists(packed)) {
      EXPECT_EQ(read_image(packed).voxels, voxels) << packed;
    }
    constexpr long allowed = 40 * 1024;
    EXPECT_LT(peak_kilobytes() - before, allowed) << path;
  }
}

// In a separate process with a memory limit.
TEST(Images, ThatDoNotFitIntoMemoryAreNotCalledDamaged) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need the address space that this test takes away";
#endif
  const TemporaryFolder folder;
  write_label_map(folder / "a.nii.gz", random_labels(geometry({256, 256, 256}), {0, 1}));
  write_label_map(folder / "a.nrrd", random_labels(geometry({256, 256, 256}), {0, 1}));
  for (const char* name : {"a.nii.gz", "a.nrrd"}) {
    const auto read_in_little_memory = [&] {
      std::size_t pages = 0;
      fs::ifstream("/proc/self/statm") >> pages;
      const rlim_t bytes = pages * static_cast<rlim_t>(getpagesize()) + (30 << 20);  // its voxels take 64 MiB
      const rlimit limit = {bytes, bytes};
      setrlimit(RLIMIT_AS, &limit);
      try {
        read_image(folder.path() / name);
      } catch (const Error& error) {
        _exit(static_cast<int>(error.exit()));
      } catch (...) {
        _exit(99);
      }
      _exit(0);
    };
    EXPECT_EXIT(read_in_little_memory(), testing::ExitedWithCode(static_cast<int>(Exit::does_not_fit)), "")
        << name;
  }
}

class DamagedDatasetJson : public testing::TestWithParam<const char*> {};

TEST_P(DamagedDatasetJson, IsReadOrReportedAndNothingElse) {
  const TemporaryFolder folder;
  const Geometry grid = geometry({4, 4, 4});
  for (const char* id : {"a_0000", "a_0001", "a"})
    write_image(folder / format("imagesTr/{}.nii.gz", id), random_image(grid));
  write_label_map(folder / "labelsTr/a.nii.gz", random_labels(grid, {0, 1, 2}));
  std::size_t opened = 0;
  for (std::uint64_t seed = 0; seed < files_of_a_kind; ++seed) {
    fs::ofstream(folder / "dataset.json", std::ios::binary) << Damage(seed)(GetParam());
    DatasetOptions options = at(folder.path());
    try {
      const Dataset dataset = open_dataset(options);
      ++opened;
      EXPECT_FALSE(dataset.cases.empty());
      for (const CaseFiles& files : dataset.cases) read_case(dataset, files);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::bad_data) << "seed " << seed << ": " << error.what();
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what();
    }
  }
  EXPECT_GT(opened, 0U);
  EXPECT_LT(opened, files_of_a_kind);
}

INSTANTIATE_TEST_SUITE_P(
    , DamagedDatasetJson,
    testing::Values(
        R"({"name": "x", "modality": {"0": "FLAIR"}, "labels": {"0": "background", "1": "edema", "2": "core"},
            "numTraining": 1, "training": [{"image": "./imagesTr/a.nii.gz", "label": "./labelsTr/a.nii.gz"}], "test": []})",
        R"({"channel_names": {"0": "T1", "1": "T2"}, "labels": {"background": 0, "whole": [1, 2], "core": 2},
            "regions_class_order": [1, 2], "numTraining": 1, "file_ending": ".nii.gz"})"));

}  // namespace
}  // namespace voxswap::data
