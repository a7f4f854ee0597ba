// The options of commands as data, for completion, the manual page and the reference. Obtained by running a
// command until it would parse its arguments.
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
  std::vector<std::string> names;    // "--out", "-h"; positional: "RUN_DIR"
  std::string value;                 // type of its value, such as TEXT; empty: a flag
  std::vector<std::string> choices;  // valid values, if enumerated
  std::string meaning;
  std::string otherwise;  // default value
  bool positional = false, required = false, several = false;
};

struct CommandDescription {
  std::string name, summary, text;
  std::vector<OptionDescription> options;
  bool takes_keys = false;  // accepts key=value of an experiment
};

CommandDescription describe(const Command& command);
std::vector<CommandDescription> describe_commands();

// Called with a command's options before it parses its arguments. True: the options were recorded for
// describe(), and the command must end.
bool record_description(const CLI::App& app);

struct ExitCode {
  Exit code;
  const char* meaning;
  const char* left;  // files that remain afterwards
};
const std::vector<ExitCode>& exit_codes();

}  // namespace voxswap::cli
