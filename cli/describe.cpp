#include "cli/describe.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace voxswap::cli {

namespace {

CommandDescription* asked = nullptr;  // set by describe(), in the single thread that runs commands

// CLI11 describes a value as "TEXT", "TEXT:{onnx,pytorch}" or "FLOAT:FLOAT in [0 - 1]".
void take_value(OptionDescription& option, const std::string& type) {
  const std::size_t colon = type.find(':');
  option.value = type.substr(0, colon);
  if (colon == type.npos || type[colon + 1] != '{') return;
  option.choices = split(type.substr(colon + 2, type.rfind('}') - colon - 2), ',');
}

OptionDescription description_of(const CLI::Option& option) {
  OptionDescription result;
  result.positional = option.get_positional();
  result.required = option.get_required();
  result.several = option.get_items_expected_max() > 1;
  result.meaning = option.get_description();
  result.otherwise = option.get_default_str();
  if (option.get_items_expected_max() > 0) take_value(result, option.get_type_name());
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  if (result.positional) result.names = {option.get_name(true)};
  return result;
}

}  // namespace

bool record_description(const CLI::App& app) {
  if (asked == nullptr) return false;
  asked->text = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    asked->options.push_back(description_of(*option));
    asked->takes_keys = asked->takes_keys || asked->options.back().names[0] == "key=value";
  }
  return true;
}

CommandDescription describe(const Command& command) {
  CommandDescription description{command.name, command.summary, {}, {}};
  asked = &description;
  try {
    command.run({});
  } catch (...) {
    asked = nullptr;
    throw;
  }
  asked = nullptr;
  return description;
}

std::vector<CommandDescription> describe_commands() {
  std::vector<CommandDescription> all;
  for (const Command& command : commands()) all.push_back(describe(command));
  return all;
}

const std::vector<ExitCode>& exit_codes() {
  static const std::vector<ExitCode> table = {
      {Exit::done, "done", "all results"},
      {Exit::failed, "failed while running", "the last complete version of every file"},
      {Exit::usage, "wrong usage or experiment file", "nothing"},
      {Exit::bad_data, "bad data: missing, damaged or contradictory files, or errors found by `check`",
       "files written before the error"},
      {Exit::does_not_fit, "does not fit: memory, disk, quota",
       "the last complete version of every file; continue with --resume"},
      {Exit::interrupted, "interrupted by Ctrl-C or another signal", "a checkpoint; continue with --resume"}};
  return table;
}

}  // namespace voxswap::cli
