// Phantoms as data sets on disk, in the folders and with the names of BraTS 2021 or of the Decathlon's brain
// tumours.
//
// phantom.json tells which files are ours. It is written first as unfinished and last as complete, so that a
// killed call is taken up again, a finished set is left alone, and nothing that somebody else put there is
// overwritten.
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/progress.h"
#include "data/image_io.h"
#include "data/phantom.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

constexpr std::array<const char*, 4> modalities = {"t1", "t1ce", "t2",
                                                   "flair"};  // the order of phantom()'s channels

// A way to lay a case out on disk.
struct Writer {
  const char* layout;
  std::vector<fs::path> (*files)(int index);  // relative to the data set's root
  void (*write_case)(const fs::path& root, int index, const Volume& volume);
  void (*write_description)(const fs::path& root, const PhantomOptions& options);  // null: none needed
};

std::vector<fs::path> brats_files(int index) {
  const std::string id = format("BraTS2021_{:05}", index);
  std::vector<fs::path> files;
  for (const char* modality : modalities)
    files.push_back(fs::path(id) / format("{}_{}.nii.gz", id, modality));
  files.push_back(fs::path(id) / format("{}_seg.nii.gz", id));
  return files;
}

void write_brats_case(const fs::path& root, int index, const Volume& volume) {
  const std::vector<fs::path> files = brats_files(index);
  fs::create_directories(root / files[0].parent_path());
  for (std::size_t m = 0; m < modalities.size(); ++m) write_image(root / files[m], volume.channels[m]);
  write_label_map(root / files.back(), volume.truth);
}

// The Decathlon's Task01_BrainTumour counts its channels and labels differently.
constexpr std::array<std::size_t, 4> msd_channels = {3, 0, 1, 2};  // FLAIR, T1w, t1gd, T2w
constexpr std::array<std::int16_t, 5> msd_labels = {0, 2, 1, 0,
                                                    3};  // 1 necrosis -> 2, 2 oedema -> 1, 4 enhancing -> 3

std::vector<fs::path> msd_files(int index) {
  const std::string name = format("BRATS_{:03}.nii.gz", index + 1);
  return {fs::path("imagesTr") / name, fs::path("labelsTr") / name};
}

void write_msd_case(const fs::path& root, int index, const Volume& volume) {
  const std::vector<fs::path> files = msd_files(index);
  for (const fs::path& file : files) fs::create_directories(root / file.parent_path());
  std::vector<Image> channels;
  for (std::size_t source : msd_channels) channels.push_back(volume.channels[source]);
  write_images_4d(root / files[0], channels);
  LabelMap truth = volume.truth;
  for (std::int16_t& label : truth.voxels) label = msd_labels[static_cast<std::size_t>(label)];
  write_label_map(root / files[1], truth);
}

void write_msd_description(const fs::path& root, const PhantomOptions& options) {
  nlohmann::ordered_json json = {
      {"name", "phantoms"},
      {"description",
       "Synthetic brain tumours laid out as Task01_BrainTumour of the Medical Segmentation Decathlon"},
      {"tensorImageSize", "4D"},
      {"modality", {{"0", "FLAIR"}, {"1", "T1w"}, {"2", "t1gd"}, {"3", "T2w"}}},
      {"labels",
       {{"0", "background"}, {"1", "edema"}, {"2", "non-enhancing tumor"}, {"3", "enhancing tumour"}}},
      {"numTraining", options.cases},
      {"numTest", 0},
      {"training", nlohmann::ordered_json::array()},
      {"test", nlohmann::ordered_json::array()}};
  for (int i = 0; i < options.cases; ++i) {
    const std::vector<fs::path> files = msd_files(i);
    json["training"].push_back({{"image", "./" + files[0].string()}, {"label", "./" + files[1].string()}});
  }
  write_file(root / "dataset.json", json.dump(2) + "\n");
}

const std::array<Writer, 2> writers = {{{"brats2021", brats_files, write_brats_case, nullptr},
                                        {"msd", msd_files, write_msd_case, write_msd_description}}};

const Writer& writer_for(const std::string& layout) {
  std::vector<std::string> names;
  for (const Writer& writer : writers) {
    if (layout == writer.layout) return writer;
    names.emplace_back(writer.layout);
  }
  fail(Exit::usage, "phantoms cannot be written in the layout '{}': expected one of {}", layout,
       join(names, ", "));
}

std::string manifest_text(const PhantomOptions& options, bool complete) {
  // A new generation of phantoms counts as other options.
  const nlohmann::ordered_json json = {{"phantoms", phantom_generation}, {"layout", options.layout},
                                       {"cases", options.cases},         {"size", options.size},
                                       {"seed", options.seed},           {"complete", complete}};
  return json.dump(2) + "\n";
}

bool all_there(const PhantomOptions& options, const Writer& writer) {
  for (int i = 0; i < options.cases; ++i) {
    for (const fs::path& file : writer.files(i)) {
      if (!fs::exists(options.out / file)) return false;
    }
  }
  return true;
}

// Removes exactly the files that an earlier call with other options wrote here.
void remove_earlier(const fs::path& root, const fs::path& manifest) {
  const nlohmann::json json = nlohmann::json::parse(read_file(manifest), nullptr, false);
  if (!json.is_object() || !json.contains("layout") || !json["layout"].is_string() ||
      !json.contains("cases") || !json["cases"].is_number_integer()) {
    fail(Exit::bad_data, "{}: not written by voxswap phantom; choose another --out or remove it",
         manifest.string());
  }
  const Writer& writer = writer_for(json["layout"].get<std::string>());
  for (int i = 0; i < json["cases"].get<int>(); ++i) {
    for (const fs::path& file : writer.files(i)) {
      std::error_code ignored;
      fs::remove(root / file, ignored);
      fs::remove((root / file).parent_path(), ignored);  // only when it is empty
    }
  }
  if (writer.write_description != nullptr) fs::remove(root / "dataset.json");
}

void refuse_to_overwrite(const PhantomOptions& options, const Writer& writer) {
  std::vector<fs::path> ours;
  for (int i = 0; i < options.cases; ++i) {
    for (const fs::path& file : writer.files(i)) ours.push_back(file);
  }
  if (writer.write_description != nullptr) ours.emplace_back("dataset.json");
  for (const fs::path& file : ours) {
    if (fs::exists(options.out / file)) {
      fail(Exit::usage, "{} is there already and no phantom: choose another --out",
           (options.out / file).string());
    }
  }
}

void write_cases(const PhantomOptions& options, const Writer& writer) {
  Progress progress("phantoms", "cases", options.cases);
  std::atomic<int> next = 0;
  std::mutex mutex;
  std::exception_ptr trouble;
  const auto work = [&] {
    try {
      for (int index = next++; index < options.cases; index = next++) {
        throw_if_interrupted();
        writer.write_case(options.out, index, phantom(options.seed, index, options.size));
        const std::lock_guard lock(mutex);
        progress.advance();
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!trouble) trouble = std::current_exception();
      next = options.cases;
    }
  };
  // Each thread holds one subject in memory; more than four gain little over the disk.
  const int count =
      std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, std::min(4, options.cases));
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  if (trouble) std::rethrow_exception(trouble);
}

}  // namespace

bool write_phantoms(const PhantomOptions& options) {
  const Writer& writer = writer_for(options.layout);
  check_phantom_size(options.size);
  if (options.cases < 1) fail(Exit::usage, "{} phantoms: expected at least 1 case", options.cases);
  const fs::path manifest = options.out / "phantom.json";
  if (fs::exists(manifest)) {
    const std::string present = read_file(manifest);
    if (present == manifest_text(options, true) && all_there(options, writer)) {
      log::info("{}: {} phantoms of these options are there already", options.out.string(), options.cases);
      return false;
    }
    remove_earlier(options.out, manifest);
  } else {
    refuse_to_overwrite(options, writer);
  }
  make_writable_directory(options.out);
  write_file(manifest, manifest_text(options, false));
  write_cases(options, writer);
  if (writer.write_description != nullptr) writer.write_description(options.out, options);
  write_file(manifest, manifest_text(options, true));
  return true;
}

}  // namespace voxswap
