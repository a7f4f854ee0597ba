#include "library/models.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <regex>

#include "base/error.h"
#include "base/folder_lock.h"
#include "base/log.h"
#include "base/program.h"
#include "base/text.h"
#include "data/layouts/dataset_json.h"
#include "library/model.h"
#include "library/run_folder.h"
#include "pipeline/record/resume.h"

namespace voxswap::library {

namespace {

bool is_name(const std::string& text) {
  static const std::regex allowed("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");
  return std::regex_match(text, allowed);
}

// Beside the program in a build, a bundle and a wheel, or below the prefix of an installation.
std::vector<fs::path> places(const fs::path& own) {
  const fs::path program = program_folder();
  return {own.empty() ? users_models() : own, program / "../share/voxswap/models",
          program / "../../share/voxswap/models"};
}

// Folders by name.
std::map<std::string, fs::path> folders(const fs::path& own) {
  std::map<std::string, fs::path> found;
  for (const fs::path& place : places(own)) {
    error_code ignored;
    for (fs::directory_iterator entry(place, ignored), end; !ignored && entry != end;
         entry.increment(ignored))
      if (const std::string name = entry->path().filename().string();
          is_name(name) && fs::exists(entry->path() / "experiment.yaml", ignored))
        found.emplace(name, plain(entry->path()));
  }
  return found;
}

}  // namespace

fs::path users_models() {
  const auto text = [](const char* name) {
    const char* const value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  if (const fs::path data = text("XDG_DATA_HOME"); data.is_absolute()) return data / "voxswap/models";
  if (const fs::path home = text("HOME"); !home.empty()) return home / ".local/share/voxswap/models";
  fail(Exit::usage, "HOME is not set, so there is no folder of installed models. Name one with --models DIR");
}

std::vector<InstalledModel> installed_models(const fs::path& own) {
  std::vector<InstalledModel> models;
  for (const auto& [name, folder] : folders(own)) try {
      models.push_back({name, folder, data::read_description(folder / pipeline::description_file)});
    } catch (const Error& trouble) {
      log::warn("{}", trouble.what());
    }
  return models;
}

fs::path install_model(const fs::path& file, std::string name, const fs::path& own) {
  if (name.empty()) name = file.stem().string();
  if (!is_name(name))
    fail(Exit::usage,
         "'{}' cannot be the name of a model: expected letters, digits, '.', '_' and '-'. Choose one with "
         "--name NAME",
         name);
  const fs::path place = own.empty() ? users_models() : own, folder = place / name;
  const auto lock = lock_run(folder);
  if (holds_anything(folder))
    fail(Exit::usage, "{}: exists already. Choose another name with --name NAME, or remove that folder",
         folder.string());
  const Model model = read_model(file);
  fill_folder(folder, [&](const fs::path& part) { unpack(model, part); });
  return folder;
}

fs::path run_or_model(const std::string& text, const fs::path& own) {
  error_code ignored;
  if (!is_name(text) || fs::exists(text, ignored)) return text;
  const std::map<std::string, fs::path> found = folders(own);
  if (const auto model = found.find(text); model != found.end()) return model->second;
  std::vector<std::string> names;
  for (const auto& [name, folder] : found) names.push_back(name);
  if (const std::string meant = nearest(text, names); !meant.empty())
    fail(Exit::bad_data, "{}: no such folder or model (did you mean '{}'?)", text, meant);
  return text;
}

}  // namespace voxswap::library
