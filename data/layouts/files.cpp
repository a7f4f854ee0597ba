// Layout files: one pattern per channel. {case} matches the case's name, * and ? match any characters, but
// not across folders: "{case}/Flair*.nii.gz". A match may also be a folder of DICOM slices.
#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/text.h"
#include "data/formats/dicom.h"
#include "data/layouts/dataset.h"
#include "data/layouts/folders.h"
#include "data/layouts/layouts.h"

namespace voxswap::data {

namespace {

// One path component of a pattern as a regular expression. The first {case} is captured, or replaced by the
// name if that is known.
std::regex expression(const std::string& part, const std::string& known_case) {
  std::string text;
  bool captured = false;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part.compare(i, 6, "{case}") == 0) {
      if (!known_case.empty()) {
        for (const char c : known_case)
          text += std::isalnum(static_cast<unsigned char>(c)) ? std::string(1, c) : std::string("\\") + c;
      } else {
        text += captured ? "\\1" : "([^/]+)";  // a name may contain a line break, which . does not match
      }
      captured = true;
      i += 5;
    } else if (part[i] == '*') {
      text += "[^/]*";
    } else if (part[i] == '?') {
      text += "[^/]";
    } else if (std::isalnum(static_cast<unsigned char>(part[i])) ||
               static_cast<unsigned char>(part[i]) >= 0x80 || part[i] == '_') {
      text += part[i];
    } else {
      text += std::string("\\") + part[i];
    }
  }
  return std::regex(text);
}

using Matches = std::map<std::string, std::vector<fs::path>>;  // case -> its files

void match(const fs::path& folder, const std::vector<std::string>& parts, std::size_t at,
           const std::string& known_case, Matches& matches) {
  const bool last = at + 1 == parts.size();
  const auto descend = [&](const std::string& name, const std::string& found_case) {
    const fs::path path = folder / name;
    error_code ignored;
    if (last) {
      const bool image = fs::is_directory(path, ignored) ? is_dicom_folder(path) : fs::exists(path, ignored);
      if (image) matches[found_case].push_back(path);
    } else if (fs::is_directory(path, ignored)) {
      match(path, parts, at + 1, found_case, matches);
    }
  };
  const std::string& part = parts[at];
  if (part.find_first_of("*?{") == std::string::npos) return descend(part, known_case);
  const std::regex pattern = expression(part, known_case);
  for (const std::string& name : entries(folder)) {
    std::smatch groups;
    if (!std::regex_match(name, groups, pattern)) continue;
    descend(name, groups.size() > 1 ? groups[1].str() : known_case);
  }
}

Matches match(const fs::path& root, const std::string& channel, const std::string& pattern) {
  if (pattern.find("{case}") == std::string::npos) {
    fail(Exit::usage,
         "{}.{}: \"{}\" has no placeholder for the name of the case. Write {{case}} in its place, e.g. "
         "\"{{case}}/Flair*.nii.gz\"",
         key::data_files, channel, pattern);
  }
  std::vector<std::string> parts;
  for (const std::string& part : split(pattern, '/')) {
    if (!part.empty() && part != ".") parts.push_back(part);
  }
  Matches matches;
  match(root, parts, 0, "", matches);
  return matches;
}

std::string with_case(std::string pattern, const std::string& id) {
  for (std::size_t at = 0; (at = pattern.find("{case}", at)) != std::string::npos; at += id.size())
    pattern.replace(at, 6, id);
  return pattern;
}

// The only file of a case. If the pattern matches none, returns the pattern itself as the expected path.
fs::path only_file(const fs::path& root, const std::string& channel, const std::string& pattern,
                   const Matches& matches, const std::string& id) {
  const auto found = matches.find(id);
  if (found == matches.end()) return root / with_case(pattern, id);
  if (found->second.size() > 1) {
    fail(Exit::bad_data, "case {}, {}: {} match \"{}\": {} and {}. Make the pattern in {} more specific", id,
         channel, counted(found->second.size(), "file"), pattern, found->second[0].filename().string(),
         found->second[1].filename().string(), key::data_files);
  }
  return found->second.front();
}

// Channels that were not requested do not create cases. (Whether requested channels exist is checked for all
// layouts together.)
bool is_wanted(const std::string& channel, const std::vector<std::string>& wanted) {
  if (channel == truth_key) return false;
  return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
           return modality_name(name) == modality_name(channel);
         });
}

}  // namespace

std::optional<std::string> recognise_files(const DatasetOptions& options) {
  if (options.files.empty()) return std::nullopt;
  // Without {case} these may be patterns for series.
  const bool of_cases = std::any_of(options.files.begin(), options.files.end(), [](const auto& one) {
    return one.second.find("{case}") != std::string::npos;
  });
  if (!of_cases && recognise_dicom(options)) return std::nullopt;
  return format("{} gives a pattern per channel", key::data_files);
}

Dataset list_files(const DatasetOptions& options) {
  Dataset dataset;
  dataset.recognised = recognise_files(options).value_or("");
  for (const auto& [name, pattern] : options.files) {
    if (name != truth_key) dataset.modalities.push_back(name);
  }
  if (dataset.modalities.empty()) {
    fail(Exit::usage,
         "layout files: {} has no channel. Give a pattern for each, e.g. flair: \"{{case}}/Flair*.nii.gz\"",
         key::data_files);
  }
  const bool has_truth = options.files.contains(truth_key);
  std::map<std::string, Matches> found;
  std::set<std::string> ids;
  for (const auto& [name, pattern] : options.files) {
    found[name] = match(options.root, name, pattern);
    if (!is_wanted(name, options.modalities)) continue;
    for (const auto& [id, paths] : found[name]) ids.insert(id);
  }
  for (const std::string& id : ids) {
    CaseFiles files;
    files.id = id;
    for (const std::string& name : dataset.modalities) {
      files.channels.push_back(only_file(options.root, name, options.files.at(name), found[name], id));
      files.components.push_back(-1);
    }
    if (has_truth && found[truth_key].contains(id)) {
      files.truth = only_file(options.root, truth_key, options.files.at(truth_key), found[truth_key], id);
    }
    dataset.cases.push_back(std::move(files));
  }
  if (has_truth && options.labels.empty()) dataset.labels = observed_labels(dataset, options);
  return dataset;
}

}  // namespace voxswap::data
