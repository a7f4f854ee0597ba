#include "cli/commands.h"

namespace voxswap::cli {

namespace {

constexpr Command table_of_commands[] = {
    {"run", "check, prepare, train, predict the validation cases, evaluate, report", run_command},
    {"sweep", "run for every combination of values, with one report", sweep_command},
    {"train", "the training part of run", train_command},
    {"predict", "label maps for new cases, on each case's own grid", predict_command},
    {"evaluate", "score any label maps against the truth", evaluate_command},
    {"export", "a finished run's network for other programs: ONNX, PyTorch", export_command},
    {"import", "a run of weights that another program trained for our network", import_command},
    {"watch", "how a run that goes on elsewhere stands: losses, Dice, speed, memory", watch_command},
    {"report", "merge finished runs into CSV, plots and report.html", report_command},
    {"plan", "the memory plan of a training step, without training", plan_command},
    {"bench", "steps on random volumes; measured against predicted", bench_command},
    {"preview", "prepared and augmented cases on one sheet, to look at", preview_command},
    {"check", "look at every case of a data set and tell every problem", check_command},
    {"convert", "write a data set of any layout as nnU-Net has it", convert_command},
    {"phantom", "make a data set of brain phantoms", phantom_command},
    {"schema", "a JSON Schema of the experiment file, for editors", schema_command},
    {"completion", "a script for bash, zsh or fish that completes commands and keys", completion_command},
    {"info", "version, libraries, devices, their memory and measured link rates", info_command},
};

}  // namespace

std::span<const Command> commands() {
  return table_of_commands;
}

}  // namespace voxswap::cli
