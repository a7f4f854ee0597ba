#include "data/cases/check_case.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/text.h"
#include "data/cases/case_rules.h"
#include "data/formats/header_text.h"
#include "data/formats/image_io.h"
#include "data/layouts/incomplete.h"
#include "data/volumes/orientation.h"
#include "data/volumes/transforms.h"

namespace voxswap::data {

namespace {

constexpr const char* error = "error";
constexpr const char* warning = "warning";

bool is_constant(const Image& image) {
  return std::all_of(image.voxels.begin(), image.voxels.end(),
                     [&](float value) { return value == image.voxels.front(); });
}

std::string hash_of(const Image& image) {
  return Hasher()
      .add(image.geometry.size.data(), sizeof image.geometry.size)
      .add(image.voxels.data(), image.voxels.size() * sizeof(float))
      .digest();
}

class CaseChecker {
 public:
  CaseChecker(const Dataset& dataset, const CaseFiles& files, const CheckOptions& options,
              std::vector<Problem>& problems)
      : dataset_(dataset), files_(files), options_(options), problems_(problems) {}

  CaseFacts run() {
    facts_.id = files_.id;
    facts_.elements.resize(files_.channels.size());
    facts_.contents.resize(files_.channels.size());
    for (std::size_t i = 0; i < files_.channels.size(); ++i) {
      if (const FileTrouble trouble = channel_trouble(dataset_, files_, i)) {
        note(error, trouble.what, trouble.fix);
      } else if (!files_.lacks(i)) {
        guarded([&] { check_channel(i); });
      }
    }
    if (!images_.empty()) check_foreground();
    const FileTrouble patient = other_patient(files_);
    note(warning, patient.what, patient.fix);
    if (const FileTrouble trouble = truth_trouble(files_)) {
      note(error, trouble.what, trouble.fix);
    } else if (!files_.truth.empty()) {
      guarded([&] { check_truth(); });
    }
    return std::move(facts_);
  }

 private:
  void note(const char* severity, const std::string& what, const std::string& fix) {
    if (!what.empty()) problems_.push_back({files_.id, severity, what, fix});
  }

  template <class Step>
  void guarded(Step step) {
    try {
      step();
    } catch (const Error& trouble) {
      if (trouble.exit() == Exit::failed) throw;  // a problem of the machine, not of the file
      if (trouble.exit() == Exit::does_not_fit) return no_memory(trouble.what());
      note(error, trouble.what(), "replace the file");
    } catch (const std::bad_alloc&) {
      no_memory(format("case {}: not enough memory to read it", files_.id));
    }
  }

  void no_memory(const std::string& what) {
    problems_.push_back({files_.id, error, what, "free some memory; the file itself may be intact", true});
  }

  void check_channel(std::size_t i) {
    const fs::path& path = files_.channels[i];
    const ImageHeader header = read_header(path);
    if (files_.components[i] >= 0) {
      const std::string too_many = other_volumes(path, header.volumes, dataset_);
      if (!too_many.empty() && path != volumes_path_)
        note(error, too_many, "correct dataset.json or the file");
      if (!too_many.empty()) {
        volumes_path_ = path;
        return;
      }
    }
    facts_.elements[i] = header.element;
    note_oddities(path, header);
    Image image = channel(i);
    const std::string nonfinite = nonfinite_voxels(path, image);
    note(error, nonfinite, "replace the file or remove the case");
    if (!facts_.grid) {
      facts_.grid = image.geometry;
      facts_.axes = axis_codes(image.geometry);
      note_spacing(path, image.geometry);
    }
    image = canonical(std::move(image));
    if (!check_grid(path, image.geometry) || !nonfinite.empty()) return;
    if (is_constant(image)) {
      note(warning, format("{}: all voxels have the value {:g}", path.string(), image.voxels.front()),
           "inspect the image: it contains no information");
    } else {
      facts_.contents[i] = hash_of(image);
    }
    const float around =
        options_.corner_background ? corner_value(image) : static_cast<float>(options_.background);
    if (!same_grid(image.geometry, grid_)) image = resample_onto(grid_, image, outside_value(image));
    backgrounds_.push_back(around);
    images_.push_back(std::move(image));
  }

  // A 4D file with several channels is decompressed once.
  Image channel(std::size_t i) {
    const fs::path& path = files_.channels[i];
    const int component = files_.components[i];
    if (component < 0 || std::count(files_.channels.begin(), files_.channels.end(), path) == 1)
      return read_image(path, component);
    if (volumes_path_ != path) {
      volumes_ = read_images(path);
      volumes_path_ = path;
    }
    if (component >= static_cast<int>(volumes_.size())) return read_image(path, component);  // throws
    return std::move(volumes_[static_cast<std::size_t>(component)]);
  }

  void note_oddities(const fs::path& path, const ImageHeader& header) {
    for (const std::string& oddity : header.oddities) {
      note(warning, format("{}: {}", path.string(), oddity),
           "open it together with the case's other files and check its position and orientation");
    }
  }

  void note_spacing(const fs::path& path, const Geometry& grid) {
    const auto [least, most] = std::minmax_element(grid.spacing.begin(), grid.spacing.end());
    const std::string sides =
        format("{:.3g}x{:.3g}x{:.3g} mm", grid.spacing[0], grid.spacing[1], grid.spacing[2]);
    if (*least < 0.05 || *most > 20) {
      note(warning, format("{}: voxel size {} is implausible for an MRI scan", path.string(), sides),
           "correct the spacing in the header");
    } else if (*most > 3.5 * *least) {
      note(warning, format("{}: anisotropic voxels of {} ({:.1f} : 1)", path.string(), sides, *most / *least),
           "expect lower accuracy along the long side of the voxels");
    }
  }

  // All grids are compared with the first one that could be read.
  bool check_grid(const fs::path& path, const Geometry& grid) {
    if (reference_.empty()) {
      reference_ = path;
      grid_ = grid;
    }
    const FileTrouble different = grid_trouble(path, grid, reference_, grid_);
    if (!different) return true;
    if (!dataset_.align) {
      note(error, different.what, different.fix);
      return false;
    }
    note(warning,
         format("{}: has a different grid ({}) and is resampled onto the grid of {}", path.string(),
                describe(grid), reference_.filename().string()),
         format("nothing, if intended: {} is true", key::data_align));
    return true;
  }

  void check_truth() {
    const ImageHeader header = read_header(files_.truth);
    note_oddities(files_.truth, header);
    LabelMap truth = read_label_map(files_.truth);
    if (header.element.starts_with("float") || header.element == "double") check_whole_numbers();
    note(error, unknown_labels(files_.truth, truth, dataset_),
         format("correct {} or the file", key::data_labels));
    note(error, unannotated_labels(files_, truth, dataset_),
         format("correct {} or the file", key::data_annotated));
    for (const std::int16_t value : truth.voxels) {
      if (value != 0) ++facts_.labels[value];
    }
    if (facts_.labels.empty()) {
      note(warning, format("{}: the ground truth contains no label", files_.truth.string()),
           "check that this case really has none");
    }
    truth = canonical(std::move(truth));
    if (!check_grid(files_.truth, truth.geometry)) return;
    if (!same_grid(truth.geometry, grid_)) truth = resample_onto(grid_, truth);
    check_overlap(truth);
  }

  // Labels are often stored as floating-point numbers, which is fine if they are whole numbers.
  void check_whole_numbers() {
    const Image stored = read_image(files_.truth);
    const auto odd = std::find_if(stored.voxels.begin(), stored.voxels.end(),
                                  [](float value) { return value != std::round(value); });
    if (odd != stored.voxels.end())
      note(warning, format("{}: non-integer labels are rounded, e.g. {:.6g}", files_.truth.string(), *odd),
           "check that it is a label map; if so, nothing needs to be done");
  }

  bool in_foreground(std::size_t voxel) const {
    for (std::size_t c = 0; c < images_.size(); ++c) {
      if (images_[c].voxels[voxel] != backgrounds_[c]) return true;
    }
    return false;
  }

  // A ground truth outside the head was flipped or shifted.
  void check_overlap(const LabelMap& truth) {
    if (images_.empty()) return;
    std::int64_t labelled = 0, outside = 0;
    for (std::size_t i = 0; i < truth.voxels.size(); ++i) {
      if (truth.voxels[i] == 0 || truth.voxels[i] == dataset_.ignore_label) continue;
      ++labelled;
      if (!in_foreground(i)) ++outside;
    }
    if (outside > labelled / 50) {
      note(warning,
           format("{}: every channel is background in {} of its {}", files_.truth.string(), outside,
                  counted(labelled, "labelled voxel")),
           "check whether the ground truth is flipped, shifted or belongs to another case");
    }
  }

  void check_foreground() {
    if (!has_foreground(images_, backgrounds_)) {
      note(error, format("case {}: all channels contain only background", files_.id),
           format("replace the case, or correct {}", key::preprocess_background));
      return;
    }
    const VoxelBox box = foreground_box(images_, backgrounds_);
    facts_.foreground = box.size;
    // Skull-stripped images that were normalised earlier have a constant other than 0 around the head.
    const Image& first = images_.front();
    const float corner = corner_value(first);
    if (box.size == grid_.size && corner != backgrounds_.front() && constant_corners(first)) {
      note(warning,
           format("{}: all its corners have the value {:g} instead of the background {:g}, so nothing would "
                  "be cropped",
                  reference_.string(), corner, backgrounds_.front()),
           format("set {}: corner", key::preprocess_background));
    }
  }

  const Dataset& dataset_;
  const CaseFiles& files_;
  const CheckOptions& options_;
  std::vector<Problem>& problems_;
  CaseFacts facts_;
  fs::path reference_, volumes_path_;
  std::vector<Image> volumes_;
  Geometry grid_;              // canonical
  std::vector<Image> images_;  // on that grid
  std::vector<float> backgrounds_;
};

}  // namespace

CaseFacts check_case(const Dataset& dataset, const CaseFiles& files, const CheckOptions& options,
                     std::vector<Problem>& problems) {
  return CaseChecker(dataset, files, options, problems).run();
}

}  // namespace voxswap::data
