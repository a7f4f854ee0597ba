#include "base/own_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/outputs.h"
#include "base/text.h"

namespace voxswap {

namespace {

std::string hash_of(const fs::path& file) {
  return Hasher().add_file(file).digest();
}

struct Owned {
  fs::path root;
  bool is_ours;
  std::set<std::string> known;  // entries of size with time, and hashes

  fs::path record() const { return root / ".voxswap_written"; }

  void add(const struct stat& status, const std::string& hash) {
    const std::string looks = looks_of(status), line = looks + " " + hash + "\n";
    known.insert({looks, hash});
    const Descriptor file(record().string(), O_WRONLY | O_CREAT | O_APPEND);
    const int error = file.is_open() ? write_all(file.number(), line.data(), line.size()) : file.error();
    if (error != 0)
      fail(exit_of(error), "{}: cannot be written: {}", record().string(), std::strerror(error));
  }

  // Rereads the record, which other ranks also write.
  void read() {
    error_code error;
    if (fs::exists(record(), error)) {
      for (const std::string& line : split(read_file(record()), '\n'))
        if (const std::size_t end = line.rfind(' '); end != line.npos)
          known.insert({line.substr(0, end), line.substr(end + 1)});
    } else if (is_ours) {
      struct stat status {};
      for (fs::recursive_directory_iterator entry(root, error), end; !error && entry != end;
           entry.increment(error))
        if (::lstat(entry->path().c_str(), &status) == 0 && S_ISREG(status.st_mode)) add(status, "unknown");
    }
  }

  bool knows(const fs::path& file, const struct stat& status) {
    if (!S_ISREG(status.st_mode)) return false;
    const auto is_known = [&] { return known.contains(looks_of(status)) || known.contains(hash_of(file)); };
    if (is_known()) return true;
    read();
    return is_known();
  }
};

std::mutex mutex;  // guards `folders` and their content
std::vector<std::unique_ptr<Owned>> folders;

fs::path place_of(const fs::path& path) {
  return plain(fs::absolute(path));
}

// The innermost owned folder that contains the file.
Owned* owner_of(const fs::path& file) {
  if (folders.empty()) return nullptr;
  const fs::path place = place_of(file);
  Owned* owner = nullptr;
  for (const auto& one : folders) {
    const auto mismatch = std::mismatch(one->root.begin(), one->root.end(), place.begin(), place.end());
    if (mismatch.first == one->root.end() && (owner == nullptr || owner->root.size() < one->root.size()))
      owner = one.get();
  }
  return owner;
}

fs::path free_name(const fs::path& file) {
  error_code error;
  fs::path name = file.string() + ".kept";
  for (int i = 2; fs::exists(fs::symlink_status(name, error)); ++i)
    name = format("{}.kept{}", file.string(), i);
  return name;
}

}  // namespace

OwnFolder::OwnFolder(const fs::path& folder, bool is_ours) {
  const std::scoped_lock lock(mutex);
  folders.push_back(std::make_unique<Owned>(Owned{place_of(folder), is_ours, {}}));
}

OwnFolder::~OwnFolder() {
  const std::scoped_lock lock(mutex);
  folders.pop_back();  // they are destroyed in reverse order
}

void keep_others(const fs::path& file) {
  const std::scoped_lock lock(mutex);
  Owned* const owner = owner_of(file);
  struct stat status {};
  if (owner == nullptr || ::lstat(file.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return;
  if (owner->knows(file, status)) return;
  const fs::path kept = free_name(file);
  fs::rename(file, kept);
  log::warn("{}: was not written by voxswap, or was changed since. It is kept as {}", file.string(),
            kept.filename().string());
}

void note_written(const fs::path& written, const fs::path& target) {
  const std::scoped_lock lock(mutex);
  struct stat status {};
  Owned* const owner = owner_of(target);
  if (owner != nullptr && ::stat(written.c_str(), &status) == 0) owner->add(status, hash_of(written));
}

void remove_own(const fs::path& file) {
  keep_others(file);
  error_code ignored;
  fs::remove(file, ignored);
}

}  // namespace voxswap
