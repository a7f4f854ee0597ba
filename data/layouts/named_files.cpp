#include "data/layouts/named_files.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/keys.h"
#include "base/text.h"
#include "data/formats/formats.h"
#include "data/layouts/folders.h"
#include "data/layouts/layouts.h"
#include "data/layouts/sequences.h"

namespace voxswap::data {

namespace {

constexpr int deepest = 4;  // levels of folders below the root

// P01_t1.nii.gz: P01_, t1, .nii.gz
struct NamedFile {
  std::string before, written, extension;
  std::size_t channel = 0;
};

// Splits a name that ends in, or is, the name of a channel.
bool read_name(const std::string& name, const std::vector<std::string>& channels, NamedFile& file) {
  const std::string stem = image_stem(name);
  for (std::size_t at = 0; at < stem.size(); ++at) {
    if (at > 0 && std::string("_-. ").find(stem[at - 1]) == std::string::npos) continue;
    const std::string word = modality_name(stem.substr(at));
    const auto found = std::find_if(channels.begin(), channels.end(),
                                    [&](const std::string& one) { return modality_name(one) == word; });
    if (found == channels.end()) continue;
    file = {stem.substr(0, at), stem.substr(at), name.substr(stem.size()),
            static_cast<std::size_t>(found - channels.begin())};
    return true;
  }
  return false;
}

// Files of a folder with the same prefix before the channel, by channel.
using Group = std::map<std::size_t, NamedFile>;

std::map<std::string, Group> groups_in(const fs::path& folder, const std::vector<std::string>& channels) {
  std::map<std::string, Group> groups, alone;
  std::set<std::size_t> twice;
  for (const std::string& name : entries(folder)) {
    NamedFile file;
    error_code ignored;
    if (!read_name(name, channels, file) || fs::is_directory(folder / name, ignored)) continue;
    groups[file.before].emplace(file.channel, file);
    if (!alone[""].emplace(file.channel, file).second) twice.insert(file.channel);
  }
  // 001_flair.nii.gz and 002_t1.nii.gz are one case if there is exactly one file per channel.
  const bool complete = std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
    return group.second.size() == channels.size();
  });
  if (!complete && twice.empty() && alone[""].size() == channels.size()) return alone;
  std::erase_if(groups, [&](const auto& group) {
    return group.second.size() < std::min<std::size_t>(2, channels.size());
  });
  return groups;
}

std::string id_of(const fs::path& folder, const std::string& before) {
  const std::size_t end = before.find_last_not_of("_-. ");
  return end == std::string::npos ? folder_name(folder) : before.substr(0, end + 1);
}

void find(const fs::path& folder, const std::vector<std::string>& channels, const Skips& skips, int depth,
          std::vector<CaseFiles>& cases) {
  if (skips(folder)) return;
  for (const auto& [before, group] : groups_in(folder, channels)) {
    CaseFiles files;
    files.id = id_of(folder, before);
    for (std::size_t i = 0; i < channels.size(); ++i) {
      const auto found = group.find(i);
      const NamedFile& like = found == group.end() ? group.begin()->second : found->second;
      files.channels.push_back(
          folder / (like.before + (found == group.end() ? channels[i] : like.written) + like.extension));
      files.components.push_back(-1);
    }
    cases.push_back(std::move(files));
  }
  if (depth == 0) return;
  for (const std::string& name : entries(folder)) {
    error_code ignored;
    if (fs::is_directory(folder / name, ignored)) find(folder / name, channels, skips, depth - 1, cases);
  }
}

// The pattern with which layout files would find the image of a case.
std::string pattern_of(const fs::path& root, const CaseFiles& files, const fs::path& image) {
  std::string pattern = image.lexically_relative(root).string();
  bool named = false;
  for (std::size_t at = 0; (at = pattern.find(files.id, at)) != std::string::npos; at += 6) {
    pattern.replace(at, files.id.size(), "{case}");
    named = true;
  }
  if (named) return pattern;
  return {};
}

std::string patterns_of(const fs::path& root, const CaseFiles& files) {
  std::vector<std::string> patterns;
  for (std::size_t i = 0; i < files.channels.size(); ++i) {
    error_code ignored;
    if (!fs::exists(files.channels[i], ignored)) continue;
    const std::string pattern = pattern_of(root, files, files.channels[i]);
    if (pattern.empty()) return {};
    patterns.push_back(format("{}: \"{}\"", known_sequences()[i], pattern));
  }
  return format("{}='{{{}}}'", key::data_files, join(patterns, ", "));
}

fs::path first_image(const CaseFiles& files) {
  error_code ignored;
  return *std::find_if(files.channels.begin(), files.channels.end(),
                       [&](const fs::path& path) { return fs::exists(path, ignored); });
}

// Describes the folder if it has this layout; else empty.
std::string as_layout(const Layout& layout, const DatasetOptions& options) {
  DatasetOptions plain_options;
  plain_options.root = options.root;
  plain_options.labels = {{"any", 1}};  // so that no label maps are read to find labels
  try {
    const auto reason = layout.recognise(plain_options);
    if (!reason) return {};
    const Dataset dataset = layout.list(plain_options);
    if (dataset.cases.empty()) return {};
    return format("It looks like layout {} ({}): {} with {} ({})", layout.name, *reason,
                  counted(dataset.cases.size(), "case"), counted(dataset.modalities.size(), "channel"),
                  join(dataset.modalities, ", "));
  } catch (const Error&) {
    return {};  // not this layout, or damaged
  }
}

// Counts the images in the folder and below; `first` is the first one.
void count_images(const fs::path& folder, int depth, std::size_t& count, fs::path& first) {
  for (const std::string& name : entries(folder)) {
    const fs::path path = folder / name;
    error_code ignored;
    if (fs::is_directory(path, ignored)) {
      if (depth > 0) count_images(path, depth - 1, count, first);
    } else if (!image_stem(name).empty() || !raster_stem(name).empty()) {
      if (count++ == 0) first = path;
    }
  }
}

}  // namespace

std::vector<CaseFiles> list_named_files(const fs::path& root, const std::vector<std::string>& channels,
                                        const Skips& skips) {
  std::vector<CaseFiles> cases;
  find(root, channels, skips, deepest, cases);
  return cases;
}

std::string what_is_in(const DatasetOptions& options) {
  for (const Layout& layout : layouts())
    if (const std::string found = as_layout(layout, options); !found.empty()) return found;
  const auto sequences = known_sequences();
  const std::vector<CaseFiles> named = list_named_files(options.root, {sequences.begin(), sequences.end()},
                                                        [](const fs::path&) { return false; });
  if (!named.empty()) {
    const std::string set = patterns_of(options.root, named.front());
    return format("It has images of {} named by channel, e.g. {}{}", counted(named.size(), "case"),
                  first_image(named.front()).lexically_relative(options.root).string(),
                  set.empty() ? std::string() : ". To use them, set " + set);
  }
  std::size_t images = 0;
  fs::path first;
  count_images(options.root, deepest, images, first);
  if (images == 0) return "It contains no image: the data set is empty";
  return format("It has {}, e.g. {}, without a channel's name at the end", counted(images, "image"),
                first.lexically_relative(options.root).string());
}

}  // namespace voxswap::data
