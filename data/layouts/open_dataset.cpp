// Implementation of open_dataset(): lists the cases by layout, restricts them to the experiment, and checks
// them.
#include "data/layouts/open_dataset.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/text.h"
#include "data/layouts/folders.h"
#include "data/layouts/incomplete.h"
#include "data/layouts/layouts.h"
#include "data/layouts/named_files.h"

namespace voxswap::data {

namespace {

const Layout& layout_named(const std::string& name) {
  for (const Layout& layout : layouts()) {
    if (layout.name == name) return layout;
  }
  std::vector<std::string> known = layout_names();
  const std::string guess = nearest(name, known);
  fail(Exit::usage, "{}: unknown layout \"{}\".{} There are {}", key::data_layout, name,
       guess.empty() ? "" : format(" Did you mean {}?", guess), join(known, ", "));
}

// The first layout that recognises the folder; its reason becomes Dataset::recognised.
const Layout& recognised_layout(const DatasetOptions& options) {
  for (const Layout& layout : layouts()) {
    if (layout.recognise(options)) return layout;
  }
  if (fs::is_empty(options.root)) {
    fail(Exit::bad_data, "{}: the data set is empty: the folder contains nothing", options.root.string());
  }
  std::string known;
  for (const Layout& layout : layouts()) known += format("\n  {}: {}", layout.name, layout.looks_like);
  fail(Exit::bad_data, "{}: no cases of a known layout found. {}. Known layouts ({}):{}",
       options.root.string(), what_is_in(options), key::data_layout, known);
}

std::size_t find_modality(const Dataset& dataset, const std::string& wanted) {
  const auto& known = dataset.modalities;
  auto found = std::find(known.begin(), known.end(), wanted);
  if (found == known.end()) {
    found = std::find_if(known.begin(), known.end(), [&](const std::string& name) {
      return modality_name(name) == modality_name(wanted);
    });
  }
  if (found == known.end()) {
    fail(Exit::usage, "{}: unknown modality \"{}\". This data set has {}", key::data_modalities, wanted,
         join(known, ", "));
  }
  return static_cast<std::size_t>(found - known.begin());
}

// Keeps the requested channels, in the requested order and under the requested names.
void select_modalities(Dataset& dataset, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return;
  std::vector<std::size_t> order;
  for (const std::string& name : wanted) {
    order.push_back(find_modality(dataset, name));
    if (std::count(order.begin(), order.end(), order.back()) > 1) {
      fail(Exit::usage, "{}: \"{}\" is listed twice", key::data_modalities, name);
    }
  }
  for (CaseFiles& files : dataset.cases) {
    CaseFiles selected = files;
    selected.channels.clear();
    selected.components.clear();
    selected.unclear.clear();
    selected.hints.clear();
    for (const std::size_t channel : order) {
      selected.channels.push_back(files.channels[channel]);
      selected.components.push_back(files.components[channel]);
      if (!files.unclear.empty()) selected.unclear.push_back(files.unclear[channel]);
      if (!files.hints.empty()) selected.hints.push_back(files.hints[channel]);
    }
    for (std::size_t i = 0; i < files.channels.size(); ++i) {
      if (std::find(order.begin(), order.end(), i) == order.end() && files.components[i] < 0)
        dataset.left_out.push_back(
            {"note", files.channels[i], format("its channel is not in {}", key::data_modalities)});
    }
    files = std::move(selected);
  }
  dataset.modalities = wanted;
}

// The origin of labels or regions, where a mistake must be corrected.
struct Source {
  Exit exit;
  std::string name;
};

Source source_of(bool by_experiment, const Dataset& dataset, const char* key, const char* word) {
  if (by_experiment) return {Exit::usage, key};
  return {Exit::bad_data, format("{}: its {}", dataset.root.string(), word)};
}

void check_labels(const Labels& labels, const Source& source) {
  std::set<int> values;
  std::set<std::string> names;
  for (const auto& [name, value] : labels) {
    if (value < 1 || value > 32767) {
      fail(source.exit, "{}: {}: {} cannot be a label. Labels are 1 to 32767; 0 is the background",
           source.name, name, value);
    }
    if (!values.insert(value).second)
      fail(source.exit, "{}: two labels have the value {}", source.name, value);
    if (!names.insert(name).second) fail(source.exit, "{}: two labels have the name {}", source.name, name);
  }
}

void check_regions(const Dataset& dataset, const Source& source) {
  std::set<int> labels;
  for (const auto& label : dataset.labels) labels.insert(label.second);
  for (const auto& [name, values] : dataset.regions) {
    if (values.empty()) fail(source.exit, "{}: {} has no labels", source.name, name);
    for (const int value : values) {
      if (labels.contains(value)) continue;
      std::vector<std::string> listed;
      for (const auto& label : dataset.labels) listed.push_back(format("{}: {}", label.first, label.second));
      fail(source.exit, "{}: {}: {} is not a label. The labels are {{{}}}", source.name, name, value,
           join(listed, ", "));
    }
  }
}

// An ignored value is not a label: it is removed from labels that were found in the ground truths.
void choose_ignored(Dataset& dataset, const DatasetOptions& options) {
  dataset.ignore_label = options.ignore_label.value_or(dataset.ignore_label);
  const auto is_ignored = [&](const auto& label) {
    return dataset.ignore_label != 0 && label.second == dataset.ignore_label;
  };
  if (options.labels.empty()) return static_cast<void>(std::erase_if(dataset.labels, is_ignored));
  const auto found = std::find_if(dataset.labels.begin(), dataset.labels.end(), is_ignored);
  if (found != dataset.labels.end())
    fail(Exit::usage, "{}: {} is also the label {} of {}. A value is either ignored or a label",
         key::data_ignore_label, dataset.ignore_label, found->first, key::data_labels);
}

// Labels and regions of the experiment override those of the layout. Without regions of the experiment, or of
// a layout whose labels are in use, regions are derived from the labels.
void choose_labels(Dataset& dataset, const DatasetOptions& options) {
  if (!options.labels.empty()) {
    dataset.labels = options.labels;
    dataset.regions.clear();
  }
  choose_ignored(dataset, options);
  check_labels(dataset.labels, source_of(!options.labels.empty(), dataset, key::data_labels, "labels"));
  if (!options.regions.empty()) dataset.regions = options.regions;
  if (dataset.regions.empty()) dataset.regions = default_regions(dataset.labels);
  check_regions(dataset, source_of(!options.regions.empty(), dataset, key::data_regions, "regions"));
}

}  // namespace

void check_names(const Dataset& dataset) {
  check_name(dataset.root, Exit::bad_data);
  // Files are named after cases, with suffixes; file systems allow 255 bytes.
  constexpr std::size_t longest_id = 180;
  for (const CaseFiles& files : dataset.cases) {
    check_name(files.id, Exit::bad_data);
    if (files.id.size() > longest_id)
      fail(Exit::bad_data, "{}: the name of case {} has {}. Files are named after cases, so use at most {}",
           dataset.root.string(), files.id, counted(files.id.size(), "byte"), longest_id);
  }
  for (std::size_t i = 1; i < dataset.cases.size(); ++i) {
    if (dataset.cases[i].id == dataset.cases[i - 1].id) {
      fail(Exit::bad_data, "{}: two cases have the name {}: {} and {}", dataset.root.string(),
           dataset.cases[i].id, dataset.cases[i - 1].channels.front().string(),
           dataset.cases[i].channels.front().string());
    }
  }
}

namespace {

// Keeps the first of several cases that have the same name.
void leave_out_alike(Dataset& dataset) {
  std::vector<CaseFiles> kept;
  for (CaseFiles& files : dataset.cases) {
    if (kept.empty() || kept.back().id != files.id)
      kept.push_back(std::move(files));
    else
      dataset.left_out.push_back({"error", files.first_channel(),
                                  format("{} has the same name", kept.back().first_channel().string())});
  }
  dataset.cases = std::move(kept);
}

}  // namespace

std::vector<std::string> layout_names() {
  std::vector<std::string> names{"auto"};
  for (const Layout& layout : layouts()) names.emplace_back(layout.name);
  return names;
}

void log_guesses(const Dataset& dataset) {
  constexpr std::size_t most = 20;
  for (std::size_t i = 0; i < std::min(most, dataset.guesses.size()); ++i) {
    const SeriesGuess& guess = dataset.guesses[i];
    log::info("series \"{}\" ({}) is used as {}", guess.written, counted(guess.cases, "case"), guess.channel);
  }
  if (dataset.guesses.size() > most)
    log::info("{} used; `voxswap check` lists all",
              counted(dataset.guesses.size() - most, "other series name"));
}

Dataset list_dataset(const DatasetOptions& given) {
  DatasetOptions options = given;
  if (options.root.filename() == "." && options.root.has_parent_path())
    options.root = options.root.parent_path();  // "folder/" is "folder"
  const bool automatic = options.layout == "auto";
  if (!automatic) layout_named(options.layout);  // report an unknown layout before a missing folder
  error_code ignored;
  if (!fs::is_directory(options.root, ignored)) {
    fail(Exit::bad_data, "{}: {}. {} must be the folder of a data set", options.root.string(),
         fs::exists(options.root, ignored) ? "is not a folder" : no_such_folder(options.root),
         key::data_root);
  }
  const Layout& layout = automatic ? recognised_layout(options) : layout_named(options.layout);
  Dataset dataset = layout.list(options);
  dataset.root = options.root;
  dataset.layout = layout.name;
  dataset.align = options.align;
  const std::string reason = dataset.recognised.empty() ? "" : format(": {}", dataset.recognised);
  dataset.recognised = format("layout {} {}{}", layout.name, automatic ? "recognised" : "as set", reason);
  std::stable_sort(dataset.cases.begin(), dataset.cases.end(),
                   [](const CaseFiles& a, const CaseFiles& b) { return a.id < b.id; });
  if (options.for_prediction) leave_out_alike(dataset);
  dataset.all_modalities = dataset.modalities;
  select_modalities(dataset, options.modalities);
  if (dataset.cases.empty())
    fail(Exit::bad_data, "{}: no case of layout {} found. Expected: {}. {}", dataset.root.string(),
         layout.name, layout.looks_like, what_is_in(options));
  check_names(dataset);
  choose_labels(dataset, options);
  if (options.missing_modalities) mark_missing(dataset);
  read_annotated(dataset, options.annotated);
  return dataset;
}

namespace {

void stop_if(const FileTrouble& trouble) {
  if (trouble) fail(Exit::bad_data, "{}. To fix it, {}", trouble.what, trouble.fix);
}

}  // namespace

void check_files(const Dataset& dataset) {
  for (const CaseFiles& files : dataset.cases) {
    for (std::size_t channel = 0; channel < files.channels.size(); ++channel)
      stop_if(channel_trouble(dataset, files, channel));
    stop_if(truth_trouble(files));
  }
}

Dataset open_dataset(const DatasetOptions& options) {
  Dataset dataset = list_dataset(options);
  check_files(dataset);
  return dataset;
}

}  // namespace voxswap::data
