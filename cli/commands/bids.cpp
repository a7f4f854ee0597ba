// voxswap bids: a BIDS App (https://bids-apps.neuroimaging.io) that writes label maps of a BIDS data set as a
// derivative, and a table of their volumes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/outputs.h"
#include "base/standard_streams.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options.h"
#include "data/formats/image_io.h"
#include "voxswap/predict.h"

namespace voxswap::cli {

namespace {

constexpr const char* volumes_file = "group_volumes.tsv";

std::vector<fs::path> label_maps_below(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().filename().string().ends_with("_desc-voxswap_dseg.nii.gz"))
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

// Label names in the derivative's dseg.tsv.
std::map<int, std::string> names_in(const fs::path& folder) {
  std::map<int, std::string> names;
  for (const std::string& line : split(read_file(folder / "dseg.tsv"), '\n')) {
    const std::vector<std::string> cells = split(line, '\t');
    if (cells.size() < 2) continue;
    const auto value = parse_number<int>(cells[0]);
    if (value && *value != 0) names[*value] = cells[1];
  }
  return names;
}

// Writes one row per case and label.
void write_volumes(const fs::path& folder, const Outputs& outputs) {
  const std::vector<fs::path> files = label_maps_below(folder);
  if (files.empty())
    fail(Exit::bad_data, "{}: has no label maps. Run `voxswap bids` with participant first", folder.string());
  const std::map<int, std::string> names = names_in(folder);
  std::string table = "participant_id\tsession_id\tlabel\tvolume_mm3\n";
  for (const fs::path& file : files) {
    const data::LabelMap map = data::read_label_map(file);
    std::map<int, std::int64_t> voxels;
    for (const std::int16_t label : map.voxels)
      if (label != 0) ++voxels[label];
    const std::vector<std::string> words = split(file.filename().string(), '_');
    const std::string session = words[1].starts_with("ses-") ? words[1] : "n/a";
    const auto& spacing = map.geometry.spacing;
    for (const auto& [value, name] : names)
      table += format("{}\t{}\t{}\t{:.10g}\n", words[0], session, name,
                      static_cast<double>(voxels[value]) * spacing[0] * spacing[1] * spacing[2]);
  }
  outputs.write(folder / volumes_file, [&] { write_file(folder / volumes_file, table); });
}

}  // namespace

Exit bids_command(const Arguments& arguments) {
  CLI::App app(
      "Predict a BIDS data set as a BIDS App does: label maps per participant, volumes of the group.",
      "voxswap bids");
  CommonOptions common;
  std::string input, out, level;
  std::vector<std::string> runs;
  PredictOptions how;
  app.add_option("INPUT", input, "BIDS data set")->required();
  app.add_option("OUTPUT", out, "Folder for the derivative")->required();
  app.add_option("LEVEL", level, "participant: label maps; group: table of volumes")
      ->required()
      ->check(CLI::IsMember({"participant", "group"}));
  app.add_option("--run", runs, "Folder of a finished run; several are averaged (participant)");
  app.add_option("--participant-label,--participant_label", how.subjects,
                 "Predict only these participants, without sub-");
  app.add_flag("--tta", how.mirror, "Average over mirrored inputs (up to 8 times slower)");
  app.add_flag("--probabilities", how.probabilities, "Also write probabilities, one file per output");
  add_force(app, how.force);
  add_common(app, common);
  if (!parse(app, arguments, common)) return Exit::done;

  if (level == "group") {
    write_volumes(out, Outputs(how.force));
    print("{}\n", (fs::path(out) / volumes_file).string());
    return Exit::done;
  }
  if (runs.empty())
    fail(Exit::usage, "--run: the folder of a finished run is missing. Set it, e.g. --run runs/study");
  how.bids = true;
  predict(runs, input, out, how, {"data.layout=bids"});
  print("{}\n", out);
  return Exit::done;
}

}  // namespace voxswap::cli
