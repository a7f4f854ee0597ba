// The options of commands as data, for completion, the manual page and the reference. A command is run up to
// the point where it would parse its arguments.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "cli/commands.h"

namespace CLI {
class App;
}

namespace voxswap::cli {

struct OptionDescription {
  std::vector<std::string> names;    // "--out", "-h"; of what has none, "RUN_DIR"
  std::string value;                 // what follows it, such as TEXT; empty: nothing does
  std::vector<std::string> choices;  // of its value, where it is one of a few
  std::string meaning;
  std::string otherwise;  // the value that it has without being given
  bool positional = false, required = false, several = false;
};

struct CommandDescription {
  std::string name, summary, text;
  std::vector<OptionDescription> options;
  bool takes_keys = false;  // key=value of an experiment
};

CommandDescription describe(const Command& command);
std::vector<CommandDescription> describe_commands();

// Called with a command's options before its arguments are read. True: they were asked for, and the command
// is to end.
bool told_instead(const CLI::App& app);

struct ExitCode {
  Exit code;
  const char* meaning;
  const char* left;  // what the command leaves behind
};
const std::vector<ExitCode>& exit_codes();

}  // namespace voxswap::cli
