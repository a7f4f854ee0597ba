#include "data/check.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/error.h"
#include "data/case_checks.h"
#include "data/image_io.h"
#include "data/layouts/layouts.h"
#include "data/transforms.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

constexpr const char* error = "error";
constexpr const char* warning = "warning";

struct CaseReport {
  std::vector<Problem> problems;
  std::optional<Size3> foreground;
  std::set<int> labels;  // that occur in the truth
};

// Looks at one case file by file; each finding is noted and the rest still looked at.
class CaseChecker {
 public:
  CaseChecker(const Dataset& dataset, const CaseFiles& files, bool corner_background, double background)
      : dataset_(dataset), files_(files), corner_background_(corner_background), background_(background) {}

  CaseReport run() {
    for (std::size_t i = 0; i < files_.channels.size(); ++i) check_channel(i);
    check_truth();
    if (!images_.empty()) report_.foreground = foreground();
    return std::move(report_);
  }

 private:
  void note(const char* severity, const std::string& what, const std::string& fix) {
    if (!what.empty()) report_.problems.push_back({files_.id, severity, what, fix});
  }

  void check_channel(std::size_t i) {
    const fs::path& path = files_.channels[i];
    if (const std::string missing = missing_channel(dataset_, files_, i); !missing.empty()) {
      return note(error, missing,
                  "add the file, move the case away, or leave the channel out of data.modalities");
    }
    Image image;
    try {
      image = read_image(path, files_.components[i]);
    } catch (const Error& trouble) {
      return note(error, trouble.what(), "replace the file");
    }
    const std::string nonfinite = nonfinite_voxels(path, image);
    note(error, nonfinite, "replace the file or move the case away");
    if (!check_grid(path, image.geometry) || !nonfinite.empty()) return;
    const auto [low, high] = std::minmax_element(image.voxels.begin(), image.voxels.end());
    if (*low == *high) {
      note(warning, format("{}: every voxel is {:g}", path.string(), *low),
           "look at the image; it shows nothing");
    }
    backgrounds_.push_back(corner_background_ ? corner_value(image) : static_cast<float>(background_));
    images_.push_back(std::move(image));
  }

  // The first grid that could be read is the one that the others are held against.
  bool check_grid(const fs::path& path, const Geometry& grid) {
    if (reference_.empty()) {
      reference_ = path;
      grid_ = grid;
    }
    const std::string different = different_grids(path, grid, reference_, grid_);
    note(error, different, "resample the channels of the case onto one grid");
    return different.empty();
  }

  void check_truth() {
    if (files_.truth.empty()) return;
    try {
      const LabelMap truth = read_label_map(files_.truth);
      check_grid(files_.truth, truth.geometry);
      note(error, unknown_labels(files_.truth, truth, dataset_.labels), "correct data.labels or the file");
      for (const std::int16_t value : truth.voxels) {
        if (value != 0 && (report_.labels.empty() || value != last_)) report_.labels.insert(last_ = value);
      }
      if (report_.labels.empty()) {
        note(warning, format("{}: the truth holds no label at all", files_.truth.string()),
             "make sure that this is meant");
      }
    } catch (const Error& trouble) {
      note(error, trouble.what(), "replace the file");
    }
  }

  // Skull-stripped images that were normalised before have a constant other than 0 around the head.
  Size3 foreground() {
    const Box box = foreground_box(images_, backgrounds_);
    const Image& first = images_.front();
    const float corner = corner_value(first);
    if (box.size == grid_.size && corner != backgrounds_.front() && constant_corners(first)) {
      note(warning,
           format("{}: all its corners are {:g}, not the background {:g}: nothing would be cropped away",
                  reference_.string(), corner, backgrounds_.front()),
           "set preprocess.background: corner");
    }
    return box.size;
  }

  static bool constant_corners(const Image& image) {
    const Size3& size = image.geometry.size;
    for (int corner = 1; corner < 8; ++corner) {
      const float value =
          image.at(corner & 1 ? size[0] - 1 : 0, corner & 2 ? size[1] - 1 : 0, corner & 4 ? size[2] - 1 : 0);
      if (value != corner_value(image)) return false;
    }
    return true;
  }

  const Dataset& dataset_;
  const CaseFiles& files_;
  bool corner_background_;
  double background_;
  CaseReport report_;
  fs::path reference_;
  Geometry grid_;
  std::vector<Image> images_;
  std::vector<float> backgrounds_;
  int last_ = 0;
};

// Every case, shared out between a few threads; the results stay in the order of the cases.
std::vector<CaseReport> check_cases(const Dataset& dataset, bool corner_background, double background) {
  std::vector<CaseReport> reports(dataset.cases.size());
  std::atomic<std::size_t> next = 0;
  std::mutex guard;
  std::exception_ptr trouble;
  const auto work = [&] {
    try {
      for (std::size_t i; (i = next++) < reports.size();) {
        reports[i] = CaseChecker(dataset, dataset.cases[i], corner_background, background).run();
      }
    } catch (...) {
      const std::lock_guard lock(guard);
      trouble = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  const unsigned count = std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
  for (unsigned i = 0; i < count; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  if (trouble) std::rethrow_exception(trouble);
  return reports;
}

// What only shows over all cases.
void check_whole(CheckReport& report, const std::vector<CaseReport>& reports) {
  std::set<int> occurring;
  for (const CaseReport& one : reports) occurring.insert(one.labels.begin(), one.labels.end());
  const auto without = std::count_if(report.dataset.cases.begin(), report.dataset.cases.end(),
                                     [](const CaseFiles& files) { return files.truth.empty(); });
  if (without > 0) {
    const auto first = std::find_if(report.dataset.cases.begin(), report.dataset.cases.end(),
                                    [](const CaseFiles& files) { return files.truth.empty(); });
    report.problems.push_back({"", warning,
                               format("{} of {} cases have no truth, the first is {}", without,
                                      report.dataset.cases.size(), first->id),
                               "they can be predicted, but neither trained on nor scored"});
  }
  if (occurring.empty()) return;
  for (const auto& [name, value] : report.dataset.labels) {
    if (occurring.contains(value)) continue;
    report.problems.push_back({"", warning, format("the label {} ({}) occurs in no case", value, name),
                               "check that data.labels fits this data set"});
  }
}

}  // namespace

CheckReport check_dataset(const DatasetOptions& options, bool corner_background, double background) {
  CheckReport report;
  report.dataset = list_dataset(options);
  const std::vector<CaseReport> reports = check_cases(report.dataset, corner_background, background);
  check_whole(report, reports);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    report.problems.insert(report.problems.end(), reports[i].problems.begin(), reports[i].problems.end());
    if (reports[i].foreground)
      report.foreground.emplace_back(report.dataset.cases[i].id, *reports[i].foreground);
  }
  return report;
}

}  // namespace voxswap
