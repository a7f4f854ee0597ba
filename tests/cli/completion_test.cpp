// Shell completion, tested in bash, and the manual page.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/text.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class Completion : public ProgramInAFolder {
 protected:
  void SetUp() override { write("completion.bash", done({"completion", "bash"}).output); }
  // The completions that bash offers for such a line.
  std::vector<std::string> offered(const std::string& line) const {
    const std::string command =
        "source " + path("completion.bash") +
        "; COMP_LINE=$1; COMP_POINT=${#COMP_LINE}; COMP_WORDS=($1); "
        "COMP_CWORD=$((${#COMP_WORDS[@]}-1)); [[ $1 == *' ' ]] && COMP_CWORD=$((COMP_CWORD+1)); "
        "_voxswap 2>/dev/null; printf '%s\\n' \"${COMPREPLY[@]}\"";
    const pid_t child = fork();
    if (child == 0) {
      enter({.log = log_});
      execlp("bash", "bash", "--norc", "-c", command.c_str(), "bash", line.c_str(), nullptr);
      _exit(127);
    }
    const Outcome outcome = succeeded(finish(child, {.log = log_}));
    return split(trim(outcome.output), '\n');
  }
};

TEST_F(Completion, OffersCommandsThenTheirOptionsAndWhatThoseTake) {
  EXPECT_EQ(offered("voxswap pre"), (Words{"predict", "preview"}));
  EXPECT_EQ(offered("voxswap run study.yaml --res"), Words{"--resume"});
  EXPECT_EQ(offered("voxswap export run --to "), (Words{"onnx", "pytorch", "monai", "nnunet", "model"}));
  EXPECT_EQ(offered("voxswap export run --to p"), Words{"pytorch"});
  EXPECT_EQ(offered("voxswap completion --quiet "), Words{""});  // a file, completed by bash itself
}

TEST_F(Completion, OffersKeysOfAnExperimentAndTheirValues) {
  EXPECT_EQ(offered("voxswap run study.yaml training.lo"),
            (Words{"training.loss=", "training.loader_threads=", "training.log="}));
  EXPECT_EQ(offered("voxswap plan study.yaml training.loss=weighted"), Words{"weighted_dice"});
  EXPECT_EQ(offered("voxswap sweep study.yaml preprocess.crop="), (Words{"foreground", "none"}));
  EXPECT_EQ(offered("voxswap evaluate training.lo"), Words{""});  // has no such keys
}

TEST_F(Completion, IsThereForEveryShellAndNoOther) {
  for (const char* shell : {"zsh", "fish"}) {
    EXPECT_TRUE(contains(done({"completion", shell}).output, "predict", "keep-largest",
                         "training.schedule.name", "plateau"))
        << shell;
  }
  refused(2, {"completion", "tcsh"});
}

TEST_F(Completion, AndTheManualPageListTheCommandsAndOptionsOfTheHelp) {
  const Outcome page = done({"help", "--manual"});
  EXPECT_TRUE(page.output.starts_with(".TH VOXSWAP 1"));
  const std::string bash = bytes("completion.bash");
  const Outcome help = program({"--help"});
  std::size_t commands = 0;
  for (const std::string& line : split(help.output, '\n')) {
    if (!line.starts_with("  ") || line.starts_with("  voxswap")) continue;
    const std::string command = split(trim(line), ' ')[0];
    ++commands;
    EXPECT_TRUE(contains(page.output, ".SS voxswap " + command + "\n")) << command;
    for (const std::string& word : split(program({command, "--help"}).output, ' ')) {
      const std::string option = trim(word.substr(0, word.find('\n')));
      if (!option.starts_with("--") || option.size() < 5 || option.find_first_of("`,.=;)") != option.npos)
        continue;
      EXPECT_TRUE(contains(bash, option)) << command;
    }
  }
  EXPECT_GT(commands, 12U);
  EXPECT_TRUE(contains(page.output, ".SH EXIT STATUS", "training.optimizer.learning_rate", "130"));
}

}  // namespace
}  // namespace voxswap::cli
