// voxswap: an experiment runner for 3D segmentation on whole MRI volumes. Dispatches commands and handles all
// errors.

#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/standard_streams.h"
#include "cli/commands.h"
#include "cli/ranks.h"
#include "cli/reference.h"
#include "cli/restart.h"
#include "net/collective/launched.h"
#include "voxswap/version.h"

namespace voxswap::cli {
namespace {

std::string help() {
  std::string text =
      "voxswap trains 3D segmentation networks on whole MRI volumes.\n\nUsage: voxswap COMMAND "
      "[ARGUMENTS]\n\n";
  for (const Command& command : commands()) text += format("  {:<10} {}\n", command.name, command.summary);
  return text +
         "\n`voxswap COMMAND --help` lists the options of a command. `voxswap quickstart` is a first run, on "
         "phantoms.\n\n`voxswap help --manual` prints the manual page, `voxswap help --reference DIR` writes "
         "the pages of docs/reference/.\n";
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
    print("{}\n", (fs::path(arguments[2]) / page.name).string());
  return Exit::done;
}

// Checks arguments of all commands.
void check_arguments(const Arguments& arguments) {
  for (const std::string& argument : arguments) {
    check_name(argument, Exit::usage);
    const std::size_t sign = argument.find("=~");
    if (argument.starts_with("--") && sign != argument.npos && sign == argument.find('='))
      fail(Exit::usage, "{}: the shell replaces ~ only after a space. Write {} {}", argument,
           argument.substr(0, sign), argument.substr(sign + 1));
  }
}

// Runs `voxswap ARGUMENTS...`, including help and unknown commands.
Exit dispatch(const Arguments& arguments) {
  if (arguments.empty()) {
    std::fputs(help().c_str(), stderr);
    return Exit::usage;
  }
  const std::string& name = arguments[0];
  if (name == "--help" || name == "-h" || name == "help") {
    // `voxswap help plan` is `voxswap plan --help`, as in git.
    if (name == "help" && arguments.size() > 1 && arguments[1] == "--manual") {
      print(manual_page());
      return Exit::done;
    }
    if (name == "help" && arguments.size() > 1 && arguments[1] == "--reference") return reference(arguments);
    if (name == "help" && arguments.size() > 1) return dispatch({arguments[1], "--help"});
    print(help());
    return Exit::done;
  }
  if (name == "--version") {
    print("voxswap {}\n", version());
    return Exit::done;
  }
  if (const Command* command = find_command(name))
    return command->run({arguments.begin() + 1, arguments.end()});
  if (name.starts_with('-')) fail(Exit::usage, "'{}' must follow a command: voxswap COMMAND {}", name, name);
  unknown_command(name);
}

void tell(const std::string& error) {
  if (let_first_rank_speak()) log::error("{}{}", of_rank(), error);
}

// Returns the program's exit code; errors have been reported.
Exit run_alone(const Arguments& arguments) {
  try {
    check_arguments(arguments);
    join_ranks(arguments);
    const Exit exit = dispatch(arguments);
    net::leave_ranks();  // all ranks have finished, successfully or not
    check_standard_output();
    return exit;
  } catch (const Error& error) {
    if (error.exit() == Exit::interrupted) {
      if (net::have_left() && is_silent_rank()) return error.exit();  // the first rank reports it
      let_first_rank_speak();
      const Command* command = arguments.empty() ? nullptr : find_command(arguments[0]);
      const bool resumes = command && command->continues;
      log::warn("{}interrupted{}{}", of_rank(), resumes ? "; " : "", resumes ? command->continues : "");
    } else {
      tell(error.what());
    }
    return error.exit();
  } catch (const std::bad_alloc&) {
    tell("out of memory. Lower preprocess.resolution, training.batch_size or network.base_filters");
    return Exit::does_not_fit;
  } catch (const fs::filesystem_error& error) {
    error_code gone;
    fs::current_path(gone);
    if (gone)
      tell(format("the current folder cannot be used: {}. Change to a folder that exists", gone.message()));
    else
      tell(format("{}: {}", error.path1().string(), error.code().message()));
    return exit_of(error.code().value());
  } catch (const std::system_error& error) {  // for example, when starting a thread
    tell(error.what());
    return exit_of(error.code().value());
  } catch (const std::exception& error) {
    tell(error.what());
    return Exit::failed;
  }
}

Exit run(const Arguments& arguments) {
  const Exit exit = run_alone(arguments);
  net::end_all_ranks(static_cast<int>(exit));  // unless they have left already
  return exit;
}

}  // namespace
}  // namespace voxswap::cli

int main(int count, char** values) {
  try {
    voxswap::open_standard_streams();
    const int after_name = count > 0 ? 1 : 0;
    if (voxswap::cli::computes({values + after_name, values + count}))
      voxswap::cli::let_waiting_threads_sleep(values);
    voxswap::cli::take_cores(values);
    voxswap::take_subnormals_for_zero();
    voxswap::watch_for_interrupt();
    return static_cast<int>(voxswap::cli::run(voxswap::cli::Arguments(values + after_name, values + count)));
  } catch (...) {  // no memory for a message
    std::fputs("error: out of memory\n", stderr);
    return static_cast<int>(voxswap::Exit::does_not_fit);
  }
}
