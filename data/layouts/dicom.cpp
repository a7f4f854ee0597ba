// Scans as exported by a hospital: one folder per case, which contains a folder of DICOM slices per series,
// possibly inside a folder per study. Patterns in data.files assign series to channels; without patterns, the
// channel is inferred from the folder's name and the SeriesDescription (data/layouts/sequences.h). Inferred
// channels are logged; ambiguous ones must be set by the user. The ground truth is a label map in the case's
// folder whose name is seg, truth or label, or ends in one of these.
#include "data/formats/dicom.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/text.h"
#include "data/formats/formats.h"
#include "data/layouts/dataset.h"
#include "data/layouts/folders.h"
#include "data/layouts/layouts.h"
#include "data/layouts/sequences.h"

namespace voxswap::data {

namespace {

struct FoundSeries {
  fs::path folder;
  std::string written;  // the name that identified it
  SequenceName sequence;
};

struct FoundCase {
  std::vector<FoundSeries> series, others;  // others: not a channel
  fs::path truth;
};

struct FoundStudies {
  std::map<std::string, FoundCase> cases;
  std::vector<Unused> left_out;
};

// The channels whose patterns match a series' description or its folder's name: "*T1*PRE*|MPRAGE".
SequenceName by_patterns(const std::map<std::string, std::string>& patterns, const std::string& folder,
                         const std::string& description) {
  SequenceName found{{}, true, true, format("it matches no pattern in {}", key::data_files)};
  for (const auto& [channel, pattern] : patterns) {
    if (channel == truth_key) continue;
    const std::vector<std::string> alternatives = split(pattern, '|');
    if (std::any_of(alternatives.begin(), alternatives.end(), [&](const std::string& alternative) {
          return fits_pattern(description, trim(alternative)) || fits_pattern(folder, trim(alternative));
        }))
      found.could_be.push_back(channel);
  }
  found.certain = found.could_be.size() < 2;
  if (!found.certain) found.why = format("it matches several patterns in {}", key::data_files);
  return found;
}

class Finder {
 public:
  explicit Finder(const DatasetOptions& options) : options_(options) {}

  FoundStudies find() {
    error_code ignored;
    for (const std::string& name : entries(options_.root)) {
      const fs::path folder = options_.root / name;
      if (!fs::is_directory(folder, ignored)) continue;
      if (is_dicom_folder(folder)) {  // the root itself is a case
        add_series(folder, folder_name(options_.root));
      } else {
        find_series(folder, name, 2);
      }
    }
    for (auto& [id, of_case] : found_.cases)
      of_case.truth = truth_in(fs::exists(options_.root / id, ignored) ? options_.root / id : options_.root);
    return std::move(found_);
  }

 private:
  // Series are at most three folders below a case: study, series, and a folder that CDs add in between.
  void find_series(const fs::path& folder, const std::string& id, int depth) {
    for (const std::string& name : entries(folder)) {
      const fs::path inner = folder / name;
      error_code ignored;
      if (!fs::is_directory(inner, ignored)) continue;
      if (is_dicom_folder(inner)) {
        add_series(inner, id);
      } else if (depth > 0) {
        find_series(inner, id, depth - 1);
      }
    }
  }

  void add_series(const fs::path& folder, const std::string& id) {
    const std::string name = folder.filename().string(), description = dicom_description(folder);
    FoundSeries series{folder, name, {}};
    series.sequence = options_.files.empty() ? sequence_of(name, description)
                                             : by_patterns(options_.files, name, description);
    if (!description.empty() && !(series.sequence.exact && options_.files.empty()))
      series.written = description;
    FoundCase& of_case = found_.cases[id];  // also for a case without recognised series
    if (series.sequence.could_be.empty()) {
      const bool known_kind = !options_.files.empty() || series.sequence.why != sequence_of("").why;
      found_.left_out.push_back(
          {known_kind ? "note" : "warning", folder,
           format("not an input channel (\"{}\"): {}", series.written, series.sequence.why)});
      of_case.others.push_back(std::move(series));
      return;
    }
    of_case.series.push_back(std::move(series));
  }

  fs::path truth_in(const fs::path& folder) const {
    const auto pattern = options_.files.find(truth_key);
    for (const std::string& name : entries(folder)) {
      if (pattern != options_.files.end()) {
        if (fits_pattern(name, pattern->second)) return folder / name;
        continue;
      }
      const std::vector<std::string> words = split(snake_case(image_stem(name)), '_');
      const std::string& last = words.back();
      if (last == "seg" || last == "truth" || last == "label") return folder / name;
    }
    return {};
  }

  const DatasetOptions& options_;
  FoundStudies found_;
};

std::string reason(const FoundStudies& found) {
  std::string text = format("{} with DICOM series named like MRI sequences, e.g. {}",
                            counted(found.cases.size(), "folder"), found.cases.begin()->first);
  if (!found.left_out.empty()) {
    text += format("; {} skipped: the description names no MRI sequence, e.g. {}",
                   counted(found.left_out.size(), "series"), found.left_out.front().path.filename().string());
  }
  return text;
}

bool could_be(const FoundSeries& series, const std::string& channel, bool certain) {
  const auto& names = series.sequence.could_be;
  return series.sequence.certain == certain && std::find(names.begin(), names.end(), channel) != names.end();
}

std::vector<const FoundSeries*> series_of(const FoundCase& of_case, const std::string& channel,
                                          bool certain) {
  std::vector<const FoundSeries*> found;
  for (const FoundSeries& series : of_case.series) {
    if (could_be(series, channel, certain)) found.push_back(&series);
  }
  return found;
}

// The channels that occur: with certainty, or as one candidate of every series of some case.
std::vector<std::string> channels_of(const FoundStudies& found, const DatasetOptions& options) {
  std::vector<std::string> wanted;
  for (const auto& [channel, pattern] : options.files) {
    if (channel != truth_key) wanted.push_back(channel);
  }
  if (!wanted.empty()) return wanted;
  for (const char* sequence : known_sequences()) {
    const bool occurs = std::any_of(found.cases.begin(), found.cases.end(), [&](const auto& one) {
      return !series_of(one.second, sequence, true).empty();
    });
    const bool could = std::any_of(found.cases.begin(), found.cases.end(), [&](const auto& one) {
      return !one.second.series.empty() &&
             one.second.series.size() == series_of(one.second, sequence, false).size();
    });
    if (occurs || could) wanted.emplace_back(sequence);
  }
  return wanted;
}

// The setting that assigns a series to a channel and keeps the assignment of the others.
std::string how_to_say(const std::vector<std::string>& channels, const FoundCase& of_case,
                       const std::string& channel, const FoundSeries& series) {
  std::vector<std::string> patterns;
  for (const std::string& one : channels) {
    const auto sure = series_of(of_case, one, true);
    if (one == channel)
      patterns.push_back(format("{}: \"{}\"", one, series.written));
    else if (!sure.empty())
      patterns.push_back(format("{}: \"{}\"", one, sure[0]->written));
  }
  return format("{}=dicom {}='{{{}}}'", key::data_layout, key::data_files, join(patterns, ", "));
}

// For a channel without a recognised series: the unused series that is most likely it, and the setting that
// selects it.
std::string hint_of(const std::vector<std::string>& channels, const FoundCase& of_case,
                    const std::string& channel) {
  const std::string word = channel.starts_with("t1") ? "t1" : channel;
  const FoundSeries* likely = nullptr;
  for (const FoundSeries& series : of_case.others) {
    const std::string name = lower(series.folder.filename().string() + " " + series.written);
    const bool of_no_name = series.sequence.why == sequence_of("").why;
    if (name.find(word) != std::string::npos) {
      likely = &series;
      break;
    }
    if (of_no_name && likely == nullptr) likely = &series;
  }
  if (likely == nullptr) return {};
  return format("{} (\"{}\") is not used: {}. If it is {}, set {}", likely->folder.string(), likely->written,
                likely->sequence.why, channel, how_to_say(channels, of_case, channel, *likely));
}

void add_channel(const std::vector<std::string>& channels, const std::string& channel,
                 const FoundCase& of_case, const fs::path& expected, CaseFiles& files) {
  const auto sure = series_of(of_case, channel, true), unsure = series_of(of_case, channel, false);
  std::string unclear;
  fs::path path = expected;
  if (!sure.empty()) {
    path = sure[0]->folder;
    if (sure.size() > 1)
      unclear = format("two series look like {}: {} (\"{}\") and {} (\"{}\"). Remove one, or choose one: {}",
                       channel, path.string(), sure[0]->written, sure[1]->folder.string(), sure[1]->written,
                       how_to_say(channels, of_case, channel, *sure[0]));
  } else if (!unsure.empty()) {
    path = unsure[0]->folder;
    unclear = format("it is not clear whether {} (\"{}\") is {}: {}. Rename it, or assign it: {}",
                     path.string(), unsure[0]->written, channel, unsure[0]->sequence.why,
                     how_to_say(channels, of_case, channel, *unsure[0]));
  }
  files.channels.push_back(path);
  files.components.push_back(-1);
  files.unclear.push_back(unclear);
  files.hints.push_back(sure.empty() && unsure.empty() ? hint_of(channels, of_case, channel) : std::string());
}

// Counts the channels inferred from names, and lists ambiguous series that their case does not need.
void log_names(const FoundStudies& found, Dataset& dataset) {
  std::map<std::pair<std::string, std::string>, std::int64_t> guesses;
  for (const auto& [id, of_case] : found.cases) {
    for (const FoundSeries& series : of_case.series) {
      const SequenceName& sequence = series.sequence;
      if (sequence.certain) {
        if (!sequence.exact) ++guesses[{sequence.could_be[0], series.written}];
        continue;
      }
      const bool needed =
          std::any_of(sequence.could_be.begin(), sequence.could_be.end(), [&](const std::string& channel) {
            return series_of(of_case, channel, true).empty() &&
                   std::find(dataset.modalities.begin(), dataset.modalities.end(), channel) !=
                       dataset.modalities.end();
          });
      if (!needed)
        dataset.left_out.push_back(
            {"note", series.folder,
             format("a series that could be {} (\"{}\"), but its case has one already: {}",
                    join(sequence.could_be, " or "), series.written, sequence.why)});
    }
  }
  for (const auto& [names, cases] : guesses) dataset.guesses.push_back({names.first, names.second, cases});
}

bool asks_for_cases(const DatasetOptions& options) {
  return std::any_of(options.files.begin(), options.files.end(),
                     [](const auto& one) { return one.second.find("{case}") != std::string::npos; });
}

}  // namespace

std::optional<std::string> recognise_dicom(const DatasetOptions& options) {
  if (asks_for_cases(options)) return std::nullopt;
  const FoundStudies found = Finder(options).find();
  const bool any = std::any_of(found.cases.begin(), found.cases.end(),
                               [](const auto& one) { return !one.second.series.empty(); });
  if (!any) return std::nullopt;
  return reason(found);
}

Dataset list_dicom(const DatasetOptions& options) {
  if (asks_for_cases(options))
    fail(Exit::usage,
         "{}: patterns with {{case}} need {}: files. Patterns of layout dicom match series descriptions, "
         "e.g. t1ce: \"*T1*POST*\"",
         key::data_files, key::data_layout);
  const FoundStudies found = Finder(options).find();
  Dataset dataset;
  dataset.left_out = found.left_out;
  dataset.modalities = channels_of(found, options);
  for (const auto& [id, of_case] : found.cases) {
    CaseFiles files;
    files.id = id;
    files.truth = of_case.truth;
    // A channel without a series gets the path where one would be expected.
    for (const std::string& channel : dataset.modalities)
      add_channel(dataset.modalities, channel, of_case, options.root / id / channel, files);
    dataset.cases.push_back(std::move(files));
  }
  log_names(found, dataset);
  if (!found.cases.empty()) dataset.recognised = reason(found);
  if (options.labels.empty()) dataset.labels = observed_labels(dataset, options);
  return dataset;
}

}  // namespace voxswap::data
