// Phantoms as data sets on disk, in any of phantom_layouts.h's arrangements.
//
// phantom.json tells which files are ours. It is written first as unfinished and last as complete, so that a
// killed call is taken up again, a finished set is left alone, and nothing that somebody else put there is
// overwritten.
#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/text.h"
#include "data/phantoms/phantom.h"

namespace voxswap::data {

namespace {

std::string manifest_text(const PhantomOptions& options, bool complete) {
  // A new generation of phantoms counts as other options.
  const Json json = {{"phantoms", phantom_generation}, {"layout", options.layout}, {"cases", options.cases},
                     {"size", options.size},           {"seed", options.seed},     {"complete", complete}};
  return json.dump(2) + "\n";
}

bool all_there(const PhantomOptions& options, const PhantomLayout& layout) {
  for (int i = 0; i < options.cases; ++i) {
    for (const fs::path& file : layout.files(options, i)) {
      if (!fs::exists(options.out / file)) return false;
    }
  }
  return true;
}

// Removes exactly the files that an earlier call with other options wrote here.
void remove_earlier(const fs::path& root, const fs::path& manifest) {
  const Json json = Json::parse(read_file(manifest), nullptr, false);
  PhantomOptions earlier;
  try {
    earlier.layout = json.at("layout").get<std::string>();
    earlier.cases = json.at("cases").get<int>();
    earlier.size = json.at("size").get<Size3>();
  } catch (const Json::exception&) {
    fail(Exit::bad_data, "{}: was not written by voxswap phantom. Choose another --out or remove it",
         manifest.string());
  }
  const PhantomLayout& layout = phantom_layout(earlier.layout);
  for (int i = 0; i < earlier.cases; ++i) {
    for (const fs::path& file : layout.files(earlier, i)) {
      error_code ignored;
      fs::remove(root / file, ignored);
      for (fs::path folder = file.parent_path(); !folder.empty(); folder = folder.parent_path())
        fs::remove(root / folder, ignored);  // only when it is empty
    }
  }
  if (layout.description) fs::remove(root / "dataset.json");
}

void refuse_to_overwrite(const PhantomOptions& options, const PhantomLayout& layout) {
  std::vector<fs::path> ours;
  for (int i = 0; i < options.cases; ++i) {
    for (const fs::path& file : layout.files(options, i)) ours.push_back(file);
  }
  if (layout.description) ours.emplace_back("dataset.json");
  for (const fs::path& file : ours) {
    if (fs::exists(options.out / file)) {
      fail(Exit::usage, "{}: exists already and is not a phantom. Choose another --out",
           (options.out / file).string());
    }
  }
}

void write_cases(const PhantomOptions& options, const PhantomLayout& layout) {
  Progress progress("phantoms", "cases", options.cases);
  std::mutex mutex;
  // Each thread holds one subject in memory; more than four gain little over the disk.
  const unsigned threads = std::min(usable_core_count(), 4U);
  parallel_for(
      static_cast<std::size_t>(options.cases),
      [&](std::size_t i) {
        throw_if_interrupted();
        const int index = static_cast<int>(i);
        layout.write_case(options.out, index, phantom(options.seed, index, options.size));
        const std::lock_guard lock(mutex);
        progress.advance();
      },
      threads);
}

}  // namespace

bool write_phantoms(const PhantomOptions& options) {
  const PhantomLayout& layout = phantom_layout(options.layout);
  check_phantom_size(options.size);
  if (options.cases < 1) fail(Exit::usage, "--cases {}: expected at least 1", options.cases);
  const fs::path manifest = options.out / "phantom.json";
  if (fs::exists(manifest)) {
    const std::string present = read_file(manifest);
    if (present == manifest_text(options, true) && all_there(options, layout)) {
      log::info("{}: keeping {}, which were made with the same options", options.out.string(),
                counted(options.cases, "phantom"));
      return false;
    }
    remove_earlier(options.out, manifest);
  } else {
    refuse_to_overwrite(options, layout);
  }
  make_writable_directory(options.out);
  write_file(manifest, manifest_text(options, false));
  write_cases(options, layout);
  if (layout.description) write_file(options.out / "dataset.json", layout.description(options));
  write_file(manifest, manifest_text(options, true));
  return true;
}

}  // namespace voxswap::data
