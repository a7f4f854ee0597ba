#include "pipeline/cases/scratch.h"

#include <algorithm>

#include "base/error.h"
#include "base/keys.h"
#include "base/units.h"
#include "net/backends/cpu/host_device.h"

namespace voxswap::pipeline {

bool Scratch::takes(std::int64_t bytes) {
  if (bytes > std::max(most_bytes, resident_bytes)) return false;
  most_bytes = std::max<std::int64_t>(0, most_bytes - bytes);
  return true;
}

std::unique_ptr<swap::ScratchFile> Scratch::file(std::int64_t bytes) {
  if (bytes > most_disk_bytes)
    fail(Exit::does_not_fit,
         "prediction needs a scratch file of {}, but only {} of {} are left. Increase it, or {}",
         format_bytes(bytes), format_bytes(most_disk_bytes), key::memory_disk, key::memory_host);
  most_disk_bytes -= bytes;
  return std::make_unique<swap::ScratchFile>(folder, bytes);
}

Scratch scratch_for(const MemoryOptions& memory, const fs::path& folder) {
  Scratch scratch{memory.host_bytes.value_or(net::free_host_bytes() / 4), folder};
  if (memory.disk_folder.empty()) return scratch;
  scratch.folder = memory.disk_folder;
  scratch.most_disk_bytes = memory.disk_bytes;
  return scratch;
}

}  // namespace voxswap::pipeline
