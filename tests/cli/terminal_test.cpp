// What a user sees: the program on a pseudo terminal of some width, and the log that a run keeps.
#include "base/terminal.h"

#include <gtest/gtest.h>
#include <pty.h>

#include <cstdlib>
#include <regex>

#include "base/text.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

constexpr const char* clear = "\r\033[K";

class Terminal : public ProgramInAFolder {
 protected:
  void SetUp() override {
    phantoms("4", "20");
    write("experiment.yaml",
          "name: tiny\ndata: {root: data, modalities: [flair, t1ce]}\npreprocess: {resolution: 16}\n"
          "network: {base_filters: 2, depth: 2}\ntraining: {epochs: 2}\n");
  }

  Words train_into(const std::string& out, const Words& more = {}) { return into(out, more, "train"); }

  // Everything that is written to a terminal with this many columns.
  std::string on_terminal(const Words& arguments, unsigned short columns, const std::string& no_color = "") {
    const winsize size = {24, columns, 0, 0};
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
    if (child == 0) {
      setenv("TERM", "xterm", 1);
      setenv("NO_COLOR", no_color.c_str(), 1);
      become_program(arguments);
    }
    std::string seen;
    char buffer[4096];
    for (ssize_t count; (count = read(terminal, buffer, sizeof buffer)) > 0;)
      seen.append(buffer, static_cast<std::size_t>(count));
    close(terminal);
    waitpid(child, nullptr, 0);
    return seen;
  }
};

// The progress lines, which are drawn over: the text between a clearing and the next.
std::vector<std::string> drawn_lines(const std::string& seen) {
  std::vector<std::string> lines;
  for (std::size_t at = seen.find(clear); at != seen.npos;) {
    const std::size_t begin = at + std::string(clear).size();
    at = seen.find(clear, begin);
    const std::string line = seen.substr(begin, at == seen.npos ? at : at - begin);
    if (!line.empty() && line.find('\n') == line.npos) lines.push_back(line);
  }
  return lines;
}

TEST_F(Terminal, IsNeverWideEnoughForALineToWrapAndIsLeftClean) {
  for (const unsigned short columns : {80, 40, 20}) {
    const std::string seen = on_terminal({"check", path("data")}, columns);
    const std::vector<std::string> lines = drawn_lines(seen);
    ASSERT_FALSE(lines.empty()) << seen;
    EXPECT_TRUE(lines[0].starts_with("checking ")) << lines[0];
    for (const std::string& line : lines) EXPECT_LT(shown_width(line), columns) << line;
    // Each line was drawn over, the last one before the table.
    EXPECT_TRUE(contains(seen, lines.back() + clear));
  }
}

TEST_F(Terminal, ShowsTheTimeThatTheWholeRunWillTakeAndTheEpochsAboveTheBar) {
  fs::remove(cache_ / "costs");  // so that they are measured
  const std::string seen = on_terminal(train_into("out"), 80);
  EXPECT_TRUE(std::regex_search(seen, std::regex("epoch 1/2 .*0/3 steps, .* left"))) << seen;
  EXPECT_TRUE(std::regex_search(seen, std::regex("epoch 1/2  train .* left(\033\\[m)?\r\n"))) << seen;
  EXPECT_TRUE(std::regex_search(seen, std::regex("measuring all kernels"))) << seen;
  for (const std::string& line : drawn_lines(seen)) EXPECT_LT(shown_width(line), 80u) << line;
}

TEST_F(Terminal, IsWideEnoughForATableOfTwoColumns) {
  const std::string seen = on_terminal({"info"}, 80);
  EXPECT_TRUE(contains(seen, "plan --as h100"));
  for (const std::string& line : split(seen, '\n')) EXPECT_LE(shown_width(trim(line)), 80u) << line;
}

TEST_F(Terminal, HasNoColoursWhereNoColorIsSet) {
  const Words mistake = {"check", path("nowhere")};
  EXPECT_TRUE(contains(on_terminal(mistake, 80), "\033[31"));  // otherwise an error is red
  const std::string plain = on_terminal(mistake, 80, "1");
  EXPECT_TRUE(contains(plain, "nowhere"));
  EXPECT_FALSE(contains(plain, "\033[3"));
}

TEST_F(Terminal, IsSparedByQuietButTheRecordIsNot) {
  const std::string log = path("out/run.log");
  ASSERT_EQ(program(train_into("out", {"--quiet"})).output, path("out/checkpoints") + "\n");
  const std::string first = read_file(log);
  const std::string time = "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3}  ";
  EXPECT_TRUE(std::regex_search(first, std::regex("^" + time + "voxswap .*: train .*experiment.yaml --out")))
      << first;
  EXPECT_TRUE(std::regex_search(first, std::regex("\n" + time + "epoch 2/2  train "))) << first;

  done(train_into("out", {"training.epochs=3", "--resume"}));
  const std::string both = read_file(log);
  EXPECT_TRUE(both.starts_with(first));
  EXPECT_TRUE(std::regex_search(both.substr(first.size()), std::regex("\n" + time + "epoch 3/3  train ")))
      << both;
}

TEST_F(Terminal, ShowsMoreWithLogLevelDebug) {
  const Outcome debug = done(train_into("out", {"--log-level", "debug"}));
  for (const char* words : {"epoch 1 step 3/3: loss ", "last.safetensors: written", "prepared"}) {
    EXPECT_TRUE(contains(debug.output, words));
    EXPECT_TRUE(contains(bytes("out/run.log"), words));
  }
  const Outcome usual = program(train_into("other"));
  EXPECT_FALSE(contains(usual.output, " step 3/3: loss "));
}

}  // namespace
}  // namespace voxswap::cli
