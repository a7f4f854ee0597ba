// Files are written completely or not at all, whatever fails: the disk or the process.
#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/checksummed_file.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/folder_lock.h"
#include "base/temporary_file.h"
#include "base/text.h"
#include "tests/expect.h"
#include "tests/folder.h"
#include "tests/limit.h"

namespace voxswap {
namespace {

class File : public test::InAFolder {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_))
      found.push_back(entry.path().filename().string());
    return found;
  }
};

Exit exit_code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.exit();
  }
  return Exit::done;
}

TEST_F(File, IsReplacedWholeAndNothingIsLeftBesideIt) {
  write_file(folder_ / "a.csv", "old");
  write_file(folder_ / "a.csv", "new");
  EXPECT_EQ(read_file(folder_ / "a.csv"), "new");
  EXPECT_EQ(names(), std::vector<std::string>{"a.csv"});
}

TEST_F(File, StaysAsItWasWhenItsSuccessorCannotBeFinished) {
  write_file(folder_ / "a.csv", "old");
  const auto give_up = [](const fs::path&) { fail(Exit::failed, "no"); };
  EXPECT_EQ(exit_code_of([&] { write_through(folder_ / "a.csv", give_up); }), Exit::failed);
  EXPECT_EQ(read_file(folder_ / "a.csv"), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"a.csv"});
}

// Exceeding the limit on file sizes acts like a full disk.
TEST_F(File, DoesNotFitOnAFullDiskAndLeavesTheOldOne) {
  write_file(folder_ / "a.csv", "old");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {100, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const Exit exit = exit_code_of([&] { write_file(folder_ / "a.csv", std::string(1000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(exit, Exit::does_not_fit);
  EXPECT_EQ(read_file(folder_ / "a.csv"), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"a.csv"});
}

TEST_F(File, MayHaveTheLongestNameThatThereIs) {
  const std::string longest(255, 'n');  // NAME_MAX on Linux
  write_file(folder_ / longest, "x");
  EXPECT_EQ(names(), std::vector<std::string>{longest});
}

TEST_F(File, IsMadeUnderANameThatNoOtherProgramTakesForAnImage) {
  write_through(folder_ / "case.nii.nii.gz", [&](const fs::path& temporary) {
    fs::ofstream(temporary.parent_path() / "more.txt") << "x";
    EXPECT_EQ(temporary.filename(), "content.nii.gz") << "libraries go by the extension";
    EXPECT_EQ(names().size(), 1U);
    EXPECT_EQ(temporary.parent_path().filename(), names()[0]);
    EXPECT_TRUE(names()[0].starts_with(".voxswap-") && names()[0].ends_with(".part")) << names()[0];
    fs::ofstream(temporary) << "x";
  });
  EXPECT_EQ(read_file(folder_ / "case.nii.nii.gz"), "x");
  EXPECT_EQ(names(), std::vector<std::string>{"case.nii.nii.gz"});
}

// A process that has two unfinished files in a folder: one for a library, which wrote more beside it, and one
// of its own.
class Writer {
 public:
  explicit Writer(const fs::path& folder) {
    int ready[2];
    if (::pipe(ready) != 0) return;
    process_ = ::fork();
    if (process_ == 0) {
      const TemporaryFile plain(folder / "a.csv"), image(folder / "case.nii.gz", true);
      write_file(image.path().parent_path() / "more.txt", "x");
      if (::write(ready[1], "", 1) == 1) ::pause();
      ::_exit(1);
    }
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    for (const int end : ready) ::close(end);
  }
  ~Writer() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

 private:
  pid_t process_ = -1;
};

TEST_F(File, LeftHalfWrittenByAProcessThatWasKilledIsRemovedByTheNextThatUsesTheFolder) {
  const std::vector<std::pair<std::string, std::function<void(const fs::path&)>>> uses = {
      {"writes", [](const fs::path& folder) { write_file(folder / "b.csv", "x"); }},
      {"prepares to write", make_writable_directory},
      {"reads a cache", [](const fs::path& folder) { read_checksummed(folder / "costs"); }},
      {"locks", [](const fs::path& folder) { FolderLock(folder.parent_path().parent_path()); }},
  };
  for (const auto& [what, use] : uses) {
    const fs::path folder = folder_ / what / "above" / "it";
    make_directories(folder);
    { const Writer killed(folder); }
    ASSERT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2);
    use(folder);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()),
              what == "writes" ? 1 : 0)
        << what;
  }
}

TEST_F(File, StillBeingWrittenOrNotOursIsNeverTakenForAbandoned) {
  const fs::path others = folder_ / ".voxswap-1-2-3.part" / "notes.txt";
  fs::create_directories(others.parent_path());
  const std::vector<fs::path> foreign = {others, folder_ / ".voxswap-mine.part",
                                         folder_ / ".voxswap-1-2-3.party"};
  for (const fs::path& file : foreign) fs::ofstream(file) << "mine";
  const Writer living(folder_);
  write_file(folder_ / "b.csv", "x");
  EXPECT_EQ(names().size(), 2 + foreign.size() + 1);
  for (const fs::path& file : foreign) EXPECT_EQ(read_file(file), "mine") << file;
}

// Like ranks that write predictions: every process removes abandoned files before its first write there.
TEST_F(File, IsTakenForAbandonedByNoneOfManyProcessesThatWriteIntoTheFolderAtOnce) {
  constexpr int rounds = 100, processes = 6;
  for (int round = 0; round < rounds; ++round) {
    const fs::path folder = folder_ / std::to_string(round);
    make_directories(folder);
    std::vector<pid_t> children;
    for (int i = 0; i < processes; ++i) {
      children.push_back(fork());
      if (children.back() != 0) continue;
      const auto write = [&] { write_file(folder / std::to_string(i), "x"); };
      _exit(exit_code_of(write) == Exit::done ? 0 : 1);
    }
    for (const pid_t child : children) {
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      ASSERT_EQ(status, 0) << "round " << round;
    }
  }
}

TEST_F(File, IsReadAsFarAsAsked) {
  write_file(folder_ / "a.csv", "12345");
  EXPECT_EQ(read_file(folder_ / "a.csv", 3), "123");
  EXPECT_EQ(read_file(folder_ / "a.csv", 9), "12345");
}

TEST_F(File, ThatCannotBeReadSaysWhy) {
  EXPECT_EQ(exit_code_of([&] { read_file(folder_ / "none"); }), Exit::bad_data);
  EXPECT_EQ(exit_code_of([&] { read_file(folder_); }), Exit::bad_data);
  // The process's memory at address 0, which is not mapped: reading it is an input/output error.
  EXPECT_EQ(exit_code_of([&] { read_file("/proc/self/mem"); }), Exit::failed);
}

// open(2) on a pipe blocks until another process writes.
TEST_F(File, IsNeitherAPipeNorASocketNorADevice) {
  const test::Limit limit;
  const fs::path pipe = folder_ / "pipe", link = folder_ / "link", socket = folder_ / "socket";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink(pipe, link);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(socket.string().size(), sizeof address.sun_path);
  std::strcpy(address.sun_path, socket.c_str());
  const Descriptor listening(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(listening.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  for (const fs::path& file : {pipe, link, socket, fs::path("/dev/zero"), fs::path("/dev/null")}) {
    test::expect_failure([&] { read_file(file); }, Exit::bad_data,
                         {file.string(), "is not a file but a pipe"});
    test::expect_failure([&] { Hasher().add_file(file); }, Exit::bad_data);
    EXPECT_EQ(read_if_possible(file), "");
  }
  EXPECT_NE(read_if_possible("/proc/self/status"), "");
}

TEST_F(File, IsNotWrittenIntoAFolderWithANameThatIsNotUtf8) {
  test::expect_failure([&] { make_directories(folder_ / "caf\xe9"); }, Exit::usage,
                       {"this name is not UTF-8"});
  make_directories(folder_ / "caf\u00e9");
  EXPECT_EQ(names(), std::vector<std::string>{"caf\u00e9"});
}

TEST_F(File, FoldersInTheWayOfAFileAreAnErrorWithItsName) {
  write_file(folder_ / "a", "x");
  EXPECT_EQ(exit_code_of([&] { make_directories(folder_ / "a" / "b"); }), Exit::failed);
  EXPECT_EQ(exit_code_of([&] { write_file(folder_ / "none" / "a", "x"); }), Exit::failed);
}

TEST(ExitCode, DistinguishesLackOfSpaceFromOtherFailures) {
  for (const int error : {ENOSPC, EDQUOT, EFBIG, ENOMEM}) EXPECT_EQ(exit_of(error), Exit::does_not_fit);
  for (const int error : {EIO, EACCES, EMFILE, EPIPE}) EXPECT_EQ(exit_of(error), Exit::failed);
}

TEST(InterruptedCalls, AreRepeatedButNotForEver) {
  int calls = 0;
  const auto interrupted_for = [&](int times) {
    calls = 0;
    return uninterrupted([&] {
      errno = EINTR;
      return ++calls > times ? 0 : -1;
    });
  };
  EXPECT_EQ(interrupted_for(0), 0);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(interrupted_for(1000), 0);
  EXPECT_EQ(interrupted_for(1'000'000'000), -1);
  EXPECT_EQ(calls, 1001);
  EXPECT_EQ(errno, EINTR);
}

// Differences between Boost.Filesystem and std::filesystem, and the functions that compensate for them.
TEST(FileSystem, SeesAbsolutePathsAsTheyStand) {
  EXPECT_EQ(seen_from("/study", "scans/a.nii"), fs::path("/study/scans/a.nii"));
  EXPECT_EQ(seen_from("/study", "/scans/a.nii"), fs::path("/scans/a.nii"));
  EXPECT_EQ(seen_from("", "a.nii"), fs::path("a.nii"));
}

TEST(FileSystem, KnowsOnePathHoweverItIsSpelt) {
  for (const char* path : {"runs/a", "runs/a/", "runs//a", "runs/./a/.", "runs/b/../a", "./runs/a"})
    EXPECT_EQ(plain(path), fs::path("runs/a")) << path;
  EXPECT_EQ(plain("/"), fs::path("/"));
  EXPECT_EQ(plain("."), fs::path("."));
  EXPECT_EQ(plain("./"), fs::path("."));
  EXPECT_EQ(plain("../a/"), fs::path("../a"));
  EXPECT_EQ(plain("a/../../b"), fs::path("../b"));
  EXPECT_EQ(plain("/../a"), fs::path("/a"));
  EXPECT_EQ(plain("a/.."), fs::path("."));
  EXPECT_EQ(plain(""), fs::path());
  EXPECT_EQ(plain("/runs/a/").filename(), fs::path("a"));
}

TEST(FileSystem, MakesAFolderHoweverItIsSpelt) {
  const test::TemporaryFolder own;
  fs::create_directories(own.path() / "there");
  for (const char* spelt :
       {".", "./", "there", "there/", "there/.", "there/..", "a/", "b/.", "./c", "d/../d"})
    EXPECT_NO_THROW(make_directories(own.path() / spelt)) << spelt;
  EXPECT_TRUE(fs::is_directory(own.path() / "b"));
  EXPECT_NO_THROW(make_directories("."));
}

TEST(FileSystem, CreatesFoldersWithNamesThatEndInASeparator) {
  const test::TemporaryFolder own;
  const fs::path folder = own.path(), inner = folder / "a" / "b" / "";
  fs::create_directories(inner);
  EXPECT_TRUE(fs::is_directory(folder / "a/b"));
  error_code error;
  EXPECT_EQ(plain(fs::weakly_canonical(inner, error)), fs::canonical(folder / "a/b"));
  EXPECT_EQ(plain(fs::weakly_canonical(folder / "missing" / "", error)), fs::canonical(folder) / "missing");
  EXPECT_FALSE(fs::exists(folder / "missing", error));
}

// A checksummed file is read exactly as written, or not at all.
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

TEST_F(File, OrFolderThatIsMisspeltIsFoundByItsName) {
  fs::create_directories(folder_ / "runs" / "study");
  const std::string right = (folder_ / "runs" / "study").string();
  for (const char* misspelt : {"runs/studdy", "runs/studdy/", "runs/studdy/checkpoints"})
    EXPECT_EQ(no_such_folder(folder_ / misspelt), format("no such folder (did you mean '{}'?)", right))
        << misspelt;
  EXPECT_EQ(no_such_folder(folder_ / "something"), "no such folder");
  write_file(folder_ / "study.yaml", "");
  const std::string file = (folder_ / "study.yaml").string();
  EXPECT_EQ(did_you_mean(folder_ / "studi.yaml"), format(" (did you mean '{}'?)", file));
  EXPECT_EQ(did_you_mean(folder_ / "studi.yaml", Among::folders), "");
}

}  // namespace
}  // namespace voxswap
