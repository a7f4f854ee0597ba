#include "cli/describe.h"
#include "cli/reference.h"
#include "experiments/key_help.h"
#include "experiments/keys.h"

namespace voxswap::cli {

namespace {

// Escapes leading dots and quotes, backslashes and hyphens for roff.
std::string escaped(const std::string& text) {
  std::string result;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    at_start = c == '\n';
  }
  return result;
}

std::string bold(const std::string& text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::string entry(const std::string& head, const std::string& text) {
  return ".TP\n" + head + "\n" + escaped(text) + "\n";
}

std::string of_option(const OptionDescription& option) {
  std::string head;
  for (const std::string& name : option.names) head += (head.empty() ? "" : ", ") + bold(name);
  if (!option.positional && !option.value.empty())
    head += " " + escaped(option.choices.empty() ? option.value : join(option.choices, "|"));
  std::string text = option.meaning;
  if (option.required) text += " (needed)";
  if (!option.otherwise.empty()) text += "; without it, " + option.otherwise;
  return entry(head, text);
}

std::string of_command(const CommandDescription& command) {
  std::string text = ".SS " + escaped("voxswap " + command.name) + "\n" + escaped(command.text) + "\n";
  for (const OptionDescription& option : command.options) text += of_option(option);
  return text;
}

std::string of_keys() {
  std::string text;
  for (const experiments::Key& key : experiments::keys())
    text += entry(bold(key.path) + ": " + escaped(experiments::default_text(key)),
                  key.meaning + " (" + key.expected + ")");
  return text;
}

}  // namespace

std::string manual_page() {
  std::string text = ".TH VOXSWAP 1 \"\" \"voxswap " VOXSWAP_VERSION "\" \"User Commands\"\n";
  text += ".SH NAME\n" + escaped("voxswap - trains 3D segmentation networks on whole MRI volumes") + "\n";
  text += ".SH SYNOPSIS\n" + bold("voxswap") + " COMMAND [ARGUMENTS]\n.br\n" +
          bold("voxswap COMMAND --help") + "\n";
  text +=
      ".SH DESCRIPTION\n" +
      escaped(
          "One YAML file describes an experiment. One command runs it, from the images to label maps, "
          "tables, plots and a report. Any key of the file can be given on the command line as key=value.") +
      "\n.SH COMMANDS\n";
  for (const CommandDescription& command : describe_commands()) text += of_command(command);
  text += ".SH KEYS OF AN EXPERIMENT\nWith their defaults.\n" + of_keys();
  text += ".SH EXIT STATUS\n";
  for (const ExitCode& code : exit_codes())
    text += entry(std::to_string(static_cast<int>(code.code)), format("{} ({})", code.meaning, code.left));
  text += ".SH ENVIRONMENT\n" + entry(bold("NO_COLOR"), "switches off colours") +
          entry(bold("OMP_NUM_THREADS"), "number of threads of kernels (default: the number of cores)");
  return text;
}

}  // namespace voxswap::cli
