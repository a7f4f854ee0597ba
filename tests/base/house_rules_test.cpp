// The include rules of this project: a folder includes only folders below it, units have no cycles, and a
// third party is used only in its own folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/base/house.h"
#include "tests/expect.h"

namespace voxswap {
namespace {

using testing::IsEmpty;

const fs::path source = VOXSWAP_SOURCE_DIR;
const std::vector<std::string> top_folders = {"base",     "data",        "metrics", "net", "swap",
                                              "pipeline", "experiments", "library", "cli"};

// The folders that each folder may include besides itself: a top-level folder with all its parts, or a single
// part. The order is that of docs/explanation/architecture.md, which describes their contents.
const std::vector<house::Folder> folders = {
    {"base", {}},
    {"data/volumes", {"base"}},
    {"data/formats", {"base", "data/volumes"}},
    {"data/decoders", {"base", "data/volumes", "data/formats"}},
    {"data/layouts", {"base", "data/volumes", "data/formats"}},
    {"data/cases", {"base", "data/volumes", "data/formats", "data/layouts"}},
    {"data/prepare", {"base", "data/volumes", "data/layouts", "data/cases"}},
    {"data/augment", {"base", "data/volumes"}},
    {"data/phantoms", {"base", "data/volumes", "data/formats"}},
    {"metrics", {"base"}},
    {"net/graph", {"base"}},
    {"net/ops", {"base", "net/graph"}},
    {"net/networks", {"base", "net/graph"}},
    {"net/steps", {"base", "net/graph", "net/networks"}},
    {"net/backends", {"base", "net/graph"}},
    {"net/collective", {"base", "net/graph", "net/steps", "net/backends"}},
    {"swap/plan", {"base", "net/graph"}},
    {"swap/model", {"base", "net/graph", "net/steps", "swap/plan"}},
    {"swap/verify", {"base", "net/graph", "swap/plan"}},
    {"swap/planners", {"base", "net/graph", "swap/plan", "swap/model"}},
    {"swap/execute", {"base", "net", "swap/plan", "swap/verify", "swap/planners"}},
    {"swap/measure", {"base", "net", "swap/plan", "swap/model", "swap/planners", "swap/execute"}},
    {"pipeline/report", {"base", "data/volumes", "metrics"}},
    {"pipeline/cases", {"base", "data", "metrics", "net", "swap", "pipeline/report"}},
    {"pipeline/record", {"base", "data", "net", "pipeline/report", "pipeline/cases"}},
    {"pipeline/plan",
     {"base", "data", "net", "swap", "pipeline/report", "pipeline/cases", "pipeline/record"}},
    {"pipeline/device",
     {"base", "metrics", "net", "swap", "pipeline/cases", "pipeline/plan", "pipeline/record"}},
    {"pipeline/predict",
     {"base", "data", "metrics", "net", "pipeline/report", "pipeline/cases", "pipeline/record",
      "pipeline/device", "swap/execute", "swap/plan"}},
    {"pipeline/train",
     {"base", "data", "metrics", "net", "swap", "pipeline/report", "pipeline/cases", "pipeline/plan",
      "pipeline/record", "pipeline/device", "pipeline/predict"}},
    {"pipeline/export",
     {"base", "data", "net", "pipeline/report", "pipeline/cases", "pipeline/record", "pipeline/device",
      "pipeline/predict"}},
    {"pipeline/sweep", {"base", "net", "pipeline/report", "pipeline/cases", "pipeline/plan"}},
    {"experiments", {"base", "data", "metrics", "net", "swap", "pipeline"}},
    {"library", {"base", "data", "metrics", "net", "swap", "pipeline", "experiments"}},
    {"cli", {"base", "data", "metrics", "net", "swap", "pipeline", "experiments", "library"}},
};

// base is in the common namespace; every other folder has its own.
const house::Namespaces namespaces = [] {
  house::Namespaces all;
  for (const std::string& folder : top_folders)
    all[folder] = folder == "base" || folder == "library" ? "voxswap" : "voxswap::" + folder;
  return all;
}();

// The folders that may include a third party's headers, by prefix of the include.
const house::ThirdParties third_parties = {
    {"fmt/", {"base"}},
    {"spdlog/", {"base"}},
    {"xxhash", {"base"}},
    {"nlohmann/", {"base"}},
    {"boost/filesystem", {"base"}},
    {"boost/system", {"base"}},
    {"boost/crc", {"pipeline/record"}},
    {"itk", {"data"}},
    {"gdcm", {"data/decoders"}},
    {"dcmtk/", {"data"}},
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
    {"nccl.h", {"net/backends/cuda"}},
    {"mpi.h", {"net/collective"}},
    {"onnx/", {"pipeline/export"}},
    {"yaml-cpp/", {"experiments"}},
    {"CLI/", {"cli"}},
};

const std::vector<house::SourceFile>& sources() {
  static const std::vector<house::SourceFile> files = house::read_sources(source, top_folders);
  return files;
}

TEST(HouseRules, SourcesAreThere) {
  EXPECT_GT(sources().size(), 300u);
}

// Public headers depend only on the standard library, for other programs that include them.
TEST(HouseRules, PublicHeadersIncludeOnlyOneAnother) {
  const std::vector<house::SourceFile> headers = house::read_sources(source, {"include"});
  EXPECT_GT(headers.size(), 5u);
  for (const house::SourceFile& header : headers)
    for (const std::string& name : header.includes)
      EXPECT_TRUE(name.starts_with("voxswap/") || name.find('.') == name.npos) << header.path << ": " << name;
}

TEST(HouseRules, FoldersIncludeOnlyFoldersBelowThem) {
  EXPECT_THAT(house::faults_of_order(folders), IsEmpty());
  EXPECT_THAT(house::faults_of_includes(sources(), folders), IsEmpty());
}

TEST(HouseRules, UnitsGoInNoCircles) {
  EXPECT_THAT(house::circles_of_units(sources()), IsEmpty());
}

TEST(HouseRules, ThirdPartiesAreNamedOnlyInTheirFolder) {
  EXPECT_THAT(house::faults_of_third_parties(sources(), third_parties), IsEmpty());
}

TEST(HouseRules, HeadersOfTheProjectNameNoThirdPartyButFmtJsonAndTheFileSystem) {
  house::ThirdParties at_home_nowhere;
  for (const auto& [prefix, places] : third_parties) at_home_nowhere[prefix] = {"net/backends"};
  at_home_nowhere["fmt/"] = top_folders;
  std::vector<house::SourceFile> headers;
  for (const house::SourceFile& file : sources())
    if (file.path.extension() == ".h" && file.path != "base/json.h" && file.path != "base/file.h")
      headers.push_back(file);
  EXPECT_THAT(house::faults_of_third_parties(headers, at_home_nowhere), IsEmpty());
}

TEST(HouseRules, JsonIsParsedOnlyWhereItsDepthIsLimited) {
  for (const house::SourceFile& file : sources()) {
    const std::string text = read_file(fs::path(VOXSWAP_SOURCE_DIR) / file.path);
    EXPECT_TRUE(file.path == "base/json.cpp" || text.find("Json::parse(") == std::string::npos)
        << file.path << ": use parse_json() or checked_json()";
  }
}

TEST(HouseRules, CommentsNameOnlyFilesThatAreThere) {
  std::vector<std::string> all = top_folders;
  for (const char* more : {"include", "tests", "bench", "examples", "cmake"}) all.emplace_back(more);
  EXPECT_THAT(house::faults_of_mentions(house::read_sources(source, all), {"nifti1.h", "nifti2.h"}),
              IsEmpty());
}

// Checks that exactly the sources `places` contain one of these words.
void expect_only_in(const std::vector<std::string>& words, const std::set<std::string>& places,
                    const std::string& instead) {
  const auto has = [](const std::string& text, const std::string& word) {
    for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; ++at)
      if (at == 0 || (std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0 && text[at - 1] != '_'))
        return true;
    return false;
  };
  std::set<std::string> found;
  for (const house::SourceFile& file : sources()) {
    const std::string text = read_file(source / file.path);
    if (std::any_of(words.begin(), words.end(), [&](const auto& word) { return has(text, word); }))
      found.insert(file.path.string());
  }
  EXPECT_EQ(found, places) << instead;
}

// Other functions would block on a pipe instead of a file.
TEST(HouseRules, FilesAreOpenedForReadingByOneFunction) {
  expect_only_in({"ifstream", "fopen(", "O_RDONLY", "O_RDWR", "filebuf", "LoadFile("},
                 {"base/descriptor.cpp", "base/file.cpp", "base/folder_lock.cpp", "base/part_files.cpp",
                  "base/standard_streams.cpp", "cli/child_process.cpp", "cli/sweep_jobs.cpp",
                  "swap/execute/scratch_file.cpp"},
                 "use open_file() or read_file()");
}

// Elsewhere a file name could contain terminal control characters, and a full disk would go unnoticed.
TEST(HouseRules, StreamsArePrintedToByOneFunction) {
  expect_only_in({"printf(", "puts(", "fputs(", "fprintf(", "std::cout", "std::cerr", "fmt::print"},
                 {"base/log.cpp", "base/terminal.cpp", "cli/main.cpp", "cli/sweep_table.cpp"},
                 "use print() or log.h");
}

TEST(HouseRules, EverythingIsDeclaredInTheNamespaceOfItsFolder) {
  EXPECT_THAT(house::faults_of_namespaces(sources(), namespaces), IsEmpty());
}

TEST(HouseRules, EveryFolderHasItsLineInTheDocs) {
  const std::string page = read_file(source / "docs/explanation/architecture.md");
  std::size_t last = 0;
  for (const house::Folder& folder : folders) {
    const std::size_t found = page.find("| `" + folder.path + "/` |");
    ASSERT_NE(found, std::string::npos) << folder.path;
    EXPECT_GT(found, last) << folder.path << " stands in another place than in the table above";
    last = found;
  }
}

// The kernels of an operation are in files with the name of its file in net/ops/; "_cases" ends the name of
// the file with its cases. Kernels on a few numbers are missing in the onednn backend.
TEST(HouseRules, KernelsAndCasesAreInFilesWithTheNameOfTheirOperation) {
  std::map<std::string, std::map<fs::path, std::string>> texts;
  for (const char* folder : {"net/ops", "net/backends/reference", "net/backends/onednn", "net/backends/cuda",
                             "tests/conformance/cases"})
    for (const auto& entry : fs::directory_iterator(source / folder))
      if (fs::is_regular_file(entry.path())) texts[folder][entry.path()] = read_file(entry.path());
  const auto stems = [&](const std::string& folder, const std::string& definition) {
    std::set<std::string> found;
    for (const auto& [path, text] : texts.at(folder))
      if (test::contains(text, definition)) found.insert(path.stem().string());
    return found;
  };
  std::istringstream words(read_file(source / "net/graph/operation_list.h"));
  std::size_t operations = 0;
  for (std::string word; words >> word;) {
    if (!word.starts_with("X(") || std::islower(static_cast<unsigned char>(word[2])) == 0) continue;
    const std::string name = word.substr(2, word.find(')') - 2), maker = "> make_" + name + "(const Graph& ";
    const std::set<std::string> stem = stems("net/ops", "const Operation& " + name + "() {");
    ASSERT_EQ(stem.size(), 1u) << name;
    EXPECT_EQ(stems("tests/conformance/cases", "Cases " + name + "() {"), std::set{*stem.begin() + "_cases"});
    EXPECT_EQ(stems("net/backends/reference", "void " + name + "(const Call& "), stem) << name;
    EXPECT_EQ(stems("net/backends/cuda", maker), stem) << name;
    const std::set<std::string> on_cpu = stems("net/backends/onednn", maker);
    EXPECT_TRUE(on_cpu.empty() || on_cpu == stem) << name;
    ++operations;
  }
  EXPECT_GT(operations, 60u);
}

TEST(HouseRules, EveryFolderOfTestsIsBuilt) {
  const fs::path tests = fs::path(VOXSWAP_SOURCE_DIR) / "tests";
  const std::string list = read_file(tests / "CMakeLists.txt");
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(tests)) {
    if (!entry.path().string().ends_with("_test.cpp")) continue;
    ++files;
    const std::string folder = entry.path().parent_path().filename().string();
    EXPECT_TRUE(test::contains(list, "add_folder_tests(" + folder + " ")) << entry.path();
  }
  EXPECT_GT(files, 50);
}

// The Containerfile is not built by any test, because that takes minutes and a registry.
TEST(Containerfile, NamesFilesOfTheSourceThatAreThere) {
  std::istringstream words(read_file(source / "Containerfile"));
  std::string word;
  std::size_t found = 0;
  while (words >> word) {
    if (word.ends_with(';')) word.pop_back();
    const std::string inside = word.starts_with("/source/") ? word.substr(8) : word;
    if (!inside.starts_with("cmake/") || inside.ends_with('/')) continue;
    EXPECT_TRUE(fs::exists(source / inside)) << word;
    ++found;
  }
  EXPECT_GE(found, 4u);
}

}  // namespace
}  // namespace voxswap
