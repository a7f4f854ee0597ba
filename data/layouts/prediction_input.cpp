#include "data/layouts/prediction_input.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/text.h"
#include "data/formats/dicom.h"
#include "data/formats/formats.h"
#include "data/formats/image_io.h"
#include "data/layouts/folders.h"
#include "data/layouts/incomplete.h"
#include "data/layouts/layouts.h"
#include "data/layouts/named_files.h"
#include "data/layouts/open_dataset.h"

namespace voxswap::data {

namespace {

// Patterns for the training set's files do not apply to other layouts.
DatasetOptions for_layout(DatasetOptions options, const std::string& layout) {
  options.layout = layout;
  options.for_prediction = true;
  const bool of_cases = std::any_of(options.files.begin(), options.files.end(), [](const auto& one) {
    return one.second.find("{case}") != std::string::npos;
  });
  if (layout != "auto" && layout != (of_cases ? "files" : "dicom")) options.files.clear();
  return options;
}

std::optional<Dataset> listed(const DatasetOptions& options, const std::string& layout) {
  try {
    return list_dataset(for_layout(options, layout));
  } catch (const NotUtf8&) {
    throw;
  } catch (const Error&) {
    return std::nullopt;  // not this layout; reported if no other layout fits
  }
}

bool is_among_parents(const CaseFiles& files, const fs::path& folder) {
  error_code ignored;
  const fs::path& channel = files.first_channel();
  return fs::equivalent(channel.parent_path(), folder, ignored) ||
         fs::equivalent(channel.parent_path().parent_path(), folder, ignored);  // DICOM series: two up
}

// Recognised by name: CASE_seg.nii.gz.
bool is_label_map(const fs::path& file) {
  const std::vector<std::string> words = split(snake_case(image_stem(file.filename().string())), '_');
  return is_among(words.back(), {"seg", "truth", "label", "labels", "mask", "dseg"});
}

// Collects the cases that layouts find in a folder. A file belongs to the first case found with it.
class Collection {
 public:
  Collection(const Dataset& trained, const DatasetOptions& wanted) : wanted_(wanted) {
    all_.root = wanted.root;
    all_.modalities = trained.modalities;
    all_.all_modalities = trained.all_modalities;
    all_.images = trained.images;
    all_.classes = trained.classes;
    all_.align = wanted.align;
  }

  void add(Dataset found) {
    if (found.images != all_.images) return;
    std::size_t added = 0;
    for (CaseFiles& files : found.cases) added += add_case(std::move(files)) ? 1 : 0;
    if (added == 0) return;
    layouts_.push_back(found.layout);
    all_.guesses.insert(all_.guesses.end(), found.guesses.begin(), found.guesses.end());
    all_.left_out.insert(all_.left_out.end(), found.left_out.begin(), found.left_out.end());
  }

  // Adds cases of all layouts that the folder matches, starting with the layout of the options.
  void add_layouts() {
    std::vector<std::string> names{wanted_.layout};
    for (const Layout& layout : layouts())
      if (layout.name != wanted_.layout && layout.recognise(for_layout(wanted_, layout.name)))
        names.emplace_back(layout.name);
    for (const std::string& name : names) {
      const bool bare = name == "msd" && !recognise_msd(wanted_);
      if (name == "auto" || bare) continue;
      if (auto found = listed(wanted_, name)) add(std::move(*found));
    }
  }

  // Adds images named by channel, in folders where no layout found a case.
  void add_named_files() {
    Dataset named;
    named.layout = "files";
    named.cases = list_named_files(wanted_.root, wanted_.modalities, [&](const fs::path& folder) {
      return folders_.contains(folder.string()) ||
             std::any_of(all_.left_out.begin(), all_.left_out.end(),
                         [&](const Unused& one) { return one.path == folder; });
    });
    add(std::move(named));
  }

  // Adds files that contain all channels, under any name. If other cases were found, a file is added
  // only if it certainly contains all channels.
  void add_bare_files() {
    std::optional<Dataset> found = listed(wanted_, all_.images ? "masks" : "msd");
    if (!found) return;
    if (!all_.cases.empty())
      std::erase_if(found->cases, [&](const CaseFiles& files) { return !holds_all_channels(files); });
    add(std::move(*found));
  }

  // Adds the case of a data set to which the folder belongs.
  void add_from_above() {
    DatasetOptions above = wanted_;
    above.root = wanted_.root.parent_path();
    for (const std::string& name : {wanted_.layout, std::string("auto")}) {
      std::optional<Dataset> found;
      try {
        found = listed(above, name);
      } catch (const NotUtf8&) {  // names outside the folder do not matter here
      }
      if (!found) continue;
      std::erase_if(found->cases,
                    [&](const CaseFiles& files) { return !is_among_parents(files, wanted_.root); });
      found->left_out.clear();
      add(std::move(*found));
      if (!all_.cases.empty()) return;
    }
  }

  bool empty() const { return all_.cases.empty(); }

  Dataset finish() {
    all_.layout = join(layouts_, " or ");
    extend_names();
    std::sort(all_.cases.begin(), all_.cases.end(),
              [](const CaseFiles& a, const CaseFiles& b) { return a.id < b.id; });
    if (wanted_.missing_modalities) mark_missing(all_);
    check_names(all_);
    std::vector<Unused> unused = unused_in(all_);
    std::erase_if(unused, [](const Unused& one) { return one.severity == "note" || is_label_map(one.path); });
    all_.left_out = std::move(unused);
    return std::move(all_);
  }

 private:
  bool holds_all_channels(const CaseFiles& files) const {
    if (all_.images) return true;
    const fs::path& file = files.first_channel();
    if (all_.modalities.size() == 1) return !folders_.contains(file.parent_path().string());
    try {
      return read_header(file).volumes == static_cast<std::int64_t>(all_.all_modalities.size());
    } catch (const Error&) {
      return false;
    }
  }

  // Label maps are named after cases, so names that several cases have are extended by their folders.
  void extend_names() {
    std::map<std::string, int> counts;
    for (const CaseFiles& files : all_.cases) ++counts[files.id];
    for (CaseFiles& files : all_.cases) {
      std::string folder = files.first_channel().parent_path().lexically_relative(wanted_.root).string();
      if (counts[files.id] == 1 || folder == ".") continue;
      std::replace(folder.begin(), folder.end(), '/', '_');
      files.id = folder != files.id && ends_with(folder, files.id) ? folder : folder + "_" + files.id;
    }
  }

  bool add_case(CaseFiles files) {
    std::set<std::string> own;
    error_code ignored;
    for (const fs::path& path : files.channels)
      if (fs::exists(path, ignored)) own.insert(plain(fs::absolute(path)).string());
    if (std::any_of(own.begin(), own.end(), [&](const auto& path) { return used_.contains(path); }))
      return false;
    for (const std::string& path : own) folders_.insert(fs::path(path).parent_path().string());
    if (!files.truth.empty()) own.insert(plain(fs::absolute(files.truth)).string());
    used_.insert(own.begin(), own.end());
    all_.cases.push_back(std::move(files));
    return true;
  }

  const DatasetOptions& wanted_;
  Dataset all_;
  std::vector<std::string> layouts_;
  std::set<std::string> used_, folders_;  // used files, folders of images
};

// One file: its volumes are the channels, in the order of the training set's files.
Dataset single_case(const Dataset& trained, const fs::path& input) {
  Dataset single = trained;
  single.left_out.clear();
  CaseFiles files;
  const std::string file_name = input.filename().string();
  files.id = trained.images ? raster_stem(file_name) : image_stem(file_name);
  if (files.id.empty()) files.id = folder_name(input);
  const auto& all = trained.all_modalities;
  for (const std::string& name : trained.modalities) {
    const auto at = std::find(all.begin(), all.end(), name);
    files.channels.push_back(input);
    files.components.push_back(all.size() > 1 || trained.images ? static_cast<int>(at - all.begin()) : -1);
  }
  single.cases = {files};
  check_names(single);
  return single;
}

}  // namespace

Dataset open_for_prediction(const Dataset& trained, const DatasetOptions& options, const fs::path& input) {
  error_code ignored;
  if (!fs::exists(input, ignored)) fail(Exit::bad_data, "{}: no such file or folder", input.string());
  if (!fs::is_directory(input, ignored) || is_dicom_folder(input)) return single_case(trained, input);

  DatasetOptions wanted = options;
  wanted.root = plain(fs::absolute(input));
  wanted.annotated.clear();  // lists training cases only
  // The channels may have other names here, but the same order.
  if (wanted.modalities.empty()) wanted.modalities = trained.modalities;
  if (wanted.modalities.size() != trained.modalities.size())
    fail(Exit::usage, "{}: {}, but the network has {} ({})", key::data_modalities,
         counted(wanted.modalities.size(), "name"), counted(trained.modalities.size(), "channel"),
         join(trained.modalities, ", "));
  wanted.known_modalities = trained.all_modalities;
  wanted.labels = trained.labels;
  wanted.regions = trained.regions;
  Collection found(trained, wanted);
  found.add_layouts();
  found.add_named_files();
  if (found.empty()) found.add_from_above();
  found.add_bare_files();
  if (found.empty())
    fail(Exit::bad_data, "{}: no case with {} found: {}. {}", input.string(),
         counted(wanted.modalities.size(), "channel"), join(wanted.modalities, ", "), what_is_in(wanted));
  Dataset dataset = found.finish();
  log_guesses(dataset);
  dataset.labels = trained.labels;
  dataset.regions = trained.regions;
  for (CaseFiles& files : dataset.cases) {
    files.truth.clear();
    files.label = 0;
  }
  return dataset;
}

}  // namespace voxswap::data
