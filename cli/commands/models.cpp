// voxswap models: lists, describes and installs models.
#include "library/models.h"

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/standard_streams.h"
#include "base/text.h"
#include "cli/options.h"
#include "library/model.h"

namespace voxswap::cli {

namespace {

std::vector<std::string> labels_of(const library::InstalledModel& model) {
  std::vector<std::string> names;
  for (const auto& [name, value] : model.dataset.labels) names.push_back(name);
  return names;
}

void list(const std::vector<library::InstalledModel>& models, bool as_json) {
  if (as_json) {
    Json json = Json::array();
    for (const library::InstalledModel& model : models)
      json.push_back({{"name", model.name},
                      {"channels", model.dataset.modalities},
                      {"labels", labels_of(model)},
                      {"folder", model.folder.string()}});
    return print("{}\n", json.dump(2));
  }
  std::vector<std::vector<std::string>> rows{{"name", "channels", "labels", "folder"}};
  for (const library::InstalledModel& model : models)
    rows.push_back({model.name, join(model.dataset.modalities, ", "), join(labels_of(model), ", "),
                    model.folder.string()});
  print("{}", table(rows));
}

void describe(const std::vector<library::InstalledModel>& models, const std::string& name) {
  for (const library::InstalledModel& model : models)
    if (model.name == name) {
      const std::string readme = read_if_possible(model.folder / library::readme_file);
      return print("{}", readme.empty() ? name + ": no description\n" : printable(readme));
    }
  std::vector<std::string> names;
  for (const library::InstalledModel& model : models) names.push_back(model.name);
  const std::string meant = nearest(name, names);
  fail(Exit::usage, "{}: no such model{}. Installed: {}", name,
       meant.empty() ? "" : format(" (did you mean '{}'?)", meant),
       names.empty() ? "none" : join(names, ", "));
}

}  // namespace

Exit models_command(const Arguments& arguments) {
  CLI::App app("List the installed models, describe one, or install one.", "voxswap models");
  CommonOptions common;
  std::string name, file, install_as, own;
  app.add_option("NAME", name, "Model to describe");
  auto* const install = app.add_option("--install", file, "Install this file of `voxswap export --to model`");
  app.add_option("--name", install_as, "Name of the installed model (default: that of the file)")
      ->needs(install);
  app.add_option("--models", own, "Folder of the models (default: ~/.local/share/voxswap/models)");
  add_common(app, common, /*with_json=*/true);
  if (!parse(app, arguments, common)) return Exit::done;

  if (!file.empty()) {
    if (!name.empty()) fail(Exit::usage, "{}: --install takes no NAME. Choose one with --name NAME", name);
    print("{}\n", library::install_model(file, install_as, own).string());
    return Exit::done;
  }
  const std::vector<library::InstalledModel> models = library::installed_models(own);
  name.empty() ? list(models, common.json) : describe(models, name);
  return Exit::done;
}

}  // namespace voxswap::cli
