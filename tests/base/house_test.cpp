// The checks of house.h find violations in incorrect sources.
#include "tests/base/house.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/folder.h"

namespace voxswap::house {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<Folder> folders = {{"base", {}},
                                     {"data/volumes", {"base"}},
                                     {"data/formats", {"base", "data/volumes"}},
                                     {"data/layouts", {"base", "data/volumes", "data/formats"}},
                                     {"swap", {"base"}},
                                     {"report", {"base", "data/volumes"}}};

SourceFile file(const char* path, std::vector<std::string> includes) {
  return {path, std::move(includes), {}};
}

TEST(House, FindsAnIncludeOfAFolderThatIsNotBelow) {
  EXPECT_THAT(faults_of_includes({file("swap/plan/plan.cpp", {"swap/plan/plan.h", "base/text.h", "vector"}),
                                  file("swap/execute/tiers.h", {"data/volumes/volume.h"})},
                                 folders),
              ElementsAre("swap/execute/tiers.h includes data/volumes/volume.h"));
}

TEST(House, FindsAnIncludeOfASubFolderThatIsNotBelow) {
  EXPECT_THAT(
      faults_of_includes({file("data/formats/nifti.cpp", {"data/volumes/volume.h"}),
                          file("data/layouts/brats.cpp", {"data/formats/nifti.h"}),
                          file("data/formats/dicom.cpp", {"data/layouts/dicom.h"}),
                          file("report/slices.cpp", {"data/volumes/volume.h", "data/formats/nifti.h"})},
                         folders),
      ElementsAre("data/formats/dicom.cpp includes data/layouts/dicom.h",
                  "report/slices.cpp includes data/formats/nifti.h"));
}

TEST(House, FindsAFileThatLiesBesideTheSubFolders) {
  EXPECT_THAT(faults_of_includes({file("data/loose.cpp", {}), file("base/text.h", {})}, folders),
              ElementsAre("data/loose.cpp lies in no folder of the house"));
}

TEST(House, FindsATableThatAllowsWhatDoesNotStandAbove) {
  EXPECT_THAT(faults_of_order(folders), IsEmpty());
  EXPECT_THAT(faults_of_order({{"base", {"swap"}}, {"swap", {"base", "swap"}}, {"cli", {"clouds"}}}),
              ElementsAre("base may include swap, which does not stand above it",
                          "swap may include swap, which does not stand above it",
                          "cli may include clouds, which is not a folder"));
}

TEST(House, FindsCyclesOfUnitsWithHeadersWithoutCycles) {
  EXPECT_THAT(
      circles_of_units({file("swap/a.h", {}), file("swap/a.cpp", {"swap/a.h", "swap/b.h"}),
                        file("swap/b.h", {"base/text.h"}), file("swap/b.cpp", {"swap/b.h", "swap/c.h"}),
                        file("swap/c.h", {}), file("swap/c.cpp", {"swap/c.h", "swap/a.h"}),
                        file("swap/d.cpp", {"swap/d.h", "swap/a.h"}), file("swap/e.cpp", {"swap/d.h"})}),
      ElementsAre("swap/a includes swap/b includes swap/c includes swap/a"));
}

TEST(House, FindsNoCycleIfTwoPathsLeadToOneUnit) {
  EXPECT_THAT(
      circles_of_units({file("swap/a.cpp", {"swap/b.h", "swap/c.h"}), file("swap/b.cpp", {"swap/d.h"}),
                        file("swap/c.h", {"swap/d.h"}), file("swap/d.cpp", {"swap/d.h"})}),
      IsEmpty());
}

TEST(House, FindsAThirdPartyOutsideItsFolder) {
  EXPECT_THAT(faults_of_third_parties(
                  {file("data/formats/itk.cpp", {"itkImage.h"}), file("database/itk.cpp", {"itkImage.h"}),
                   file("swap/plan/plan.cpp", {"itkImage.h", "kit.h"})},
                  {{"itk", {"data"}}}),
              ElementsAre("database/itk.cpp includes itkImage.h", "swap/plan/plan.cpp includes itkImage.h"));
}

TEST(House, FindsWhatIsDeclaredInTheNamespaceOfAnotherFolder) {
  const Namespaces namespaces = {{"base", "voxswap"}, {"data", "voxswap::data"}};
  const auto faults = [&](const char* path, const char* text) {
    return faults_of_namespaces({parse(path, text)}, namespaces);
  };
  EXPECT_THAT(faults("base/text.h", "namespace voxswap { int a(); }"), IsEmpty());
  EXPECT_THAT(faults("data/a.h", "namespace voxswap::data::kinds { struct A { int a = 1; }; }"), IsEmpty());
  EXPECT_THAT(faults("data/a.cpp", "namespace voxswap { namespace data { namespace { int a; } } }"),
              IsEmpty());
  EXPECT_THAT(faults("data/a.h", "namespace voxswap {\nint a(int b = f({1}));\n}"),
              ElementsAre("data/a.h declares something in voxswap, not in voxswap::data"));
  EXPECT_THAT(faults("data/a.cpp", "namespace voxswap::swap {\nint a() { return 1; }\n}"),
              ElementsAre("data/a.cpp declares something in voxswap::swap, not in voxswap::data"));
  EXPECT_THAT(faults("data/a.cpp", "static int a = 3;"),
              ElementsAre("data/a.cpp declares something in no namespace, not in voxswap::data"));
}

TEST(House, TakesCommentsAndStringsForNoDeclarations) {
  const SourceFile parsed = parse("data/a.cpp", R"text(// namespace other { int a; }
#include "data/a.h"
#  include <vector>
#define BRACE { \
  {
/* int b; */
namespace itk { class Base; }
template <>
struct std::hash<voxswap::data::A> { int operator()() { return 1; } };
inline int* std::hash<voxswap::data::A>::other(int a) { return nullptr; }
extern char** environ;
namespace voxswap::data {
const char* a = "} namespace other { int c; \"";
const char b = '}', c = '\'';
const int many = 1'000;
const char* raw = R"(}})";
}  // namespace voxswap::data
int main(int argc, char** argv) { return 0; }
)text");
  EXPECT_THAT(parsed.includes, ElementsAre("data/a.h", "vector"));
  EXPECT_THAT(parsed.namespaces, ElementsAre("voxswap::data"));
}

TEST(House, FindsAKeyThatAStringNames) {
  const auto faults = [](const char* text) {
    return faults_of_keys({parse("swap/a.cpp", text)}, {"data", "memory"}, {"memory.csv"});
  };
  EXPECT_THAT(faults(R"(fail("lower memory.budget. Or data.split.file={}", key::memory_host);)"),
              ElementsAre("swap/a.cpp names memory.budget", "swap/a.cpp names data.split.file"));
  EXPECT_THAT(faults("a = \"set memory.\"\n    \"host\"; b = \"\\\"data.root\";"),
              ElementsAre("swap/a.cpp names memory.host", "swap/a.cpp names data.root"));
  EXPECT_THAT(
      faults("format(\"data.{}\", word); key.starts_with(\"memory.\"); c = R\"x(data.root)x\";"),
      ElementsAre("swap/a.cpp names data.", "swap/a.cpp names memory.", "swap/a.cpp names data.root"));
}

TEST(House, TakesCodeFilesAndSentencesForNoKeys) {
  EXPECT_THAT(faults_of_keys({parse("swap/a.cpp", R"(// memory.budget
#define KEY "memory.budget"
const auto a = data.root + memory.budget, b = '"';
f("memory.csv", "folder/data.root", "metadata.root", "all of the data. More", "of the data.", "host memory: {}", "network.name");
)")},
                             {"data", "memory"}, {"memory.csv"}),
              IsEmpty());
}

TEST(House, FindsACommentThatNamesAFileThatIsGone) {
  const std::vector<SourceFile> files = {
      parse("swap/plan/a.h", "// See b.h, plan/a.h (x/c.cpp).\n/* d.cu */ f(\"e.h\");"),
      parse("swap/b.h", "// zlib.h, a.html and a.h.in")};
  EXPECT_THAT(faults_of_mentions(files, {"zlib.h"}),
              ElementsAre("swap/plan/a.h mentions x/c.cpp", "swap/plan/a.h mentions d.cu"));
}

TEST(House, ReadsTheSourcesOfItsFoldersAndNothingElse) {
  const test::TemporaryFolder root;
  for (const char* path : {"swap/plan/a.cpp", "swap/b.cu", "bench/c.cpp", "swap/CMakeLists.txt"})
    write_file(root / path, "#include \"data/volumes/volume.h\"\n");
  const std::vector<SourceFile> files = read_sources(root.path(), {"swap"});
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "swap/b.cu");
  EXPECT_EQ(files[1].path, "swap/plan/a.cpp");
  EXPECT_THAT(files[1].includes, ElementsAre("data/volumes/volume.h"));
}

}  // namespace
}  // namespace voxswap::house
