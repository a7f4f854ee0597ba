// The files that commands may overwrite, and those that they must not.
#include "base/outputs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap {
namespace {

class OutputFiles : public test::InAFolder {
 protected:
  void SetUp() override { fs::create_directories(folder_ / "in/case"); }

  fs::path made(const std::string& name) const {
    write_file(folder_ / name, "old");
    return folder_ / name;
  }
  static void write(const Outputs& outputs, const fs::path& path) {
    outputs.write(path, [&] { write_file(path, "new"); });
  }
  static void expect_refused(const Outputs& outputs, const fs::path& path, const std::string& words) {
    SCOPED_TRACE(path);
    test::expect_failure([&] { write(outputs, path); }, Exit::usage, {words});
    EXPECT_EQ(read_file(path), "old");
  }
};

TEST_F(OutputFiles, ThatVoxswapDidNotWriteAreLeftAloneUnlessForced) {
  const fs::path file = made("a.csv");
  expect_refused(Outputs(false), file, "--force");
  write(Outputs(true), file);
  EXPECT_EQ(read_file(file), "new");
}

TEST_F(OutputFiles, ThatVoxswapWroteAreWrittenAgainUntilSomebodyChangesThem) {
  const fs::path file = folder_ / "a.csv";
  write(Outputs(false), file);
  write(Outputs(false), folder_ / "b with blanks.csv");
  write(Outputs(false), file);
  write(Outputs(false), folder_ / "b with blanks.csv");
  made("a.csv");
  fs::last_write_time(file, fs::last_write_time(file) + 1);
  expect_refused(Outputs(false), file, "--force");
}

TEST_F(OutputFiles, AreRemovedOnlyIfVoxswapWroteThemAndNobodyChangedThem) {
  const Outputs outputs(false);
  const fs::path out = folder_ / "out";
  fs::create_directories(out / "sub");
  fs::create_directories(folder_ / "in");
  fs::create_directory_symlink(folder_ / "in", out / "link");
  fs::create_directory_symlink(out / "sub", out / "inside");
  for (const char* name : {"out/ours", "out/sub/ours", "out/edited", "in/ours"})
    write(outputs, folder_ / name);
  made("out/edited");
  fs::last_write_time(out / "edited", fs::last_write_time(out / "edited") + 1);
  made("out/thesis.txt");
  fs::create_symlink(out / "ours", out / "name");
  for (const char* name : {"edited", "thesis.txt", "link/ours", "../in/ours", "name", "sub", "link"}) {
    EXPECT_FALSE(remove_output(out / name, out)) << name;
    EXPECT_TRUE(fs::exists(out / name)) << name;
  }
  for (const char* name : {"ours", "inside/ours", "nothing"})
    EXPECT_TRUE(remove_output(out / name, out)) << name;
  EXPECT_FALSE(fs::exists(out / "ours"));
  EXPECT_FALSE(fs::exists(out / "sub/ours"));
  EXPECT_FALSE(fs::exists(out / "sub/.voxswap")) << "a record of nothing";
}

// The process ends between writing a file and recording it, and other files are written before the file is
// written again.
TEST_F(OutputFiles, ThatVoxswapWroteAndCouldNotRecordAreWrittenAgain) {
  const fs::path file = folder_ / "a.csv";
  EXPECT_THROW(Outputs(false).write(file,
                                    [&] {
                                      write_file(file, "old");
                                      fail(Exit::failed, "here");
                                    }),
               Error);
  write(Outputs(false), folder_ / "b.csv");
  write(Outputs(false), file);
  EXPECT_EQ(read_file(file), "new");
}

// The same if the file already belongs to voxswap: the process ends just before or just after the new one is
// renamed into place.
TEST_F(OutputFiles, ThatVoxswapWroteAgainAndCouldNotRecordAreWrittenAgain) {
  const fs::path file = folder_ / "a.csv";
  for (const bool in_place : {false, true, false}) {
    write(Outputs(false), file);
    EXPECT_THROW(Outputs(false).write(file,
                                      [&] {
                                        if (in_place) write_file(file, "newer");
                                        fail(Exit::failed, "here");
                                      }),
                 Error);
    EXPECT_EQ(read_file(file), in_place ? "newer" : "new");
    write(Outputs(false), folder_ / "b.csv");
    write(Outputs(false), file);
    EXPECT_EQ(read_file(file), "new");
  }
}

// A forced but failed write does not make somebody else's file belong to voxswap.
TEST_F(OutputFiles, ThatVoxswapOnlyTriedToWriteAreStillSomebodyElses) {
  const fs::path file = made("a.csv");
  fs::last_write_time(file, fs::last_write_time(file) - 10);
  EXPECT_THROW(Outputs(true).write(file, [] { fail(Exit::failed, "here"); }), Error);
  expect_refused(Outputs(false), file, "--force");
}

TEST_F(OutputFiles, ThatAreInputsAreNeverWrittenUnderAnyName) {
  const fs::path input = made("in/case/scan.nii.gz"), link = folder_ / "link.nii.gz",
                 twin = folder_ / "twin.nii.gz";
  fs::create_symlink(input, link);
  fs::create_hard_link(input, twin);
  Outputs outputs(true);
  outputs.protect(input);
  for (const fs::path& name : {input, link, twin, folder_ / "in/../in/case/scan.nii.gz"})
    expect_refused(outputs, name, "never overwritten");
  Outputs of_folder(true);
  of_folder.protect(folder_ / "in/case");  // like a DICOM series
  expect_refused(of_folder, twin, "never overwritten");
}

TEST_F(OutputFiles, BelowTheInputsAreWrittenOnlyWhereVoxswapWroteThem) {
  const fs::path truth = made("in/case/truth.nii.gz");
  Outputs outputs(true);
  outputs.protect_below(folder_ / "in");
  expect_refused(outputs, truth, "never overwritten");
  write(outputs, folder_ / "in/case/new.nii.gz");
  write(outputs, folder_ / "in/case/new.nii.gz");
  write(outputs, made("in_beside.nii.gz"));
}

TEST_F(OutputFiles, ThatALinkToNowhereStandsForAreNotMade) {
  fs::create_symlink(folder_ / "nowhere", folder_ / "link");
  EXPECT_THROW(Outputs(false).check(folder_ / "link"), Error);
  Outputs(false).check(folder_ / "nothing");
}

}  // namespace
}  // namespace voxswap
