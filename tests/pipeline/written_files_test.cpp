// Tests that files written by a run are recognised and later changes are reported.
#include "pipeline/report/written_files.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

class WrittenFiles : public test::InAFolder {
 protected:
  using Names = std::vector<std::string>;
};

TEST_F(WrittenFiles, AreRecognisedUntilOneIsChangedOrRemoved) {
  EXPECT_EQ(changed_files(folder_), Names{});
  write_noted(folder_, {{"a.csv", "x,y\n1,2\n"}, {"b.json", "{}\n"}});
  EXPECT_EQ(read_file(folder_ / "a.csv"), "x,y\n1,2\n");
  EXPECT_EQ(changed_files(folder_), Names{});
  settle_files(folder_);
  write_file(folder_ / "a.csv", "x,y\n1,3\n");
  EXPECT_EQ(changed_files(folder_), Names{"a.csv"});
  fs::remove(folder_ / "b.json");
  EXPECT_EQ(changed_files(folder_), (Names{"a.csv", "b.json"}));
}

TEST_F(WrittenFiles, AreTheSameTableWhateverItsLineEnds) {
  write_noted(folder_, {{"a.csv", "x,y\n1,2\n"}, {"b.json", "{}\n"}});
  write_file(folder_ / "a.csv", "x,y\r\n1,\"2\"\r\n");
  EXPECT_EQ(changed_files(folder_), Names{});
  write_file(folder_ / "a.csv", "x,y\n1,2");
  EXPECT_EQ(changed_files(folder_), Names{});
  write_file(folder_ / "a.csv", "x,y\n1\n");  // not a table
  write_file(folder_ / "b.json", "{}\r\n");
  EXPECT_EQ(changed_files(folder_), (Names{"a.csv", "b.json"}));
}

// A process may end between writing the note and the file.
TEST_F(WrittenFiles, MayBeTheOneBeforeUntilTheRunIsDone) {
  write_noted(folder_, {{"a.csv", "x\n1\n"}});
  write_noted(folder_, {{"a.csv", "x\n2\n"}});
  write_file(folder_ / "a.csv", "x\n1\n");
  EXPECT_EQ(changed_files(folder_), Names{});
  settle_files(folder_);
  EXPECT_EQ(changed_files(folder_), Names{"a.csv"});
}

TEST_F(WrittenFiles, MayNotBeThereYetOrBeTheOneBeforeHoweverOftenAProcessEndsBetweenTheNoteAndTheFile) {
  write_noted(folder_, {{"a.csv", "x\n1\n"}});
  fs::remove(folder_ / "a.csv");
  EXPECT_EQ(changed_files(folder_), Names{});
  write_noted(folder_, {{"a.csv", "x\n1\n"}});
  write_noted(folder_, {{"a.csv", "x\n2\n"}});
  write_file(folder_ / "a.csv", "x\n1\n");  // the second file was never renamed into place
  write_noted(folder_, {{"a.csv", "x\n3\n"}});
  write_file(folder_ / "a.csv", "x\n1\n");
  EXPECT_EQ(changed_files(folder_), Names{});
}

TEST_F(WrittenFiles, OfARunAreMissedWhereTheNotesAreLostOrEmptied) {
  EXPECT_EQ(tables_without_note(folder_), Names{});
  write_noted(folder_, {{"epochs.csv", "x\n1\n"}, {"timing.csv", "x\n1\n"}});
  EXPECT_EQ(tables_without_note(folder_), Names{});
  for (const char* left : {"{}", "[]", "null", R"({"timing.csv": ["0"]})"}) {
    write_file(folder_ / "checksums.json", left);
    EXPECT_EQ(tables_without_note(folder_)[0], "epochs.csv") << left;
  }
  fs::remove(folder_ / "checksums.json");
  EXPECT_EQ(tables_without_note(folder_), (Names{"epochs.csv", "timing.csv"}));
}

TEST_F(WrittenFiles, ADamagedListOfChecksumsIsReported) {
  write_noted(folder_, {{"a.csv", "x\n1\n"}});
  write_file(folder_ / "checksums.json", read_file(folder_ / "checksums.json").substr(0, 20));
  EXPECT_THROW(changed_files(folder_), Error);
}

}  // namespace
}  // namespace voxswap::pipeline
