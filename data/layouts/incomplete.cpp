#include "data/layouts/incomplete.h"

#include <algorithm>

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/text.h"
#include "data/formats/placeholders.h"

namespace voxswap::data {

namespace {

int value_named(const Dataset& dataset, const std::string& name, const fs::path& table) {
  std::vector<std::string> names;
  for (const auto& [known, value] : dataset.labels) {
    if (known == name) return value;
    names.push_back(known);
  }
  const std::string guess = nearest(name, names);
  fail(Exit::usage, "{}: {}: unknown label '{}'.{} There are {}", key::data_annotated, table.string(), name,
       guess.empty() ? "" : " Did you mean '" + guess + "'?", join(names, ", "));
}

}  // namespace

std::map<std::string, std::set<int>> read_annotated_labels(const fs::path& table, const std::string& asked_by,
                                                           const LabelValue& value) {
  const Csv csv = read_csv(table);
  const std::size_t id = csv.column("case", table.string()), labels = csv.column("labels", table.string());
  std::map<std::string, std::set<int>> annotated;
  for (const auto& row : csv.rows) {
    const auto [found, fresh] = annotated.try_emplace(row[id]);
    if (!fresh) fail(Exit::bad_data, "{}: {}: case '{}' is listed twice", asked_by, table.string(), row[id]);
    for (const std::string& part : split(row[labels], ';'))
      if (const std::string label = trim(part); !label.empty()) found->second.insert(value(label));
    if (found->second.empty())
      fail(Exit::bad_data,
           "{}: {}: case '{}' has no label. Remove its ground truth, or list the labels that were annotated",
           asked_by, table.string(), row[id]);
  }
  return annotated;
}

void read_annotated(Dataset& dataset, const fs::path& table) {
  if (table.empty()) return;
  const auto annotated = read_annotated_labels(table, key::data_annotated, [&](const std::string& label) {
    return value_named(dataset, label, table);
  });
  for (const auto& [id, labels] : annotated) {
    const auto found = std::find_if(dataset.cases.begin(), dataset.cases.end(),
                                    [&](const CaseFiles& files) { return files.id == id; });
    if (found == dataset.cases.end())
      fail(Exit::bad_data, "{}: {}: case '{}' is not in the data set at {}", key::data_annotated,
           table.string(), id, dataset.root.string());
    if (labels.size() < dataset.labels.size()) found->annotated = labels;
  }
}

void mark_missing(Dataset& dataset) {
  for (CaseFiles& files : dataset.cases) {
    std::vector<bool> missing(files.channels.size());
    for (std::size_t i = 0; i < missing.size(); ++i) {
      error_code ignored;
      const bool is_clear = files.unclear.empty() || files.unclear[i].empty();
      missing[i] =
          is_clear && placeholder_at(files.channels[i]).empty() && !fs::exists(files.channels[i], ignored);
    }
    const auto count = static_cast<std::size_t>(std::count(missing.begin(), missing.end(), true));
    if (count > 0 && count < missing.size()) files.missing = std::move(missing);
  }
}

std::string missing_text(const Dataset& dataset) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < dataset.modalities.size(); ++i) {
    const auto count = std::count_if(dataset.cases.begin(), dataset.cases.end(),
                                     [&](const CaseFiles& files) { return files.lacks(i); });
    if (count > 0) parts.push_back(format("{} in {}", dataset.modalities[i], count));
  }
  return parts.empty() ? "" : format("{} of {}", join(parts, ", "), counted(dataset.cases.size(), "case"));
}

namespace {

// Opening a named pipe would block until another process writes to it.
bool is_readable_kind(const fs::path& path) {
  error_code ignored;
  return fs::is_regular_file(path, ignored) || fs::is_directory(path, ignored);
}

}  // namespace

FileTrouble channel_trouble(const Dataset& dataset, const CaseFiles& files, std::size_t channel) {
  if (!files.unclear.empty() && !files.unclear[channel].empty())
    return {
        format("case {}: {}", files.id, files.unclear[channel]),
        format("choose one with {}, or leave the channel out of {}", key::data_files, key::data_modalities)};
  if (files.lacks(channel)) return {};
  const fs::path& path = files.channels[channel];
  const std::string name =
      channel < dataset.modalities.size() ? dataset.modalities[channel] : format("number {}", channel);
  if (const std::string placeholder = placeholder_at(path); !placeholder.empty())
    return {format("case {}: channel {}: {}: {}", files.id, name, path.string(), placeholder),
            "download its content"};
  error_code ignored;
  if (!fs::exists(path, ignored))
    return {format("case {}: channel {} is missing: no such file: {}{}", files.id, name, path.string(),
                   files.hints.empty() || files.hints[channel].empty() ? "" : ". " + files.hints[channel]),
            format("add the file, remove the case, leave the channel out of {}, or set {}: true to replace "
                   "the channel by 0",
                   key::data_modalities, key::data_missing_modalities)};
  if (!is_readable_kind(path))
    return {
        format("case {}: channel {}: {} is not a file (a pipe or a device)", files.id, name, path.string()),
        "put the image itself there"};
  return {};
}

FileTrouble truth_trouble(const CaseFiles& files) {
  error_code ignored;
  if (files.truth.empty()) return {};
  if (!files.truth_unclear.empty())
    return {format("case {} {}", files.id, files.truth_unclear),
            format("move such cases to a folder of their own, or set {} if their values mean the same",
                   key::data_labels)};
  if (const std::string placeholder = placeholder_at(files.truth); !placeholder.empty())
    return {format("case {}: ground truth {}: {}", files.id, files.truth.string(), placeholder),
            "download its content"};
  if (!fs::exists(files.truth, ignored))
    return {format("case {}: the ground truth is missing: expected {}", files.id, files.truth.string()),
            "add the file"};
  if (!is_readable_kind(files.truth))
    return {
        format("case {}: ground truth {} is not a file (a pipe or a device)", files.id, files.truth.string()),
        "put the label map itself there"};
  return {};
}

bool lacks_a_file(const Dataset& dataset, const CaseFiles& files) {
  for (std::size_t i = 0; i < files.channels.size(); ++i)
    if (channel_trouble(dataset, files, i)) return true;
  return static_cast<bool>(truth_trouble(files));
}

}  // namespace voxswap::data
