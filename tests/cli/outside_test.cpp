// The program with unusual names, files, folders and limits: it handles them, or reports the problem at the
// start.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <set>
#include <thread>

#include "base/text.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class Outside : public ProgramInASharedFolder<Outside> {
 public:
  void make_for_all() const {
    phantoms("4", "16");
    write("experiment.yaml",
          "name: tiny\ndata: {root: data, modalities: [flair, t1ce]}\npreprocess: {resolution: 8}\n"
          "network: {base_filters: 2, depth: 2}\ntraining: {epochs: 1}\n");
    done(into("run"));
  }

 protected:
  // Copies the data and renames the first case's folder; patterns find its files.
  void rename_case(const std::string& name) const {
    copy("data", "renamed");
    fs::rename(folder_ / "renamed/BraTS2021_00001", folder_ / "renamed" / name);
  }
  void copy(const std::string& from, const std::string& to) const {
    fs::remove_all(folder_ / to);
    fs::copy(folder_ / from, folder_ / to, fs::copy_options::recursive);
  }
  Outcome in_folder(const std::string& folder, const Words& arguments) const {
    return run_program(arguments, {.log = log_, .folder = folder_ / folder});
  }
  // Runs a line in a shell, which can also limit the process.
  int shell(const std::string& line) const {
    const int status = std::system(("cd " + folder_.string() + "; " + line).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  Words patterns() const {
    return {"data.layout=files",
            "data.files={flair: '{case}/*flair.nii.gz', t1ce: '{case}/*t1ce.nii.gz', truth: "
            "'{case}/*seg.nii.gz'}"};
  }
};

TEST_F(Outside, NamesThatAreNotUtf8AreRefusedBeforeAnythingIsWritten) {
  rename_case("c\xe9");
  write("bad.yaml", "name: x\ndata: {root: caf\xe9}\n");
  write("split.csv", "case,part\nc\xe9,training\n");
  fs::create_directories(folder_ / "maps");
  fs::copy_file(fs::directory_iterator(folder_ / "run/predictions")->path(), folder_ / "maps/c\xe9.nii.gz");
  const std::string bad = path("caf\xe9"), renamed = path("renamed"), maps = path("maps");
  const std::vector<std::pair<int, Words>> table = {
      {3, {"check", renamed}},
      {3, into("out", {"data.root=" + renamed})},
      {3, into("out", Words{"data.root=" + renamed} + patterns())},
      {3, into("out", {"data.split.file=" + path("split.csv")})},
      {3, {"predict", path("run"), "--input", renamed, "--out", path("out")}},
      {3, {"convert", renamed, "--out", path("out")}},
      {3, {"configure", renamed, "--out", path("out.yaml")}},
      {3, {"evaluate", "--truth", maps, "--prediction", maps, "--out", path("out.csv")}},
      {2, {"run", path("bad.yaml"), "--out", path("out")}},
      {2, into("out", {"output.dir=" + bad})},
      {2, into("caf\xe9")},
      {2, into("out", {"name=caf\xe9"})},
      {2, {"predict", path("run"), "--input", path("data"), "--out", bad}},
      {2, {"predict", path("run"), "--input", renamed + "/c\xe9", "--out", path("out")}},
      {2, {"convert", path("data"), "--out", bad}},
      {2, {"phantom", "--out", bad, "--cases", "1", "--size", "16"}},
      {2, {"report", path("run"), "--out", bad}},
  };
  for (const auto& [code, words] : table) {
    const Outcome outcome = refused(code, words, "UTF-8");
    EXPECT_TRUE(is_utf8(outcome.output)) << outcome.output;
    for (const std::string& left : {path("out"), path("out.yaml"), path("out.csv"), bad})
      EXPECT_FALSE(fs::exists(left)) << words[0] << ": " << left;
  }
}

TEST_F(Outside, NamesWithControlCharactersAreShownEscaped) {
  const std::string name = "b\x1b[2J\ac";
  rename_case(name);
  const Words data = Words{"data.root=" + path("renamed")} + patterns();
  const Words run = into("escaped", data);  // need not name a case
  for (const Words& words :
       {run, Words{"check", path("renamed")}, Words{"check", path("experiment.yaml") + "\x1b[2J"},
        into("escaped", {"x\x1b=1"})}) {
    const std::string output = program(words).output;
    EXPECT_EQ(output.find_first_of("\x1b\a"), output.npos) << output;
    EXPECT_TRUE(words == run || contains(output, "\\x1b")) << words[0];
  }
  const std::vector<std::string> cases = column("escaped/split.csv", "case");
  EXPECT_NE(std::find(cases.begin(), cases.end(), name), cases.end()) << "tables keep the bytes";
}

// Every file of a run or an experiment that commands read: text, weights, and tables, which `predict` does
// not read. Of those that are only written, by `run`, one of each type.
TEST_F(Outside, PipesInPlaceOfFilesAreNotWaitedFor) {
  const auto replaced = [&](const std::string& file) {
    copy("run", "piped");
    copy("data", "data_piped");
    fs::remove(folder_ / "piped.yaml");  // may be a pipe, on which a writer would block
    write("piped.yaml", read_file(folder_ / "experiment.yaml"));
    fs::remove(folder_ / file);
    ASSERT_EQ(::mkfifo(path(file).c_str(), 0600), 0);
  };
  const std::vector<Words> of_a_run = {
      {"predict", path("piped"), "--input", path("data"), "--out", path("maps_piped")},
      {"report", path("piped"), "--out", path("report_piped")},
      {"watch", path("piped"), "--once"},
      {"run", path("piped"), "--resume"}};
  const std::vector<Words> of_tables(of_a_run.begin() + 1, of_a_run.end()), of_written = {of_a_run.back()};
  std::set<std::string> written;  // types of files
  const std::vector<Words> of_data = {
      {"plan", path("piped.yaml"), "--estimate", "data.split.file=" + path("split_piped.csv")},
      {"phantom", "--out", path("data_piped"), "--cases", "4", "--size", "16", "--seed", "3"}};
  std::vector<std::string> files = {"piped.yaml", "data_piped/phantom.json", "split_piped.csv"};
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "run"))
    if (fs::is_regular_file(entry.path()))
      files.push_back("piped/" + entry.path().lexically_relative(folder_ / "run").string());
  EXPECT_GT(files.size(), 20u);
  for (const std::string& file : files) {
    const std::string end = fs::path(file).extension().string();
    const bool is_read = end == ".json" || end == ".yaml" || end == ".safetensors";
    if (!is_read && end != ".csv" && file.starts_with("piped/") && !written.insert(end).second) continue;
    replaced(file);
    for (const Words& words : !file.starts_with("piped/") ? of_data
                              : is_read                   ? of_a_run
                              : end == ".csv"             ? of_tables
                                                          : of_written) {
      const pid_t child = start(words, {.log = log_});
      int left = 6000;
      while (::waitpid(child, nullptr, WNOHANG) == 0 && --left > 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      EXPECT_GT(left, 0) << words[0] << " waits for " << file;
      if (left == 0) ::kill(child, SIGKILL);
    }
  }
}

TEST_F(Outside, TheCurrentFolderMayBeWrittenTo) {
  fs::create_directories(folder_ / "here");
  fs::create_directories(folder_ / "there");
  EXPECT_EQ(in_folder("here", {"predict", path("run"), "--input", path("data"), "--out", "."}).code, 0)
      << read_file(log_);
  EXPECT_EQ(in_folder("there", {"convert", path("data"), "--out", "./"}).code, 0) << read_file(log_);
  EXPECT_TRUE(fs::exists(folder_ / "here/BraTS2021_00001.nii.gz"));
  EXPECT_TRUE(fs::exists(folder_ / "there/dataset.json"));
}

TEST_F(Outside, ACurrentFolderThatWasRemovedIsNamed) {
  const std::string program = VOXSWAP_PROGRAM;
  EXPECT_EQ(shell("mkdir gone && cd gone && rmdir ../gone && " + program +
                  " phantom --out x --cases 1 --size 16 >../log 2>&1"),
            1);
  EXPECT_TRUE(contains(read_file(log_), "the current folder cannot be used: No such file or directory"));
}

TEST_F(Outside, ATildeIsTheHomeFolderAndNotAFolderOfThatName) {
  const std::string home = "mkdir -p home && HOME=" + path("home") + " " VOXSWAP_PROGRAM +
                           std::string(" run ") + path("experiment.yaml") + " data.cache=" + cache_.string() +
                           " ";
  EXPECT_EQ(shell(home + "'output.dir=~/results' >log 2>&1"), 0) << read_file(log_);
  EXPECT_TRUE(fs::exists(folder_ / "home/results/report.html"));
  write("tilde.yaml", read_file(folder_ / "experiment.yaml") + "output: {dir: ~/by_file}\n");
  EXPECT_EQ(shell(home + "--dry-run 'data.root=~/nothing' >log 2>&1"), 3);
  EXPECT_TRUE(contains(read_file(log_), path("home/nothing")));
  EXPECT_EQ(shell(home + "'output.dir=~other/results' >log 2>&1"), 2);
  EXPECT_TRUE(contains(read_file(log_), "output.dir: ~other/results: only ~/ is expanded"));
  EXPECT_EQ(shell(home + "'--out=~/results' >log 2>&1"), 2);
  EXPECT_TRUE(contains(read_file(log_), "Write --out ~/results"));
  EXPECT_FALSE(fs::exists(folder_ / "~"));
}

// With limits between the needs of the dynamic loader and those of the program, initialisers of libraries
// would terminate it.
TEST_F(Outside, ALimitOfTheAddressSpaceIsAMessage) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need the address space that this test takes away";
#endif
  bool was_refused = false;
  for (int kilobytes = 60'000; kilobytes < 400'000; kilobytes += 1500) {
    const int code = shell(format("ulimit -v {}; {} --version >log 2>&1", kilobytes, VOXSWAP_PROGRAM));
    const std::string output = read_file(log_);
    if (code == 0) break;
    if (code == 127) continue;  // the dynamic loader, with its own message
    EXPECT_TRUE(code == 4 && contains(output, "error: ")) << kilobytes << ": " << code << ": " << output;
    was_refused = true;
  }
  EXPECT_TRUE(was_refused);
}

TEST_F(Outside, ARunEndsAndLeavesNothingIfItsFolderIsRemoved) {
  const pid_t child =
      start(into("removed", {"training.epochs=100000", "training.early_stop=100000"}), {.log = log_});
  for (int i = 0; i < 6000 && !fs::exists(folder_ / "removed/epochs.csv"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  error_code busy = {};  // a file was written meanwhile
  do fs::remove_all(folder_ / "removed", busy);
  while (busy);
  const Outcome outcome = failed(finish(child, {.log = log_}), 1);
  EXPECT_TRUE(contains(outcome.output, "error: " + path("removed"))) << outcome.output;
  EXPECT_FALSE(fs::exists(folder_ / "removed"));
}

}  // namespace
}  // namespace voxswap::cli
