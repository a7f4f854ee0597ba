#include "cli/reference.h"

#include <cmath>

#include "base/file.h"
#include "base/keys.h"
#include "cli/describe.h"
#include "cli/file_list.h"
#include "data/layouts/layouts.h"
#include "data/phantoms/phantom_layouts.h"
#include "experiments/key_help.h"
#include "experiments/keys.h"
#include "experiments/rules.h"
#include "metrics/metrics.h"
#include "net/networks/networks.h"
#include "net/steps/step.h"
#include "pipeline/record/identity.h"

namespace voxswap::cli {

namespace {

using Row = std::vector<std::string>;

std::string code(const std::string& text) {
  return "`" + text + "`";
}

// Escapes text for a table cell: no line ends, no unescaped bars.
std::string cell(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string markdown_table(const Row& header, const std::vector<Row>& rows) {
  const auto line = [](const Row& cells) {
    std::string text = "|";
    for (const std::string& one : cells) text += " " + cell(one) + " |";
    return text + "\n";
  };
  std::string text = "\n" + line(header) + "|";
  for (std::size_t i = 0; i < header.size(); ++i) text += "---|";
  text += "\n";
  for (const Row& row : rows) text += line(row);
  return text;
}

std::string lines_of(const std::string& paragraph) {
  return wrapped(paragraph, 120) + "\n";
}

std::string opening(const std::string& title, const std::string& paragraph) {
  return "# " + title + "\n\n" + lines_of(paragraph);
}

std::string heading(const std::string& text) {
  return "\n## " + text + "\n\n";
}

std::string usage(const CommandDescription& command) {
  std::string text = "voxswap " + command.name;
  for (const OptionDescription& option : command.options)
    if (option.required && !option.positional) text += " " + option.names[0] + " " + option.value;
  text += " [OPTIONS]";
  for (const OptionDescription& option : command.options) {
    if (!option.positional) continue;
    const std::string name = option.names[0] + (option.several ? " ..." : "");
    text += option.required ? " " + name : " [" + name + "]";
  }
  return text;
}

Row row_of(const OptionDescription& option) {
  Row names;
  for (const std::string& name : option.names) names.push_back(code(name));
  std::string value = option.choices.empty() ? option.value : join(option.choices, ", ");
  if (option.positional) value.clear();
  std::string otherwise = option.otherwise;
  if (otherwise.empty() && option.required) otherwise = "required";
  const std::string meaning =
      option.meaning.substr(0, option.meaning.find('\n'));  // without a list that may follow
  return {join(names, ", "), value, meaning, otherwise};
}

std::string commands_page() {
  std::string text =
      opening("Commands",
              "This page lists every command of voxswap with its options, for people and scripts. "
              "Every command also has `--help` and returns one of the [exit codes](exit_codes.md).");
  for (const CommandDescription& command : describe_commands()) {
    text += heading("voxswap " + command.name) + lines_of(command.text) + "\n    " + usage(command) + "\n";
    std::vector<Row> rows;
    for (const OptionDescription& option : command.options)
      if (option.names[0] != "--help") rows.push_back(row_of(option));
    text += markdown_table({"Option", "Value", "Meaning", "Default"}, rows);
    if (command.takes_keys) text += "\n" + lines_of("Keys are listed in [keys](keys.md).");
  }
  return text;
}

// Whether a resumed run may have another value.
std::string when_resumed(const experiments::Key& key) {
  pipeline::Experiment experiment = experiments::default_experiment();
  experiment.training.schedule.name = pipeline::Schedule::plateau;
  const bool sometimes = pipeline::may_change(key.decides, experiment);
  experiment.training.schedule.name = pipeline::Schedule::poly;
  const bool always = pipeline::may_change(key.decides, experiment);
  return always ? "yes" : sometimes ? "unless the schedule or averaging depends on it" : "no";
}

// Metrics are listed on a separate page.
std::string values_of(const experiments::Key& key) {
  return key.path == "evaluate.metrics" ? "all | a list of [metrics](metrics.md)" : key.expected;
}

std::string keys_page() {
  std::string text = opening(
      "Keys of an experiment",
      "This page lists every key of an experiment file. Set a key in the file, or on the command line as "
      "`key=value`, which overrides the file. The last column says whether the key may change when a run is "
      "resumed.");
  for (const experiments::KeySection& section : experiments::key_sections()) {
    std::vector<Row> rows;
    for (const experiments::Key* key : section.keys)
      rows.push_back({code(key->path), code(experiments::default_text(*key)), values_of(*key), key->meaning,
                      when_resumed(*key)});
    text += heading(section.heading).substr(0, heading(section.heading).size() - 1) +
            markdown_table({"Key", "Default", "Values", "Meaning", "May change"}, rows);
  }
  return text;
}

std::string files_page() {
  std::string text =
      opening("Files",
              "This page lists every file that a command writes, and every column of its tables. Tables are "
              "CSV files (RFC 4180) with a header line. A missing number is "
              "`nan`. A GB is 10^9 bytes. Text that begins with =, +, -, @, a tab or a carriage return is "
              "written with a leading apostrophe, because spreadsheets would read it as a formula; voxswap "
              "removes the apostrophe on reading.");
  std::string tables;
  for (const FileGroup& group : file_list()) {
    text += heading(group.heading) + lines_of("Written by " + group.written_by + ".");
    std::vector<Row> rows;
    for (const FileDescription& file : group.files) {
      rows.push_back({code(file.name), file.meaning});
      if (file.columns.empty()) continue;
      std::vector<Row> columns;
      for (const CsvColumn& column : file.columns) columns.push_back({code(column.name), column.meaning});
      const std::string title = heading("Columns of " + file.name);
      if (tables.find(title) == tables.npos)
        tables += title.substr(0, title.size() - 1) + markdown_table({"Column", "Meaning"}, columns);
    }
    text += markdown_table({"File", "Content"}, rows);
  }
  return text + tables;
}

std::string exit_codes_page() {
  std::vector<Row> rows;
  for (const ExitCode& one : exit_codes())
    rows.push_back({std::to_string(static_cast<int>(one.code)), one.meaning, one.left});
  return opening("Exit codes",
                 "This page lists the exit codes of every command, for scripts. They do not change between "
                 "versions. "
                 "With codes 1 to 4, one line on standard error begins with `error: `.") +
         markdown_table({"Code", "Meaning", "What remains"}, rows);
}

std::string range_of(const metrics::Metric& metric) {
  if (std::isinf(metric.least)) return "any";
  if (std::isinf(metric.most)) return format("at least {}", number(metric.least));
  return format("{} to {}", number(metric.least), number(metric.most));
}

std::string metrics_page() {
  std::vector<Row> rows;
  for (const metrics::Metric& metric : metrics::metrics())
    rows.push_back({code(metric.name), metric.meaning, range_of(metric)});
  return opening("Metrics",
                 "This page lists the metrics of `evaluate.metrics` and `voxswap evaluate --metrics`. T is "
                 "the region "
                 "in the ground truth, P in the prediction. Each metric is a column of `dice.csv`.") +
         markdown_table({"Metric", "Meaning", "Range"}, rows);
}

std::string networks_page() {
  std::vector<Row> rows;
  for (const std::string& name : net::network_names()) {
    pipeline::Experiment experiment = experiments::default_experiment();
    experiment.network.name = name;
    experiment.network.depth = 0;  // differs from the default
    const bool fixed =
        experiments::without_effect({{"network.depth", {}}}, experiment).contains("network.depth");
    const auto [least, most] = net::network_depths(name);
    rows.push_back({code(name), net::network_meaning(name), net::takes_images(name) ? "2D images" : "volumes",
                    net::classifies_images(name) ? "one class per image" : "one label per voxel",
                    fixed ? "fixed" : format("{} to {}", least, most),
                    net::takes_batch_at_once(name) ? "yes" : "no", net::has_levels(name) ? "yes" : "no"});
  }
  return opening("Networks",
                 "This page lists the networks of `network.name`. Levels: whether kernels, strides and "
                 "deep supervision can be set per level.") +
         markdown_table(
             {"Network", "Architecture", "Input", "Output", "`network.depth`", "Batch norm", "Levels"}, rows);
}

std::string terms_of(const net::LossOptions& loss) {
  std::vector<std::string> terms;
  if (loss.dice > 0) terms.push_back(loss.classes ? "soft Dice without background" : "soft Dice");
  if (loss.cross_entropy > 0) terms.push_back(loss.classes ? "cross entropy" : "binary cross entropy");
  return join(terms, " + ");
}

std::string losses_page() {
  std::vector<Row> rows;
  for (const std::string& name : choice_names<net::Loss>()) {
    const net::LossOptions loss = net::loss_options(choice_of<net::Loss>(name));
    rows.push_back({code(name), loss.classes ? "exclusive labels" : "labels or regions",
                    loss.classes ? "soft-max" : "sigmoid", terms_of(loss)});
  }
  std::vector<Row> keys;
  for (const experiments::Key& key : experiments::keys())
    for (const char* one : {"training.label_smoothing", "training.focal_gamma", key::training_class_weights,
                            key::training_batch_dice, key::training_deep_supervision, key::data_ignore_label,
                            key::data_annotated})
      if (key.path == one) keys.push_back({code(key.path), key.meaning});
  return opening("Losses",
                 "This page lists the losses of `training.loss` and the keys that modify them. "
                 "[Losses](../explanation/losses.md) has the formulas.") +
         markdown_table({"Loss", "Targets", "Probabilities", "Sum of"}, rows) +
         markdown_table({"Key", "Meaning"}, keys);
}

std::string layouts_page() {
  std::vector<Row> rows, phantoms;
  for (const data::Layout& layout : data::layouts()) rows.push_back({code(layout.name), layout.looks_like});
  for (const data::PhantomLayout& layout : data::phantom_layouts())
    phantoms.push_back({code(layout.name), layout.looks_like});
  return opening("Layouts",
                 "This page lists the layouts of `data.layout`, in the order in which `auto` tries them. "
                 "[Data](../explanation/layouts.md) describes them.") +
         markdown_table({"Layout", "Files"}, rows) + "\n" +
         lines_of("`voxswap phantom --layout` writes these:") + markdown_table({"Layout", "Files"}, phantoms);
}

}  // namespace

std::vector<ReferencePage> reference_pages() {
  std::vector<ReferencePage> pages = {{"commands.md", commands_page()}, {"keys.md", keys_page()},
                                      {"files.md", files_page()},       {"exit_codes.md", exit_codes_page()},
                                      {"metrics.md", metrics_page()},   {"networks.md", networks_page()},
                                      {"losses.md", losses_page()},     {"layouts.md", layouts_page()}};
  for (ReferencePage& page : pages)
    page.text += "\n<!-- Written by `voxswap help --reference docs/reference`. -->\n";
  return pages;
}

void write_reference(const fs::path& folder) {
  make_writable_directory(folder);
  for (const ReferencePage& page : reference_pages()) write_file(folder / page.name, page.text);
}

}  // namespace voxswap::cli
