// The walls of this house: a folder includes only folders below it, no units go in circles, and a third party
// is named only in its own room.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/base/house.h"

namespace voxswap {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

const fs::path source = VOXSWAP_SOURCE_DIR;
const std::vector<std::string> rooms = {"base", "data",     "metrics",     "net",
                                        "swap", "pipeline", "experiments", "cli"};

// What each folder may include besides itself. Data and metrics and net stand side by side on base.
const std::vector<house::Folder> folders = {
    {"base", {}},
    {"data", {"base"}},
    {"metrics", {"base"}},
    {"net", {"base"}},
    {"swap", {"base", "net"}},
    {"pipeline", {"base", "data", "metrics", "net", "swap"}},
    {"experiments", {"base", "data", "metrics", "net", "swap", "pipeline"}},
    {"cli", {"base", "data", "metrics", "net", "swap", "pipeline", "experiments"}},
};

const house::Namespaces namespaces = [] {
  house::Namespaces all;
  for (const std::string& room : rooms) all[room] = "voxswap";
  return all;
}();

// The folders that may name a third party's headers, by how its includes begin.
const house::ThirdParties third_parties = {
    {"fmt/", {"base"}},
    {"spdlog/", {"base"}},
    {"xxhash", {"base"}},
    {"nlohmann/", {"base"}},
    {"itk", {"data"}},
    {"gdcm", {"data"}},
    {"zlib", {"data"}},
    {"libdeflate", {"data"}},
    {"png", {"data"}},
    {"oneapi/dnnl", {"net/backends/onednn"}},
    {"dnnl", {"net/backends/onednn"}},
    {"omp.h", {"net/backends/onednn"}},
    {"cuda", {"net/backends/cuda"}},
    {"cudnn", {"net/backends/cuda"}},
    {"cublas", {"net/backends/cuda"}},
    {"nvtx3/", {"net/backends/cuda"}},
    {"yaml-cpp/", {"experiments"}},
    {"CLI/", {"cli"}},
};

const std::vector<house::SourceFile>& sources() {
  static const std::vector<house::SourceFile> files = house::read_sources(source, rooms);
  return files;
}

TEST(HouseRules, SourcesAreThere) {
  EXPECT_GT(sources().size(), 300u);
}

TEST(HouseRules, FoldersIncludeOnlyFoldersBelowThem) {
  EXPECT_THAT(house::faults_of_order(folders), IsEmpty());
  EXPECT_THAT(house::faults_of_includes(sources(), folders), IsEmpty());
}

TEST(HouseRules, UnitsGoInNoCircles) {
  EXPECT_THAT(house::circles_of_units(sources()), IsEmpty());
}

TEST(HouseRules, ThirdPartiesAreNamedOnlyInTheirRoom) {
  EXPECT_THAT(house::faults_of_third_parties(sources(), third_parties), IsEmpty());
}

TEST(HouseRules, HeadersOfTheProjectNameNoThirdPartyButFmtAndJson) {
  house::ThirdParties at_home_nowhere;
  for (const auto& [prefix, places] : third_parties) at_home_nowhere[prefix] = {"net/backends"};
  at_home_nowhere["fmt/"] = rooms;
  std::vector<house::SourceFile> headers;
  for (const house::SourceFile& file : sources())
    if (file.path.extension() == ".h" && file.path != "base/json.h") headers.push_back(file);
  EXPECT_THAT(house::faults_of_third_parties(headers, at_home_nowhere), IsEmpty());
}

TEST(HouseRules, EverythingIsDeclaredInTheNamespaceOfItsRoom) {
  EXPECT_THAT(house::faults_of_namespaces(sources(), namespaces), IsEmpty());
}

TEST(HouseRules, EveryFolderOfTestsIsBuilt) {
  const fs::path tests = fs::path(VOXSWAP_SOURCE_DIR) / "tests";
  const std::string list = read_file(tests / "CMakeLists.txt");
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(tests)) {
    if (!entry.path().string().ends_with("_test.cpp")) continue;
    ++files;
    const std::string folder = entry.path().parent_path().filename().string();
    EXPECT_NE(list.find("add_room_tests(" + folder + " "), std::string::npos) << entry.path();
  }
  EXPECT_GT(files, 50);
}

}  // namespace
}  // namespace voxswap
