// What a cache remembers is read as it was written, or not at all.
#include "base/checksummed_file.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "tests/folder.h"

namespace voxswap {
namespace {

class ChecksummedFile : public test::InAFolder {};

TEST_F(ChecksummedFile, IsReadAsItWasWritten) {
  for (const std::string text : {"", "a", "two\nlines\n", "\n"}) {
    write_checksummed(folder_ / "a.txt", text);
    EXPECT_EQ(read_checksummed(folder_ / "a.txt"), text);
  }
  EXPECT_EQ(read_checksummed(folder_ / "none.txt"), std::nullopt);
}

TEST_F(ChecksummedFile, IsNotReadWhenABitWasFlippedOrItWasCutOrGivenAnotherName) {
  const fs::path file = folder_ / "a.txt";
  write_checksummed(file, "step 0.25\n");
  const std::string whole = read_file(file);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
    write_file(file, changed);
    EXPECT_EQ(read_checksummed(file), std::nullopt) << at;
    write_file(file, whole.substr(0, at));
    EXPECT_EQ(read_checksummed(file), std::nullopt) << at;
  }
  write_file(folder_ / "b.txt", whole);
  EXPECT_EQ(read_checksummed(folder_ / "b.txt"), std::nullopt);
}

TEST_F(ChecksummedFile, IsNotReadFromAFolderInItsPlace) {
  fs::create_directories(folder_ / "a.txt");
  EXPECT_EQ(read_checksummed(folder_ / "a.txt"), std::nullopt);
}

}  // namespace
}  // namespace voxswap
