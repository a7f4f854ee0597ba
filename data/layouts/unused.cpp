#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "data/formats/dicom.h"
#include "data/formats/formats.h"
#include "data/formats/placeholders.h"
#include "data/layouts/folders.h"
#include "data/layouts/incomplete.h"

namespace voxswap::data {

namespace {

constexpr const char* error = "error";
constexpr const char* warning = "warning";
constexpr const char* note = "note";
constexpr int most_levels = 6;  // of folders below the root; links may form cycles

bool is_other_format(const fs::path& path) {
  return has_extension(
      path, {".hdr", ".img", ".mgz", ".mgh", ".mnc", ".dcm", ".ima", ".png", ".jpg", ".jpeg", ".tif", ".tiff",
             ".bmp", ".npy", ".npz", ".h5", ".nii.bz2", ".nii.xz", ".nii.zst"});
}

// Cases of these layouts have no folders of their own, even if there is only one case.
bool has_files_side_by_side(const Dataset& dataset) {
  return dataset.layout == "msd" || dataset.layout == "nnunet";
}

class Walk {
 public:
  explicit Walk(const Dataset& dataset) : dataset_(dataset) {
    for (const CaseFiles& files : dataset.cases) {
      for (const fs::path& channel : files.channels) known_.emplace(plain(channel).string(), nullptr);
      if (!files.truth.empty()) known_.emplace(plain(files.truth).string(), nullptr);
      if (!has_files_side_by_side(dataset)) ++cases_in_[folder_of(files).string()];
    }
    for (const Unused& one : dataset.left_out) known_.emplace(plain(one.path).string(), &one);
  }

  std::vector<Unused> run() {
    look_into(plain(dataset_.root), 0);
    for (const CaseFiles& files : dataset_.cases) {
      if (!files.labelled())
        found_.push_back(
            {note, files.channels.front(), "an image without ground truth, used for prediction only"});
    }
    return std::move(found_);
  }

 private:
  void tell(const char* severity, const fs::path& path, const std::string& why) {
    found_.push_back({severity, path, why});
  }

  // Whether any file below the folder is used or, if `left_out`, was listed as skipped by the layout.
  bool any_below(const fs::path& folder, bool left_out) const {
    const std::string start = folder.string() + "/";
    for (auto file = known_.lower_bound(start); file != known_.end() && file->first.starts_with(start);
         ++file)
      if (left_out || file->second == nullptr) return true;
    return false;
  }

  void look_into(const fs::path& folder, int depth) {
    for (const std::string& name : entries(folder)) {
      const fs::path path = folder / name;
      if (const auto known = known_.find(path.string()); known != known_.end()) {
        if (known->second != nullptr) found_.push_back(*known->second);
        continue;
      }
      error_code ignored;
      if (fs::is_directory(path, ignored)) {
        look_at_folder(path, depth);
      } else {
        look_at_file(path);
      }
    }
  }

  void look_at_folder(const fs::path& path, int depth) {
    if (any_below(path, /*left_out=*/true)) {
      if (depth < most_levels) look_into(path, depth + 1);
      return;
    }
    if (entries(path).empty()) return tell(warning, path, "an empty folder");
    if (is_dicom_folder(path)) return tell(warning, path, "a DICOM series that belongs to no case");
    if (!holds_image(path, depth)) return tell(note, path, "a folder without images");
    if (is_of_a_case(path)) return tell(note, path, "a folder with images that its case does not use");
    // Explicit patterns define what a case is; in other layouts the name may be misspelt.
    tell(dataset_.layout == "files" ? warning : error, path,
         format("a folder with images, none of which is named as layout {} requires", dataset_.layout));
  }

  // The common folder of all images of a case.
  static fs::path folder_of(const CaseFiles& files) {
    fs::path common = plain(files.channels.front()).parent_path();
    for (const fs::path& channel : files.channels)
      while (!common.empty() && !plain(channel).string().starts_with(common.string() + "/"))
        common = common.parent_path();
    return common;
  }

  // Whether the folder is inside the folder of one case.
  bool is_of_a_case(const fs::path& folder) const {
    const fs::path root = plain(dataset_.root);
    for (fs::path above = folder.parent_path(); !above.empty(); above = above.parent_path()) {
      if (above == root && dataset_.cases.size() > 1) return false;
      if (const auto found = cases_in_.find(above.string()); found != cases_in_.end() && found->second == 1)
        return true;
      if (above == root) return false;
    }
    return false;
  }

  bool holds_image(const fs::path& folder, int depth) const {
    for (const std::string& name : entries(folder)) {
      const fs::path path = folder / name;
      error_code ignored;
      if (fs::is_directory(path, ignored)) {
        if (depth < most_levels && (is_dicom_folder(path) || holds_image(path, depth + 1))) return true;
      } else if (!image_stem(name).empty() || is_other_format(path)) {
        return true;
      }
    }
    return false;
  }

  void look_at_file(const fs::path& path) {
    error_code ignored;
    const bool image = !image_stem(path.filename().string()).empty();
    if (image && !placeholder_at(path).empty()) return tell(warning, path, placeholder_at(path));
    if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored))
      return tell(warning, path, "a pipe or a device");
    if (image) {
      const std::string folder = path.parent_path().filename().string();
      if (folder.starts_with("labels")) return tell(warning, path, "a label map without an image");
      if (folder.starts_with("images"))
        return tell(error, path,
                    format("an image that layout {} does not assign to a case", dataset_.layout));
      return tell(any_in_use(path.parent_path()) ? note : warning, path,
                  "neither a channel nor the ground truth of a case");
    }
    if (is_other_format(path) && !belongs_to_used(path))
      tell(note, path, "an image in a format that voxswap does not read");
  }

  bool any_in_use(const fs::path& folder) const {
    return folder != plain(dataset_.root) && any_below(folder, /*left_out=*/false);
  }

  // The voxels of x.nhdr may be in x.img.
  bool belongs_to_used(const fs::path& path) const {
    const auto headers = image_extensions();
    return std::any_of(headers.begin(), headers.end(), [&](const ImageExtension& header) {
      const auto known = known_.find(fs::path(path).replace_extension(std::string(header.text)).string());
      return header.detached && known != known_.end() && known->second == nullptr;
    });
  }

  const Dataset& dataset_;
  // Files by path: skipped ones, or nullptr for used ones. The key is not fs::path: its comparison allocates
  // although it is noexcept, so that an allocation failure would terminate the program.
  std::map<std::string, const Unused*> known_;
  std::map<std::string, std::size_t> cases_in_;  // number of cases with all images in this folder
  std::vector<Unused> found_;
};

}  // namespace

std::vector<Unused> unused_in(const Dataset& dataset) {
  return Walk(dataset).run();
}

std::vector<UnusedGroup> grouped(const std::vector<Unused>& unused, const fs::path& root) {
  std::vector<UnusedGroup> groups;
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  for (const Unused& one : unused) {
    const auto [known, fresh] = index.try_emplace({one.severity, one.why}, groups.size());
    if (fresh) groups.push_back({one.severity, one.path.lexically_relative(root).string(), one.why, 0});
    ++groups[known->second].count;
  }
  for (UnusedGroup& group : groups) {
    if (group.count > 1) group.what += format(" and {} other{}", group.count - 1, group.count > 2 ? "s" : "");
  }
  std::stable_sort(groups.begin(), groups.end(), [](const UnusedGroup& a, const UnusedGroup& b) {
    const auto rank = [](const UnusedGroup& group) {
      return group.severity == error ? 0 : group.severity == warning ? 1 : 2;
    };
    return rank(a) < rank(b);
  });
  return groups;
}

}  // namespace voxswap::data
