// The disk tier: one file of known size, without a name as soon as it is open (so it is gone however the
// program ends), read and written past the page cache where the file system allows it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/file.h"
#include "net/backends/backend.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

class ScratchFile {
 public:
  // Room is reserved at once, in whole blocks (plan.h). Throws Exit::does_not_fit when the disk has
  // not got it, Exit::failed when the folder cannot be written.
  ScratchFile(const fs::path& folder, std::int64_t bytes);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  std::int64_t bytes() const { return bytes_; }
  bool direct() const { return direct_; }  // past the page cache

  // Whole, or throws with the folder and the system's reason: Exit::does_not_fit when the disk is full after
  // all, Exit::failed otherwise. May be called from several threads. REQUIRES (checked): within the file;
  // offset, size and address multiples of a block.
  void write(std::int64_t offset, const std::byte* from, std::int64_t size);
  void read(std::int64_t offset, std::byte* to, std::int64_t size);

 private:
  void transfer(bool writing, std::int64_t offset, std::byte* memory, std::int64_t size);

  fs::path folder_;
  std::int64_t bytes_ = 0;
  int descriptor_ = -1;
  bool direct_ = false;
};

// A disk access of a plan as a kernel for a host stream.
class DiskAccess : public net::Kernel {
 public:
  DiskAccess(ScratchFile& file, const Instruction& instruction, std::byte* pool)
      : file_(&file),
        writes_(instruction.kind == Instruction::Kind::write_disk),
        offset_(instruction.disk),
        place_(pool + instruction.host),
        bytes_(whole_blocks(instruction.bytes)) {}
  void run(const net::KernelArguments&) override {
    if (writes_)
      file_->write(offset_, place_, bytes_);
    else
      file_->read(offset_, place_, bytes_);
  }

 private:
  ScratchFile* file_;
  bool writes_;
  std::int64_t offset_;
  std::byte* place_;
  std::int64_t bytes_;
};

}  // namespace voxswap::swap
