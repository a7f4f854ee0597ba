// What commands take, as their help tells it, for whoever writes it down elsewhere: completion in shells and
// the manual page. A command is asked by running it up to where it would read its arguments.
#pragma once

#include <string>
#include <vector>

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
