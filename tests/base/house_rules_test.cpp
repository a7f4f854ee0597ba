// The walls of the house: a folder includes only folders below it, and a third party is named only in its own
// room.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace voxswap {
namespace {

namespace fs = std::filesystem;

const fs::path source = VOXSWAP_SOURCE_DIR;
const std::vector<std::string> rooms = {"base", "data",     "metrics",     "net",
                                        "swap", "pipeline", "experiments", "cli"};

// What each room may include besides itself. Data and metrics and net stand side by side on base.
const std::map<std::string, std::set<std::string>> allowed = {
    {"base", {}},
    {"data", {"base"}},
    {"metrics", {"base"}},
    {"net", {"base"}},
    {"swap", {"base", "net"}},
    {"pipeline", {"base", "data", "metrics", "net", "swap"}},
    {"experiments", {"base", "data", "metrics", "net", "swap", "pipeline"}},
    {"cli", {"base", "data", "metrics", "net", "swap", "pipeline", "experiments"}},
};

// The folders that may name a third party's headers, by how its includes begin.
const std::map<std::string, std::vector<std::string>> third_parties = {
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

struct Include {
  fs::path file;  // relative to the source folder
  std::string header;
};

std::vector<Include> includes() {
  std::vector<Include> found;
  const std::regex line_pattern(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  for (const std::string& room : rooms) {
    for (const auto& entry : fs::recursive_directory_iterator(source / room)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cpp" && extension != ".cu" && extension != ".cuh") continue;
      std::ifstream stream(entry.path());
      std::smatch match;
      for (std::string line; std::getline(stream, line);) {
        if (std::regex_search(line, match, line_pattern)) {
          found.push_back({fs::relative(entry.path(), source), match[1].str()});
        }
      }
    }
  }
  return found;
}

TEST(HouseRules, FoldersIncludeOnlyFoldersBelowThem) {
  const auto all = includes();
  ASSERT_GT(all.size(), 100u);
  for (const Include& include : all) {
    const std::string from = include.file.begin()->string(), to = fs::path(include.header).begin()->string();
    if (from == to || std::find(rooms.begin(), rooms.end(), to) == rooms.end()) continue;
    EXPECT_TRUE(allowed.at(from).contains(to)) << include.file << " includes " << include.header;
  }
}

TEST(HouseRules, ThirdPartiesAreNamedOnlyInTheirRoom) {
  for (const Include& include : includes()) {
    for (const auto& [prefix, places] : third_parties) {
      if (!include.header.starts_with(prefix)) continue;
      const bool at_home = std::any_of(places.begin(), places.end(), [&](const std::string& place) {
        return include.file.string().starts_with(place + "/");
      });
      EXPECT_TRUE(at_home) << include.file << " includes " << include.header;
    }
  }
}

TEST(HouseRules, HeadersOfTheProjectNameNoThirdPartyButFmtAndJson) {
  for (const Include& include : includes()) {
    if (include.file.extension() != ".h" || include.file.string().starts_with("net/backends/")) continue;
    for (const auto& [prefix, places] : third_parties) {
      if (prefix == "fmt/" || include.file == "base/json.h") continue;
      EXPECT_FALSE(include.header.starts_with(prefix)) << include.file << " includes " << include.header;
    }
  }
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
