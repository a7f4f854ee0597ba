#include "base/part_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <boost/filesystem.hpp>
#include <cstdio>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace voxswap {

namespace {

// Eight hexadecimal digits that identify this machine.
const std::string& machine() {
  static const std::string digits = [] {
    char names[320] = {};
    ::gethostname(names, 256);
    const Descriptor file("/etc/machine-id", O_RDONLY);
    if (file.is_open()) read_up_to(file.number(), names + 256, sizeof names - 256);
    return format("{:08x}", XXH3_64bits(names, sizeof names) >> 32);
  }();
  return digits;
}

// Machine of the process that wrote a file or folder with this name; empty if the name is not ours. Version
// 0.2 did not include the machine and appended the extension.
std::string writer_of(const std::string& name) {
  char writer[9] = "";
  long process = 0, count = 0;
  int end = 0;
  if (std::sscanf(name.c_str(), ".voxswap-%8[0-9a-f]-%ld-%ld.part%n", writer, &process, &count, &end) == 3 &&
      end > 0 && name.c_str()[end] == '\0')
    return writer;
  end = 0;
  const bool old =
      std::sscanf(name.c_str(), ".voxswap-%ld-%ld.part%n", &process, &count, &end) == 2 && end > 0;
  return old ? "unknown" : "";
}

// True if locks of processes on other machines are visible. Network file systems may keep locks local to a
// machine (NFS with nolock or local_lock, Lustre with localflock).
bool sees_all_locks(int descriptor) {
  struct statfs system {};
  if (::fstatfs(descriptor, &system) != 0) return false;
  constexpr long zfs = 0x2fc12fc1;
  const auto local = {long{EXT4_SUPER_MAGIC},
                      long{XFS_SUPER_MAGIC},
                      long{BTRFS_SUPER_MAGIC},
                      long{TMPFS_MAGIC},
                      long{F2FS_SUPER_MAGIC},
                      long{OVERLAYFS_SUPER_MAGIC},
                      zfs};
  return std::find(local.begin(), local.end(), static_cast<long>(system.f_type)) != local.end();
}

// Calls `see(name, may_be_folder)` for the entries of a folder. Does not use fs::directory_iterator, which
// terminates the program if memory is exhausted.
template <class See>
void for_entries(const std::string& folder, int flags, See see) {
  struct Close {
    void operator()(DIR* open) const { ::closedir(open); }
  };
  Descriptor file(folder, O_RDONLY | O_DIRECTORY | flags);
  const std::unique_ptr<DIR, Close> open(file.is_open() ? ::fdopendir(file.number()) : nullptr);
  if (!open) return;
  file.release();
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") see(name, entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
  }
}

// True if it was unlocked and was removed.
bool remove_unlocked(const std::string& file, const std::string& writer) {
  const Descriptor open(file, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  return open.is_open() && (writer == machine() || sees_all_locks(open.number())) && lock_part(open) &&
         ::unlink(file.c_str()) == 0;
}

}  // namespace

std::string new_part_name() {
  static std::atomic<int> count = 0;
  return format(".voxswap-{}-{}-{}.part", machine(), ::getpid(), count++);
}

bool lock_part(const Descriptor& file) {
  return ::flock(file.number(), LOCK_EX | LOCK_NB) == 0;
}

void remove_abandoned(const std::string& folder, int levels) {
  static std::mutex mutex;
  static std::set<std::pair<std::string, int>> looked_at;  // already processed by this process
  {
    const std::lock_guard guard(mutex);
    if (!looked_at.insert({folder, levels}).second) return;
  }
  for_entries(folder, 0, [&](const std::string& name, bool may_be_folder) {
    const std::string path = folder + "/" + name;
    if (const std::string writer = writer_of(name); !writer.empty()) {
      remove_unlocked(path, writer);
      bool abandoned = false;
      for_entries(path, O_NOFOLLOW, [&](const std::string& file, bool) {
        if (file.starts_with(part_content)) abandoned |= remove_unlocked(path + "/" + file, writer);
      });
      boost::system::error_code ignored;
      if (::rmdir(path.c_str()) != 0 && abandoned) boost::filesystem::remove_all(path, ignored);
    } else if (may_be_folder && levels > 0) {
      remove_abandoned(path, levels - 1);
    }
  });
}

}  // namespace voxswap
