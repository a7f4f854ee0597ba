// The disk tier: one file of known size, read and written past the page cache if the file system allows it.
// It has no name once it is open, so it disappears with the program however that ends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/file.h"
#include "net/backends/backend.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

class ScratchFile {
 public:
  // Reserves the space at once, in whole blocks (swap/plan/plan.h). Throws Exit::does_not_fit if the disk has
  // too little, Exit::failed if the folder is not writable.
  ScratchFile(const fs::path& folder, std::int64_t bytes);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  std::int64_t bytes() const { return bytes_; }
  bool direct() const { return direct_; }  // past the page cache

  // Transfers all bytes, or throws with the folder and the system's reason: Exit::does_not_fit if the disk is
  // full after all, Exit::failed otherwise. Thread-safe. REQUIRES (checked): within the file; offset, size
  // and address are multiples of a block.
  void write(std::int64_t offset, const std::byte* from, std::int64_t size);
  void read(std::int64_t offset, std::byte* to, std::int64_t size);

  // The whole file as memory, zero at first, for as long as it exists. The system writes changed pages to the
  // disk and takes their memory back when it needs some; release() takes it back at once. Throws
  // Exit::failed.
  std::byte* map();
  void release();

 private:
  void transfer(bool writing, std::int64_t offset, std::byte* memory, std::int64_t size);

  fs::path folder_;
  std::int64_t bytes_ = 0;
  int descriptor_ = -1;
  bool direct_ = false;
  void* mapped_ = nullptr;
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
