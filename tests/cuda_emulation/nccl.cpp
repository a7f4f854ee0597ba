// NCCL's sends and receives between emulated GPUs, one process each on one machine, after NCCL's
// documentation: ncclCommInitRank returns when all ranks have joined; the transfers of a group run
// concurrently, in the order of the stream; a send completes only when it is received. So code that could
// deadlock on GPUs deadlocks here. Ranks share a file with one box for every pair of ranks.
// VOXSWAP_EMULATED_NCCL_BREAKS=N: the network breaks at the group N of transfers, from which on none ends.
#include <fcntl.h>
#include <nccl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/cuda_emulation/gpu.h"

namespace {

constexpr std::size_t box_bytes = 1 << 16;

// From one rank to another. The file is shared, so atomics must work between processes.
struct Box {
  std::atomic<std::uint32_t> full;
  std::uint64_t message_bytes;  // of the whole message
  std::uint32_t bytes;
  char slab[box_bytes];
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

struct Shared {
  std::atomic<std::uint32_t> joined;
  Box boxes[1];  // one per ordered pair
};

std::size_t shared_bytes(int count) {
  return sizeof(Shared) + static_cast<std::size_t>(count * count) * sizeof(Box);
}

void nap() {
  std::this_thread::sleep_for(std::chrono::microseconds(20));
}

}  // namespace

struct ncclComm {
  int rank = 0, count = 0;
  Shared* shared = nullptr;
  std::atomic<bool> aborted = false, broken = false;

  Box& box(int from, int to) { return shared->boxes[from * count + to]; }
};

namespace {

struct Transfer {
  ncclComm_t communicator = nullptr;
  cudaStream_t stream = nullptr;
  bool sends = false;
  char* data = nullptr;
  std::size_t bytes = 0, done = 0;
  int peer = 0;

  // Transfers a slab, if the peer is ready for it.
  bool advance() {
    Box& box =
        sends ? communicator->box(communicator->rank, peer) : communicator->box(peer, communicator->rank);
    if (done == bytes || (box.full.load(std::memory_order_acquire) != 0) == sends) return false;
    if (sends) {
      box.message_bytes = bytes;
      box.bytes = static_cast<std::uint32_t>(std::min(bytes - done, box_bytes));
      std::memcpy(box.slab, data + done, box.bytes);
    } else if (box.message_bytes != bytes) {
      std::fprintf(stderr, "emulated NCCL: %zu bytes are received, %zu were sent\n", bytes,
                   static_cast<std::size_t>(box.message_bytes));
      std::abort();
    } else {
      std::memcpy(data + done, box.slab, box.bytes);
    }
    done += box.bytes;
    box.full.store(sends ? 1 : 0, std::memory_order_release);
    return true;
  }
  // A send is complete when it was received.
  bool over() {
    return done == bytes &&
           (!sends || communicator->box(communicator->rank, peer).full.load(std::memory_order_acquire) == 0);
  }
};

// Counts this process's groups of transfers. Returns true from the one on at which the network breaks.
bool breaks_now() {
  static std::atomic<int> launched = 0;
  const char* const at = std::getenv("VOXSWAP_EMULATED_NCCL_BREAKS");
  return at != nullptr && ++launched >= std::atoi(at);
}

thread_local int groups = 0;  // nested groups of this thread
thread_local std::vector<Transfer> grouped;

ncclResult_t launch_group() {
  if (grouped.empty()) return ncclSuccess;
  const cudaStream_t stream = grouped.front().stream;
  if (breaks_now()) grouped.front().communicator->broken = true;
  voxswap::emulation::enqueue(stream, [transfers = std::move(grouped)]() mutable {
    const auto over = [](Transfer& one) {
      return one.communicator->aborted || (!one.communicator->broken && one.over());
    };
    while (!std::all_of(transfers.begin(), transfers.end(), over)) {
      bool moved = false;
      for (Transfer& one : transfers) moved = (!one.communicator->broken && one.advance()) || moved;
      if (!moved) nap();
    }
  });
  grouped.clear();
  return ncclSuccess;
}

ncclResult_t add(Transfer transfer) {
  const ncclComm* const communicator = transfer.communicator;
  if (communicator == nullptr || transfer.peer < 0 || transfer.peer >= communicator->count ||
      transfer.peer == communicator->rank)
    return ncclInvalidArgument;
  if (!voxswap::emulation::in_device_memory(transfer.data, static_cast<std::int64_t>(transfer.bytes)))
    return ncclInvalidArgument;
  if (!grouped.empty() && grouped.front().stream != transfer.stream) return ncclInvalidUsage;
  grouped.push_back(transfer);
  return groups > 0 ? ncclSuccess : launch_group();
}

}  // namespace

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclSystemError:
      return "unhandled system error";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInvalidArgument:
      return "invalid argument";
    default:
      return "invalid usage";
  }
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const std::string name = (std::filesystem::temp_directory_path() / "emulated_nccl_XXXXXX").string();
  if (name.size() >= sizeof id->internal) return ncclSystemError;
  std::memset(id, 0, sizeof *id);
  std::memcpy(id->internal, name.data(), name.size());
  const int file = mkstemp(id->internal);
  if (file < 0) return ncclSystemError;
  close(file);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int count, ncclUniqueId id, int rank) {
  const int file = open(id.internal, O_RDWR);
  if (file < 0) return ncclSystemError;
  const bool large_enough = ftruncate(file, static_cast<off_t>(shared_bytes(count))) == 0;
  void* const memory = large_enough
                           ? mmap(nullptr, shared_bytes(count), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                           : MAP_FAILED;
  close(file);
  if (memory == MAP_FAILED) return ncclSystemError;
  *communicator = new ncclComm;
  (*communicator)->rank = rank;
  (*communicator)->count = count;
  (*communicator)->shared = static_cast<Shared*>(memory);
  std::atomic<std::uint32_t>& joined = (*communicator)->shared->joined;
  ++joined;
  while (joined < static_cast<std::uint32_t>(count)) nap();
  if (rank == 0) unlink(id.internal);
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  munmap(communicator->shared, shared_bytes(communicator->count));
  delete communicator;
  return ncclSuccess;
}

// Aborts running transfers; keeps the memory, because their thread may not have noticed yet.
ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  communicator->aborted = true;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* error) {
  *error = communicator->broken ? ncclRemoteError : ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++groups;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  if (groups == 0) return ncclInvalidUsage;
  return --groups > 0 ? ncclSuccess : launch_group();
}

ncclResult_t ncclSend(const void* data, std::size_t count, ncclDataType_t, int peer, ncclComm_t communicator,
                      cudaStream_t stream) {
  return add({communicator, stream, true, static_cast<char*>(const_cast<void*>(data)), count, 0, peer});
}
ncclResult_t ncclRecv(void* data, std::size_t count, ncclDataType_t, int peer, ncclComm_t communicator,
                      cudaStream_t stream) {
  return add({communicator, stream, false, static_cast<char*>(data), count, 0, peer});
}
