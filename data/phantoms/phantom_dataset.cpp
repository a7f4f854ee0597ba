// Phantoms as data sets on disk, in any of the arrangements of phantom_layouts.h.
//
// phantom.json stores the options. It is written first with complete: false and last with true, so that an
// interrupted call is continued and a complete set is kept. .voxswap_phantoms records the files that this
// command wrote, so that files written or changed by others are never removed or overwritten. It is separate
// from the .voxswap of other commands, because phantoms are their input, which they never overwrite.
#include <algorithm>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/folder_lock.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/log.h"
#include "base/outputs.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/text.h"
#include "data/phantoms/phantom.h"

namespace voxswap::data {

namespace {

std::string manifest_text(const PhantomOptions& options, bool complete) {
  // A new generation of phantoms counts as different options.
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

// Relative to the data set's root.
std::vector<fs::path> files_of(const PhantomOptions& options, const PhantomLayout& layout) {
  std::vector<fs::path> files;
  for (int i = 0; i < options.cases; ++i)
    for (const fs::path& file : layout.files(options, i)) files.push_back(file);
  if (layout.description) files.emplace_back("dataset.json");
  return files;
}

// Removes exactly the files of an earlier call with other options, or nothing.
void remove_earlier(const fs::path& root, const fs::path& manifest, WrittenFiles& written) {
  const Json json = parse_json(read_file(manifest));
  PhantomOptions earlier;
  try {
    earlier.layout = json.at("layout").get<std::string>();
    earlier.cases = json.at("cases").get<int>();
    earlier.size = json.at("size").get<Size3>();
  } catch (const Json::exception&) {
    fail(Exit::bad_data, "{}: was not written by voxswap phantom. Choose another --out or remove it",
         manifest.string());
  }
  const std::vector<fs::path> names = files_of(earlier, phantom_layout(earlier.layout));
  std::vector<fs::path> files = {manifest};
  for (const fs::path& name : names) files.push_back(root / name);
  if (const std::vector<fs::path> others = written.not_ours(files, root); !others.empty())
    fail(
        Exit::usage,
        "{}: was changed since voxswap phantom wrote it, or written by something else. Choose another --out, "
        "or move it away",
        others.front().string());
  files.erase(files.begin());  // the manifest stays, so that an interrupted call can be continued
  written.remove(files, root);
  for (const fs::path& file : names) {
    error_code ignored;
    for (fs::path folder = file.parent_path(); !folder.empty(); folder = folder.parent_path())
      fs::remove(root / folder, ignored);  // only if empty
  }
}

void refuse_to_overwrite(const PhantomOptions& options, const PhantomLayout& layout) {
  for (const fs::path& name : files_of(options, layout)) {
    const fs::path file = options.out / name;
    if (fs::symlink_status(file).type() != fs::file_not_found)
      fail(Exit::usage, "{}: exists already and is not a phantom. Choose another --out", file.string());
  }
}

void write_cases(const PhantomOptions& options, const PhantomLayout& layout, WrittenFiles& written) {
  Progress progress("phantoms", "cases", options.cases);
  std::mutex mutex;
  // Each thread holds one subject in memory; more than four threads gain little, because the disk is the
  // limit.
  const unsigned threads = std::min(usable_core_count(), 4U);
  parallel_for(
      static_cast<std::size_t>(options.cases),
      [&](std::size_t i) {
        throw_if_interrupted();
        const int index = static_cast<int>(i);
        const Volume volume = phantom(options.seed, index, options.size);
        std::vector<fs::path> files = layout.files(options, index);
        for (fs::path& file : files) file = options.out / file;
        written.write(files, [&] { layout.write_case(options.out, index, volume); });
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
  const auto is_complete = [&] {
    return fs::exists(manifest) && read_file(manifest) == manifest_text(options, true) &&
           all_there(options, layout);
  };
  std::optional<FolderLock> lock;
  if (!is_complete()) lock.emplace(options.out);
  if (is_complete()) {  // perhaps made by another process meanwhile
    log::info("{}: keeping {}, which were made with the same options", options.out.string(),
              counted(options.cases, "phantom"));
    return false;
  }
  WrittenFiles written(options.out / ".voxswap_phantoms");
  if (fs::exists(manifest)) remove_earlier(options.out, manifest, written);
  refuse_to_overwrite(options, layout);
  const auto write = [&](const fs::path& file, const std::string& text) {
    written.write({file}, [&] { write_file(file, text); });
  };
  write(manifest, manifest_text(options, false));
  write_cases(options, layout, written);
  if (layout.description) write(options.out / "dataset.json", layout.description(options));
  write(manifest, manifest_text(options, true));
  return true;
}

}  // namespace voxswap::data
