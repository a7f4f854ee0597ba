// The subcommands: an explicit table, with a function and a file in commands/ for each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace voxswap::cli {

using Arguments = std::vector<std::string>;  // after the command's name

struct Command {
  const char* name;
  const char* summary;
  Exit (*run)(const Arguments& arguments);  // throws Error
  bool computes = false;                    // runs networks, or kernels that it measures
  const char* continues = nullptr;          // what continues it if it was interrupted
};
std::span<const Command> commands();
const Command* find_command(const std::string& name);  // null: there is none
// Whether `voxswap ARGUMENTS...` runs a command that computes, rather than printing its help.
bool computes(std::span<const char* const> arguments);

Exit run_command(const Arguments& arguments);
Exit sweep_command(const Arguments& arguments);
Exit train_command(const Arguments& arguments);
Exit predict_command(const Arguments& arguments);
Exit bids_command(const Arguments& arguments);
Exit evaluate_command(const Arguments& arguments);
Exit export_command(const Arguments& arguments);
Exit import_command(const Arguments& arguments);
Exit models_command(const Arguments& arguments);
Exit watch_command(const Arguments& arguments);
Exit report_command(const Arguments& arguments);
Exit plan_command(const Arguments& arguments);
Exit bench_command(const Arguments& arguments);
Exit preview_command(const Arguments& arguments);
Exit check_command(const Arguments& arguments);
Exit configure_command(const Arguments& arguments);
Exit convert_command(const Arguments& arguments);
Exit quickstart_command(const Arguments& arguments);
Exit phantom_command(const Arguments& arguments);
Exit schema_command(const Arguments& arguments);
Exit completion_command(const Arguments& arguments);
Exit info_command(const Arguments& arguments);

}  // namespace voxswap::cli
