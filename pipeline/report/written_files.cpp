#include "pipeline/report/written_files.h"

#include <algorithm>

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"

namespace voxswap::pipeline {

namespace {

using Notes =
    std::vector<std::pair<std::string, std::vector<std::string>>>;  // file name; hashes, newest first

fs::path notes_file(const fs::path& folder) {
  return folder / "checksums.json";
}

Notes read_notes(const fs::path& folder) {
  const fs::path file = notes_file(folder);
  Notes notes;
  if (!fs::exists(file)) return notes;
  const auto json = parse_json(read_file(file));
  try {
    for (const auto& [name, hashes] : json.items())
      notes.emplace_back(name, hashes.get<std::vector<std::string>>());
  } catch (const Json::exception&) {
    fail(Exit::bad_data, "{}: is damaged, so changes to the run's tables cannot be detected", file.string());
  }
  return notes;
}

void write_notes(const fs::path& folder, const Notes& notes) {
  Json json = Json::object();
  for (const auto& [name, hashes] : notes) json[name] = hashes;
  write_file(notes_file(folder), json.dump(2) + "\n");
}

std::string hash_of(const std::string& content) {
  return Hasher().add(content.data(), content.size()).digest();
}

constexpr const char* not_there = "none";  // instead of a hash

// Tables are hashed by their fields, which have a unique text form.
std::string hash_of_file(const fs::path& file) {
  if (!fs::exists(file)) return not_there;
  try {
    return hash_of(file.extension() == ".csv" ? csv_text(read_csv(file)) : read_file(file));
  } catch (const Error&) {
    return "";  // not a valid table
  }
}

}  // namespace

void write_noted(const fs::path& folder, const std::vector<NamedContent>& files) {
  Notes notes = read_notes(folder);
  for (const auto& [name, content] : files) {
    const std::string hash = hash_of(content);
    const auto found =
        std::find_if(notes.begin(), notes.end(), [&](const auto& note) { return note.first == name; });
    // The current file is also valid: it remains if the process is killed before renaming the new one.
    std::vector<std::string> hashes = {hash};
    if (const std::string before = hash_of_file(folder / name); before != hash) hashes.push_back(before);
    if (found == notes.end())
      notes.emplace_back(name, std::move(hashes));
    else
      found->second = std::move(hashes);
  }
  write_notes(folder, notes);
  for (const auto& [name, content] : files) write_file(folder / name, content);
}

void settle_files(const fs::path& folder) {
  Notes notes = read_notes(folder);
  for (auto& [name, hashes] : notes) hashes.resize(1);
  write_notes(folder, notes);
}

std::vector<std::string> tables_without_note(const fs::path& folder) {
  const Notes notes = read_notes(folder);
  std::vector<std::string> names = {"epochs.csv", "validation.csv", "accuracy.csv", "timing.csv"};
  std::erase_if(names, [&](const std::string& name) {
    return !fs::exists(folder / name) ||
           std::any_of(notes.begin(), notes.end(), [&](const auto& note) { return note.first == name; });
  });
  return names;
}

std::vector<std::string> changed_files(const fs::path& folder) {
  std::vector<std::string> changed;
  for (const auto& [name, hashes] : read_notes(folder)) {
    const std::string now = hash_of_file(folder / name);
    if (std::find(hashes.begin(), hashes.end(), now) == hashes.end()) changed.push_back(name);
  }
  return changed;
}

}  // namespace voxswap::pipeline
