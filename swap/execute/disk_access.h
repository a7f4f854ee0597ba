// A disk access of a plan as a kernel for a host stream.
#pragma once

#include "net/backends/backend.h"
#include "swap/execute/scratch_file.h"
#include "swap/plan/disk_blocks.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

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
