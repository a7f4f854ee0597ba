// Prepared cases on disk. A file is named after its inputs, so it is never outdated, and has a checksum, so
// damage is detected. Format: magic, payload size, checksum, payload; native byte order.
#include "data/prepare/cache.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <type_traits>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "data/cases/read_case.h"

namespace voxswap::data {

namespace {

// Change this whenever prepare(), read_case() or the file format changes the stored data.
constexpr std::string_view format_version = "voxswap prepared case 5\n";
constexpr std::size_t checksum_size = 32;

// Writes and reads plain values and vectors of them, in the order of `fields` below.
struct Writer {
  Append raw;
  template <class T>
  void field(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    raw(&value, sizeof value);
  }
  template <class T>
  void field(std::vector<T>& values) {
    const std::uint64_t count = values.size();
    raw(&count, sizeof count);
    raw(values.data(), values.size() * sizeof(T));
  }
  void field(std::string& text) {
    const std::uint64_t count = text.size();
    raw(&count, sizeof count);
    raw(text.data(), text.size());
  }
};

struct Reader {
  std::string_view bytes;
  bool good = true;
  void raw(void* data, std::size_t size) {
    good = good && size <= bytes.size();
    if (!good) return;
    bytes.copy(static_cast<char*>(data), size);  // unlike memcpy, also of no bytes to null
    bytes.remove_prefix(size);
  }
  template <class T>
  void field(T& value) {
    raw(&value, sizeof value);
  }
  template <class Container>
  void sequence(Container& values) {
    std::uint64_t count = 0;
    raw(&count, sizeof count);
    good = good && count <= bytes.size() / sizeof(values[0]);
    if (!good) return;
    values.resize(count);
    raw(values.data(), count * sizeof(values[0]));
  }
  template <class T>
  void field(std::vector<T>& values) {
    sequence(values);
  }
  void field(std::string& text) { sequence(text); }
};

template <class Archive>
void fields(Archive& archive, PreparedCase& prepared) {
  archive.field(prepared.id);
  archive.field(prepared.size);
  archive.field(prepared.channels);
  archive.field(prepared.image);
  archive.field(prepared.truth);
  archive.field(prepared.statistics.mean);
  archive.field(prepared.statistics.deviation);
  archive.field(prepared.statistics.labelled);
  archive.field(prepared.background);
  archive.field(prepared.box);
  archive.field(prepared.original);
  archive.field(prepared.stored);
}

// The checksum covers the payload and the file's name, which identifies the case.
void save(const fs::path& path, PreparedCase& prepared) {
  std::uint64_t size = 0;
  Hasher hasher;
  hasher.add(path.filename().string());
  Writer digested{[&](const void* bytes, std::size_t count) {
    hasher.add(bytes, count);
    size += count;
  }};
  fields(digested, prepared);
  const std::string checksum = hasher.digest();
  write_file(path, [&](const Append& append) {
    append(format_version.data(), format_version.size());
    append(&size, sizeof size);
    append(checksum.data(), checksum.size());
    Writer payload{append};
    fields(payload, prepared);
  });
}

// Returns nullopt if the file is missing or damaged.
std::optional<PreparedCase> load(const fs::path& path) {
  error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  std::string content;
  try {
    content = read_file(path);
  } catch (const Error& error) {
    log::warn("{}. It is prepared again", error.what());
    return std::nullopt;
  }
  Reader reader{content};
  std::string version(format_version.size(), '\0'), checksum(checksum_size, '\0');
  std::uint64_t size = 0;
  reader.raw(version.data(), version.size());
  reader.raw(&size, sizeof size);
  reader.raw(checksum.data(), checksum.size());
  PreparedCase prepared;
  const auto actual = [&] {
    return Hasher().add(path.filename().string()).add(reader.bytes.data(), reader.bytes.size()).digest();
  };
  if (reader.good && version == format_version && size == reader.bytes.size() && checksum == actual()) {
    fields(reader, prepared);
    if (reader.good) return prepared;
  }
  log::warn("{}: this cached case is damaged and is prepared again", path.string());
  return std::nullopt;
}

// For a folder of DICOM slices, all its files.
void add_content(Hasher& hasher, const fs::path& path) {
  if (!fs::is_directory(path)) {
    hasher.add_file(path);
    return;
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (fs::is_regular_file(entry.path())) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) hasher.add_file(file);
}

template <class T>
void add_value(Hasher& hasher, const T& value) {
  hasher.add(&value, sizeof value);
}

}  // namespace

PreparedCache::PreparedCache(Dataset dataset, PrepareOptions options, fs::path folder)
    : dataset_(std::move(dataset)),
      options_(for_modalities(std::move(options), dataset_.modalities)),
      folder_(std::move(folder)) {
  if (folder_.empty()) return;
  try {
    make_writable_directory(folder_);
  } catch (const Error& error) {  // existing entries can still be read
    log::warn("prepared cases cannot be cached: {}", error.what());
    writable_ = false;
  }
}

std::string PreparedCache::content(const CaseFiles& files) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = contents_.find(files.id); found != contents_.end()) return found->second;
  }
  Hasher hasher;
  std::string previous;
  for (std::size_t i = 0; i < files.channels.size(); ++i) {
    add_value(hasher, files.components[i]);
    if (files.lacks(i)) {
      hasher.add("missing");
      continue;
    }
    hasher.add(files.channels[i].filename().string());  // distinguishes formats
    const std::string path = files.channels[i].string();
    if (path != previous) add_content(hasher, path);  // a 4D file is listed once per channel
    previous = path;
  }
  if (!files.truth.empty()) hasher.add(files.truth.filename().string()).add_file(files.truth);
  if (files.annotated) hasher.add("tells of");
  for (const int value : files.annotated.value_or(std::set<int>())) add_value(hasher, value);
  const std::lock_guard lock(mutex_);
  return contents_[files.id] = hasher.digest();
}

// The key depends on contents, not on paths or times, so a data set may be moved. All options are listed
// here, so that a new one does not compile until its effect on the stored data is decided. Channel names
// enter as the channels that they select; stored images are not normalised. Labels are part of the key
// because they decide whether a ground truth is accepted.
std::string PreparedCache::key(const CaseFiles& files) const {
  const auto& [resolution, spacing, automatic_spacing, automatic_resolution, slices, crop, bias_names,
               bias_channels, clip_low, clip_high, normalize, corner_background, background, recipe, schemes,
               transpose, cascade] = options_;
  static_cast<void>(automatic_spacing);
  static_cast<void>(automatic_resolution);
  static_cast<void>(bias_names);
  static_cast<void>(normalize);
  static_cast<void>(cascade);  // only for prediction, which uses no cache
  Hasher hasher;
  hasher.add(format_version).add(files.id).add(choice_name(crop));
  add_value(hasher, options_.by_spacing() ? Size3{} : resolution);
  add_value(hasher, spacing);
  if (slices != Slices::none) hasher.add(choice_name(slices));  // keys for volumes stay as before
  add_value(hasher, corner_background);
  add_value(hasher, corner_background ? 0.0 : background);
  for (const bool corrected : bias_channels) add_value(hasher, corrected);
  add_value(hasher, clip_low);
  add_value(hasher, clip_high);
  if (recipe != Recipe::voxswap) {
    hasher.add(choice_name(recipe));
    for (const int axis : transpose) add_value(hasher, axis);
    for (const Scheme& scheme : schemes) {
      hasher.add(choice_name(scheme.name));
      for (const double value : {scheme.low, scheme.high, scheme.mean, scheme.deviation})
        add_value(hasher, value);
    }
  }
  add_value(hasher, dataset_.align);
  for (const auto& [name, value] : dataset_.labels) add_value(hasher, value);
  hasher.add(content(files));
  return hasher.digest();
}

PreparedCase PreparedCache::get(const CaseFiles& files) const {
  const auto made = [&] { return prepare(read_case(dataset_, files), options_); };
  if (folder_.empty()) return made();
  const fs::path path = folder_ / format("{}-{}.prepared", files.id, key(files));
  if (auto cached = load(path)) {
    log::debug("{}: read from the cache, {}", files.id, path.string());
    cached->statistics.missing = files.missing;
    return std::move(*cached);
  }
  PreparedCase prepared = made();
  log::debug("{}: prepared from {}", files.id, files.first_channel().parent_path().string());
  if (!writable_) return prepared;
  // Two threads may prepare the same case, and the temporary file's name is the same within a process.
  static std::mutex writing;
  const std::lock_guard lock(writing);
  try {
    save(path, prepared);
  } catch (const Error& error) {
    log::warn("the prepared case cannot be cached: {}", error.what());
  }
  return prepared;
}

}  // namespace voxswap::data
