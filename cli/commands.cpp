#include "cli/commands.h"

#include <algorithm>
#include <string_view>

namespace voxswap::cli {

namespace {

constexpr char resumes[] = "the same command with --resume continues a run";
constexpr char repeats[] = "the same command continues with what is missing";

constexpr Command table_of_commands[] = {
    {"run", "check, prepare, train, predict the validation cases, evaluate, report", run_command, true,
     resumes},
    {"sweep", "run every combination of values and compare them in one report", sweep_command, true, repeats},
    {"train", "train without predicting and scoring", train_command, true, resumes},
    {"predict", "predict label maps of new cases on their own grids", predict_command, true},
    {"bids", "predict a BIDS data set as a BIDS App does", bids_command, true},
    {"evaluate", "score any label maps against ground truth", evaluate_command},
    {"export", "export a trained network for other machines and programs", export_command},
    {"import", "import weights that another program trained, as a run", import_command},
    {"models", "list, describe and install trained models", models_command},
    {"watch", "follow a run: losses, Dice, speed, memory", watch_command},
    {"report", "compare finished runs in CSV files, plots and report.html", report_command},
    {"plan", "plan the memory of a training step, without training", plan_command, true},
    {"bench", "measure training steps and compare them with the plan", bench_command, true},
    {"preview", "show prepared and augmented cases in one image", preview_command, true},
    {"check", "check every case of a data set and list all problems", check_command},
    {"configure", "choose an experiment for a data set, with reasons", configure_command, true},
    {"convert", "convert a data set of any layout to nnU-Net's format", convert_command},
    {"quickstart", "create phantoms, train a network on them and write its report", quickstart_command, true,
     repeats},
    {"phantom", "create a data set of synthetic brain phantoms", phantom_command},
    {"schema", "print a JSON Schema of the experiment file, for editors", schema_command},
    {"completion", "print a completion script for bash, zsh or fish", completion_command},
    {"info", "print version, libraries, devices and measured link rates", info_command},
};

}  // namespace

std::span<const Command> commands() {
  return table_of_commands;
}

const Command* find_command(const std::string& name) {
  const auto found = std::ranges::find_if(commands(), [&](const Command& each) { return name == each.name; });
  return found == commands().end() ? nullptr : &*found;
}

bool computes(std::span<const char* const> arguments) {
  const Command* command = arguments.empty() ? nullptr : find_command(arguments[0]);
  const auto asks_for_help = [](std::string_view argument) {
    return argument == "--help" || argument == "-h";
  };
  return command != nullptr && command->computes && std::ranges::none_of(arguments, asks_for_help);
}

}  // namespace voxswap::cli
