#include "experiments/sweep.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/text.h"
#include "experiments/sweep_draft.h"
#include "experiments/sweep_halving.h"
#include "experiments/sweep_words.h"
#include "experiments/value_types.h"

namespace voxswap::experiments {

namespace {

constexpr std::size_t longest_name = 100;

// --- Names

// The shortest suffixes of the paths that distinguish them.
std::vector<std::string> short_names(const std::vector<Axis>& axes) {
  const auto tail = [](const std::string& path, std::size_t parts) {
    std::size_t at = path.size();
    for (; parts > 0 && at != std::string::npos; --parts) at = at == 0 ? path.npos : path.rfind('.', at - 1);
    return at == path.npos ? path : path.substr(at + 1);
  };
  std::vector<std::string> names;
  for (const Axis& axis : axes) {
    std::size_t parts = 1;
    const auto shared = [&](const Axis& other) {
      return &other != &axis && tail(other.path, parts) == tail(axis.path, parts);
    };
    while (parts < 8 && std::any_of(axes.begin(), axes.end(), shared)) ++parts;
    names.push_back(tail(axis.path, parts));
  }
  return names;
}

// Reduces a path to its last component and removes characters that are special for shells or file systems.
std::string as_file_name(const std::string& label) {
  const std::size_t slash = label.rfind('/');
  const bool is_path = label.starts_with('/') || label.starts_with('.');
  std::string safe;
  for (const char c : is_path&& slash != label.npos ? label.substr(slash + 1) : label) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x80 && (std::isalnum(code) || c == '.' || c == '+' || c == '_' || c == '-')) safe += c;
  }
  return safe;
}

void name_cells(Sweep& sweep) {
  std::map<std::string, int> uses;
  for (SweepCell& cell : sweep.cells) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < sweep.columns.size(); ++i)
      parts.push_back(sweep.columns[i] + "-" + as_file_name(cell.values[i]));
    cell.name = join(parts, "_").substr(0, longest_name - 6);
    const int use = ++uses[cell.name];
    if (use > 1) cell.name += format("_{}", use);
  }
}

// --- Options of the command

std::string text_of(const Yaml& value, const std::string& path) {
  return value_types::read_text(value, "sweep." + path);
}

void ask(SweepQuestion& question, const std::string& path, const Yaml& value) {
  const std::string where = "sweep." + path;
  if (path == "as") question.as = text_of(value, path);
  if (path == "largest")
    question.largest = value_types::read_choice(value, where, {"resolution", "batch", "depth"});
  if (path == "devices") question.devices = value_types::read_whole(value, where, {1, 1024});
  if (path == "devices_per_link")
    question.devices_per_link = value_types::read_whole(value, where, {1, 1024});
  if (path == "steps") question.steps = value_types::read_whole(value, where, {1, 1e6});
  if (path == "trace") question.trace = value_types::read_switch(value, where);
}

// An option that the command would ignore is an error.
void check_question(const std::string& path, const std::string& command, const std::string& where) {
  const std::vector<std::string> of = path == "steps"   ? std::vector<std::string>{"bench"}
                                      : path == "trace" ? std::vector<std::string>{"run", "bench"}
                                                        : std::vector<std::string>{"plan"};
  if (!is_among(command, of))
    fail(Exit::usage, "{}: sweep.{}: is only for sweep.command {}, not for {}", where, path, join(of, " or "),
         command);
}

pipeline::ChartColumns read_plot(const Yaml& value) {
  pipeline::ChartColumns plot;
  if (value.kind != Yaml::Kind::map)
    value_types::wrong(value, "sweep.plot", "a map such as {x: budget, y: overhead}");
  for (const auto& [name, entry] : value.entries) {
    if (name == "by" && entry.kind == Yaml::Kind::list) {
      for (const Yaml& item : entry.items) plot.by.push_back(text_of(item, "plot.by"));
    } else if (name == "by") {
      plot.by = {text_of(entry, "plot.by")};
    } else if (name == "x" || name == "y") {
      (name == "x" ? plot.x : plot.y) = text_of(entry, "plot." + name);
    } else {
      fail(Exit::usage, "{}: unknown key 'sweep.plot.{}'. It has x, y, by", entry.where, name);
    }
  }
  if (plot.x.empty() || plot.y.empty())
    value_types::wrong(value, "sweep.plot", "x and y, two columns of the results");
  return plot;
}

// A list of maps becomes rows, with a column for every name in any of them.
Csv read_published(const Yaml& value) {
  Csv csv;
  if (value.kind != Yaml::Kind::list) value_types::wrong(value, "sweep.published", "a list of maps");
  for (const Yaml& row : value.items) {
    if (row.kind != Yaml::Kind::map) value_types::wrong(row, "sweep.published", "a list of maps");
    for (const auto& [name, entry] : row.entries)
      if (!is_among(name, csv.header)) csv.header.push_back(name);
  }
  for (const Yaml& row : value.items) {
    auto& fields = csv.rows.emplace_back(csv.header.size());
    for (std::size_t i = 0; i < csv.header.size(); ++i)
      if (const Yaml* entry = row.find(csv.header[i])) fields[i] = label_of(*entry);
  }
  return csv;
}

void read_statements(Sweep& sweep, const Draft& draft) {
  for (const auto& [path, value] : draft.stated) {
    if (path == "command")
      sweep.command = value_types::read_choice(value, "sweep.command", {"run", "plan", "bench"});
    if (path == "title") sweep.title = text_of(value, path);
    if (path == "plot") sweep.plot = read_plot(value);
    if (path == "volumes") sweep.volumes = value_types::read_whole(value, "sweep.volumes", {1, 1e9});
    if (path == "published") sweep.published = read_published(value);
  }
}

// --- Combinations

void assign_settings(Settings& settings, const Yaml& value) {
  if (value.kind != Yaml::Kind::map)
    value_types::wrong(value, format("sweep.{}", sweep_settings),
                       "maps of keys such as {small: {network.depth: 3}}");
  for (const auto& [path, entry] : value.entries) {
    if (path == "name" || path.starts_with("output") || path == "sweep")
      fail(Exit::usage, "{}: sweep.{}: {} cannot be swept", entry.where, sweep_settings, path);
    assign_setting(settings, path, entry);
  }
}

// Combines one value per axis in `settings`; the experiment is made once the cell has its name.
SweepCell combine(const Draft& draft, const std::vector<std::size_t>& at, Settings& settings) {
  SweepCell cell;
  for (const auto& [path, value] : draft.stated) ask(cell.question, path, value);
  for (std::size_t i = 0; i < draft.axes.size(); ++i) {
    const Axis& axis = draft.axes[i];
    const SweptValue& value = axis.values[at[i]];
    cell.values.push_back(value.label);
    if (is_sweep_question(axis.path))
      ask(cell.question, axis.path, value.value);
    else if (axis.path == sweep_settings)
      assign_settings(settings, value.value);
    else
      assign_setting(settings, axis.path, value.value);
  }
  return cell;
}

bool is_about_data(const std::string& path) {
  return path == "data" || path.starts_with("data.");
}

bool draws_splits(const Axis& axis) {
  if (axis.path != sweep_settings) return is_about_data(axis.path);
  return std::any_of(axis.values.begin(), axis.values.end(), [](const SweptValue& value) {
    const auto& entries = value.value.entries;
    return std::any_of(entries.begin(), entries.end(),
                       [](const auto& one) { return is_about_data(one.key); });
  });
}

// Advances to the next combination, last axis first; false after the last one.
bool next_combination(const std::vector<Axis>& axes, std::vector<std::size_t>& at) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (++at[i] < axes[i].values.size()) return true;
    at[i] = 0;
  }
  return false;
}

void make_cell_experiment(const fs::path& file, const Sweep& sweep, SweepCell& cell, Settings settings) {
  settings["name"] = yaml_text(cell.name, on_the_line);
  settings["output.dir"] = yaml_text((sweep.base.output / cell.name).string(), on_the_line);
  if (sweep.command == "run" && !sweep.draws_splits) {
    settings["data.split.file"] = yaml_text(split_file(sweep).string(), on_the_line);
    for (const char* key : {"data.split.fold", "data.split.folds", "data.split.stratify"})
      settings.erase(key);  // they were used to make that split
  }
  try {
    cell.experiment = make_experiment(file, std::move(settings));
  } catch (const Error& error) {
    throw Error(error.exit(), format("{} (in the cell {})", error.what(), cell.name));
  }
}

// Everything that distinguishes the experiment and options of a cell, without name and output folder.
// Trainings also differ in their seeds.
std::string substance(const SweepCell& cell, bool trains) {
  const SweepQuestion& question = cell.question;
  std::string text = format("{} {} {} {} {} {}\n", question.as, question.largest, question.devices,
                            question.devices_per_link, question.steps, question.trace);
  for (const auto& [name, value, decides] : cell.experiment.settings) {
    const bool is_seed = name == key::training_seed || name == key::training_repeats;
    if (name != "name" && name != "output.dir" && !(trains && is_seed)) text += name + ": " + value + "\n";
  }
  return text;
}

// A duplicate training would compute twice and count twice in means.
void check_distinct(const SweepCell& one, const SweepCell& other) {
  const pipeline::TrainingOptions &a = one.experiment.training, &b = other.experiment.training;
  if (a.seed == b.seed && a.repeats == b.repeats)
    fail(Exit::usage,
         "sweep: the cells {} and {} are the same experiment, because a value is listed twice. Remove one",
         one.name, other.name);
  const auto [low, high] = std::minmax(a.seed, b.seed);
  if (high - low < static_cast<std::uint64_t>(a.seed < b.seed ? a.repeats : b.repeats))
    fail(
        Exit::usage,
        "sweep: the cells {} and {} both train with seed {}, because {} uses the seeds that follow {}. Leave "
        "one of the two keys out",
        one.name, other.name, high, key::training_repeats, key::training_seed);
}

void check_cells(const Sweep& sweep) {
  std::map<std::string, std::vector<const SweepCell*>> known;
  for (const SweepCell& cell : sweep.cells) {
    std::vector<const SweepCell*>& others = known[substance(cell, sweep.command == "run")];
    for (const SweepCell* other : others) check_distinct(*other, cell);
    others.push_back(&cell);
  }
}

// Numbers the settings in order of their first cells; returns how many there are.
std::size_t number_settings(Sweep& sweep) {
  std::map<std::string, std::size_t> known;
  for (SweepCell& cell : sweep.cells) {
    std::string text;
    for (const pipeline::Setting& setting : cell.experiment.settings)
      if (pipeline::distinguishes_models(setting.decides) || setting.decides == pipeline::Decides::resolution)
        text += setting.key + ": " + setting.value + "\n";
    cell.setting = known.try_emplace(text, known.size()).first->second;
  }
  return known.size();
}

std::int64_t least_epochs(const Sweep& sweep) {
  std::int64_t least = sweep.base.training.epochs;
  for (const SweepCell& cell : sweep.cells) least = std::min(least, cell.experiment.training.epochs);
  return least;
}

// Keeps the keys that have no effect in any cell.
void keep_what_no_cell_needs(Sweep& sweep) {
  std::erase_if(sweep.base.without_effect, [&](const auto& entry) {
    return std::any_of(sweep.cells.begin(), sweep.cells.end(), [&](const SweepCell& cell) {
      return !cell.experiment.without_effect.contains(entry.first);
    });
  });
}

}  // namespace

fs::path split_file(const Sweep& sweep) {
  return plain(fs::absolute(sweep.base.output)) / "split.csv";
}

Sweep load_sweep(const fs::path& file, const std::vector<std::string>& arguments, const std::string& out) {
  const Draft draft = read_draft(file, arguments, out);

  Sweep sweep;
  read_statements(sweep, draft);
  sweep.columns = short_names(draft.axes);
  for (const auto& [path, value] : draft.stated)
    if (is_sweep_question(path)) check_question(path, sweep.command, value.where);
  for (const Axis& axis : draft.axes) {
    if (is_sweep_question(axis.path)) check_question(axis.path, sweep.command, axis.values[0].value.where);
    sweep.draws_splits = sweep.draws_splits || draws_splits(axis);
  }
  std::vector<Settings> settings;
  std::vector<std::size_t> at(draft.axes.size());
  do {
    settings.push_back(draft.base);
    sweep.cells.push_back(combine(draft, at, settings.back()));
  } while (next_combination(draft.axes, at));

  sweep.base = make_experiment(file, settings[0]);
  name_cells(sweep);
  for (std::size_t i = 0; i < sweep.cells.size(); ++i)
    make_cell_experiment(file, sweep, sweep.cells[i], std::move(settings[i]));
  check_cells(sweep);
  sweep.rungs = read_rungs(draft, sweep.command, number_settings(sweep), least_epochs(sweep));
  keep_what_no_cell_needs(sweep);
  return sweep;
}

}  // namespace voxswap::experiments
