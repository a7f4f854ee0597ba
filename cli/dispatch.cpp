#include "cli/dispatch.h"

#include <cstdio>

#include "cli/reference.h"

namespace voxswap::cli {

namespace {

std::string help() {
  std::string text =
      "voxswap trains 3D segmentation networks on whole MRI volumes.\n\nUsage: voxswap COMMAND "
      "[ARGUMENTS]\n\n";
  for (const Command& command : commands()) text += format("  {:<10} {}\n", command.name, command.summary);
  return text +
         "\n`voxswap COMMAND --help` lists the options of a command. A first run on phantoms, from the "
         "folder that contains experiments/:\n  voxswap phantom --out phantoms --cases 32 --size 48 --seed "
         "1\n  voxswap run experiments/quickstart.yaml data.root=phantoms\n\n`voxswap help --manual` prints "
         "the "
         "manual page, `voxswap help --reference DIR` writes the pages of docs/reference/.\n";
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  return names;
}

[[noreturn]] void unknown_command(const std::string& name) {
  const std::string guess = nearest(name, command_names());
  fail(Exit::usage, "'{}' is not a command of voxswap. {}", name,
       guess.empty() ? "There are " + join(command_names(), ", ") : "Did you mean '" + guess + "'?");
}

Exit reference(const Arguments& arguments) {
  if (arguments.size() != 3) fail(Exit::usage, "help --reference: expected a folder, e.g. docs/reference");
  write_reference(arguments[2]);
  for (const ReferencePage& page : reference_pages())
    std::printf("%s\n", (fs::path(arguments[2]) / page.name).string().c_str());
  return Exit::done;
}

}  // namespace

Exit dispatch(const Arguments& arguments) {
  if (arguments.empty()) {
    std::fputs(help().c_str(), stderr);
    return Exit::usage;
  }
  const std::string& name = arguments[0];
  if (name == "--help" || name == "-h" || name == "help") {
    // `voxswap help plan` is `voxswap plan --help`, as in git.
    if (name == "help" && arguments.size() > 1 && arguments[1] == "--manual") {
      std::fputs(manual_page().c_str(), stdout);
      return Exit::done;
    }
    if (name == "help" && arguments.size() > 1 && arguments[1] == "--reference") return reference(arguments);
    if (name == "help" && arguments.size() > 1) return dispatch({arguments[1], "--help"});
    std::fputs(help().c_str(), stdout);
    return Exit::done;
  }
  if (name == "--version") {
    std::puts("voxswap " VOXSWAP_VERSION);
    return Exit::done;
  }
  for (const Command& command : commands()) {
    if (name == command.name) return command.run({arguments.begin() + 1, arguments.end()});
  }
  if (name.starts_with('-')) fail(Exit::usage, "'{}' must follow a command: voxswap COMMAND {}", name, name);
  unknown_command(name);
}

}  // namespace voxswap::cli
