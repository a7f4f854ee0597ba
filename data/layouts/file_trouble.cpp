#include "data/layouts/file_trouble.h"

#include "base/filesystem.h"
#include "base/keys.h"
#include "base/text.h"
#include "data/formats/placeholders.h"

namespace voxswap::data {

namespace {

// Opening a pipe waits for somebody to write into it.
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
    return {format("case {}: channel {} is missing: no such file: {}", files.id, name, path.string()),
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

}  // namespace voxswap::data
