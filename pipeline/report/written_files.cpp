#include "pipeline/report/written_files.h"

#include <algorithm>

#include "base/csv.h"
#include "base/error.h"
#include "base/json.h"

namespace voxswap::pipeline {

namespace {

fs::path notes_file(const fs::path& folder) {
  return folder / "checksums.json";
}

// For each file the hashes of its valid versions, newest first.
Json read_notes(const fs::path& folder) {
  const fs::path file = notes_file(folder);
  if (!fs::exists(file)) return Json::object();
  Json notes = parse_json(read_file(file));
  if (notes.empty()) return Json::object();
  const bool is_whole =
      notes.is_object() && std::all_of(notes.begin(), notes.end(), [](const Json& hashes) {
        return hashes.is_array() &&
               std::all_of(hashes.begin(), hashes.end(), [](const Json& hash) { return hash.is_string(); });
      });
  if (!is_whole)
    fail(Exit::bad_data, "{}: is damaged, so changes to the run's tables cannot be detected", file.string());
  return notes;
}

void write_notes(const fs::path& folder, const Json& notes) {
  write_file(notes_file(folder), notes.dump(2) + "\n");
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
  Json notes = read_notes(folder);
  for (const auto& [name, content] : files) {
    const std::string hash = hash_of(content), before = hash_of_file(folder / name);
    notes[name] = Json::array({hash});
    // The current file is also valid: it remains if the process is killed before renaming the new one.
    if (before != hash) notes[name].push_back(before);
  }
  write_notes(folder, notes);
  for (const auto& [name, content] : files) write_file(folder / name, content);
}

void settle_files(const fs::path& folder) {
  Json notes = read_notes(folder);
  for (Json& hashes : notes) hashes = Json::array({hashes.at(0)});
  write_notes(folder, notes);
}

std::vector<std::string> tables_without_note(const fs::path& folder) {
  const Json notes = read_notes(folder);
  std::vector<std::string> names = {"epochs.csv", "validation.csv", "accuracy.csv", "timing.csv"};
  std::erase_if(names,
                [&](const std::string& name) { return !fs::exists(folder / name) || notes.contains(name); });
  return names;
}

std::vector<std::string> changed_files(const fs::path& folder) {
  std::vector<std::string> changed;
  const Json notes = read_notes(folder);
  for (const auto& [name, hashes] : notes.items())
    if (std::find(hashes.begin(), hashes.end(), hash_of_file(folder / name)) == hashes.end())
      changed.push_back(name);
  return changed;
}

}  // namespace voxswap::pipeline
