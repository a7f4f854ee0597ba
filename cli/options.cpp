#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "base/progress.h"
#include "base/standard_streams.h"
#include "base/units.h"
#include "cli/describe.h"
#include "cli/ranks.h"
#include "experiments/experiment.h"
#include "experiments/key_help.h"
#include "experiments/training_grid.h"
#include "swap/model/costs.h"

namespace voxswap::cli {

namespace {

log::Level level_of(const CommonOptions& options) {
  if (options.quiet) return log::Level::warning;
  const std::vector<std::pair<std::string, log::Level>> levels = {{"debug", log::Level::debug},
                                                                  {"info", log::Level::info},
                                                                  {"warning", log::Level::warning},
                                                                  {"error", log::Level::error}};
  std::vector<std::string> names;
  for (const auto& [name, level] : levels) {
    if (name == options.log_level) return level;
    names.push_back(name);
  }
  fail(Exit::usage, "--log-level: expected one of {}, found '{}'", join(names, ", "), options.log_level);
}

std::string keys_footer(bool all) {
  const std::string text =
      all ? "All keys of an experiment, with their defaults:\n" + describe_keys(experiments::Keys::all)
          : "The most common keys of an experiment, with their defaults (--help=all: every key):\n" +
                describe_keys(experiments::Keys::common);
  return "\n" + text;
}

// CLI11's message for an unknown argument does not suggest a similar one.
[[noreturn]] void refuse(const CLI::App& app, const std::string& message) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  std::string guess;
  for (const std::string& word : split(message, ' ')) {
    const std::string option = word.substr(0, word.find(':'));  // "--jobs: Value 0 not in range"
    if (option.starts_with("--") && std::find(names.begin(), names.end(), option) == names.end())
      guess = nearest(word, names);
  }
  fail(Exit::usage, "{}{} See `{} --help`", message, guess.empty() ? "." : ". Did you mean '" + guess + "'?",
       app.get_name());
}

// CLI11 accepts nan and inf as numbers, and its range checks do not reject nan.
void check_numbers(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_type_name().starts_with("FLOAT")) continue;
    for (const std::string& text : option->results()) {
      const auto value = parse_number<double>(text);
      if (!value || !std::isfinite(*value))
        fail(Exit::usage, "{}: expected a finite number, found '{}'", option->get_name(), text);
    }
  }
}

}  // namespace

void add_common(CLI::App& app, CommonOptions& options, bool with_json) {
  app.add_flag("--quiet", options.quiet, "Print warnings and errors only");
  app.add_option("--log-level", options.log_level,
                 "Least severe messages to print: debug, info, warning or error")
      ->capture_default_str();
  if (with_json) app.add_flag("--json", options.json, "Print JSON instead of a table");
}

void add_force(CLI::App& app, bool& force) {
  app.add_flag("--force", force, "Overwrite files that voxswap did not write (never inputs)");
}

void add_as(CLI::App& app, std::string& as, const std::string& meaning) {
  std::vector<std::string> names;
  for (const swap::DeviceRates& device : swap::known_devices()) names.push_back(device.name);
  app.add_option("--as", as, meaning)->type_name("TEXT:{" + join(names, ",") + "}");
}

void add_hours(CLI::App& app, double& hours, const std::string& meaning) {
  app.add_option("--hours", hours, meaning)->capture_default_str()->check(CLI::Range(1e-3, 1e4));
}

bool parse(CLI::App& app, const Arguments& given, const CommonOptions& options) {
  if (record_description(app)) return false;
  Arguments arguments = given;
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects them in reverse order
  const bool has_keys = app.get_option_no_throw("EXPERIMENT") != nullptr;
  const auto all_help = std::find(arguments.begin(), arguments.end(), "--help=all");
  const bool all_keys = has_keys && all_help != arguments.end();
  if (all_keys) *all_help = "--help";
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    if (has_keys) app.footer(keys_footer(all_keys));
    print(app.help());
    return false;
  } catch (const CLI::ParseError& error) {
    refuse(app, error.what());
  }
  check_numbers(app);
  const bool silent = is_silent_rank();
  log::set_level(silent ? log::Level::error : level_of(options));
  set_quiet(silent || options.quiet);
  return true;
}

Size3 parse_size(const std::string& option, const std::string& text, std::int64_t smallest,
                 std::int64_t largest) {
  const std::vector<std::string> parts = split(text, ',');
  Size3 size{};
  bool good = parts.size() == 1 || parts.size() == 3;
  for (std::size_t axis = 0; good && axis < 3; ++axis) {
    const auto side = parse_number<std::int64_t>(parts[parts.size() == 1 ? 0 : axis]);
    good = side && *side >= smallest && *side <= largest;
    size[axis] = side.value_or(0);
  }
  if (!good)
    fail(Exit::usage, "{}: expected X or X,Y,Z, whole numbers from {} to {}, found '{}'", option, smallest,
         largest, text);
  return size;
}

void add_experiment(CLI::App& app, ExperimentArguments& arguments) {
  app.add_option("EXPERIMENT", arguments.file, "Experiment file (YAML)")->required();
  app.add_option("key=value", arguments.overrides, "Keys that override the file");
}

experiments::LoadedExperiment load(const ExperimentArguments& arguments) {
  std::vector<std::string> overrides = arguments.overrides;
  if (!arguments.out.empty()) overrides.push_back("output.dir=" + arguments.out);
  experiments::LoadedExperiment experiment = experiments::load_experiment(arguments.file, overrides);
  if (!experiment.preset.empty())
    log::info("training.preset {} sets {}", choice_name(experiment.training.preset),
              join(experiment.preset, ", "));
  warn_of_keys_without_effect(experiment);
  experiments::resolve_grid(experiment);
  return experiment;
}

void warn_of_keys_without_effect(const experiments::LoadedExperiment& experiment) {
  if (experiment.file.filename() == experiments::cell_file) return;  // the sweep has already warned
  for (const auto& [key, why] : experiment.without_effect) log::warn("{} has no effect: {}", key, why);
}

}  // namespace voxswap::cli
