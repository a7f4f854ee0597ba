// The Containerfile, which no test builds: it takes minutes and a registry. What it copies and calls is
// there.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "base/file.h"

namespace voxswap {
namespace {

const fs::path source = VOXSWAP_SOURCE_DIR;

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
