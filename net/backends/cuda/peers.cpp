#include "net/backends/cuda/peers.h"

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <optional>

#include "base/error.h"
#include "base/keys.h"
#include "net/backends/cuda/runtime.h"
#if __has_include(<nccl.h>)
#include <nccl.h>

#include "net/backends/cuda/libraries.h"
#include "net/backends/cuda/transfer_watch.h"
#define VOXSWAP_HAS_NCCL
#endif

namespace voxswap::net::cuda {

#ifdef VOXSWAP_HAS_NCCL

namespace {

// Other ranks may be busy for long, for example writing a checkpoint to a slow disk.
constexpr std::chrono::minutes time_limit(30);

// The functions used, named without the library's prefix.
struct NcclLibrary {
  decltype(&::ncclGetErrorString) get_error_string = nullptr;
  decltype(&::ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&::ncclCommInitRank) init_rank = nullptr;
  decltype(&::ncclCommDestroy) destroy = nullptr;
  decltype(&::ncclCommAbort) abort = nullptr;
  decltype(&::ncclGroupStart) group_start = nullptr;
  decltype(&::ncclGroupEnd) group_end = nullptr;
  decltype(&::ncclCommGetAsyncError) get_async_error = nullptr;
  decltype(&::ncclSend) send = nullptr;
  decltype(&::ncclRecv) receive = nullptr;
};

NcclLibrary open_nccl() {
  const EntryPoints in(format("libnccl.so.{}", NCCL_MAJOR));
  NcclLibrary library;
  in.find(library.get_error_string, "ncclGetErrorString");
  in.find(library.get_unique_id, "ncclGetUniqueId");
  in.find(library.init_rank, "ncclCommInitRank");
  in.find(library.destroy, "ncclCommDestroy");
  in.find(library.abort, "ncclCommAbort");
  in.find(library.group_start, "ncclGroupStart");
  in.find(library.group_end, "ncclGroupEnd");
  in.find(library.get_async_error, "ncclCommGetAsyncError");
  in.find(library.send, "ncclSend");
  in.find(library.receive, "ncclRecv");
  return library;
}

const NcclLibrary& nccl() {
  static const NcclLibrary library = open_nccl();
  return library;
}

std::string description(ncclResult_t result, const char* call) {
  return format("NCCL: {}: {}. Set NCCL_DEBUG=INFO in the environment for details", call,
                nccl().get_error_string(result));
}

void check_nccl(ncclResult_t result, const char* call) {
  if (result != ncclSuccess) fail(Exit::failed, "{}", description(result, call));
}

// The failure of a transfer that was already enqueued; empty if there is none.
std::string failure(ncclComm_t communicator) {
  ncclResult_t so_far = ncclSuccess;
  ncclResult_t result = nccl().get_async_error(communicator, &so_far);
  if (result == ncclSuccess) result = so_far;
  return result == ncclSuccess || result == ncclInProgress ? "" : description(result, "transfer");
}

class NcclPeers final : public Peers {
 public:
  NcclPeers(const std::string& rendezvous, int rank, int count, int ordinal, const TransferFailed& failed) {
    check(cudaSetDevice(ordinal), "cudaSetDevice");
    ncclUniqueId id;
    if (rendezvous.size() != sizeof id) fail(Exit::failed, "NCCL: the ranks have different ids");
    std::memcpy(&id, rendezvous.data(), sizeof id);
    const ncclResult_t result = nccl().init_rank(&communicator_, count, id, rank);
    if (result == ncclInvalidUsage)
      fail(Exit::usage,
           "NCCL: ncclCommInitRank: {}. Two ranks may share a GPU: start one rank per GPU, or set {}=cpu",
           nccl().get_error_string(result), key::memory_device);
    check_nccl(result, "ncclCommInitRank");
    watch_.emplace(
        ordinal, time_limit, [this] { return failure(communicator_); }, failed);
  }
  // After a failure, other ranks may be waiting for data that never comes.
  ~NcclPeers() override {
    watch_.reset();
    if (std::uncaught_exceptions() > 0)
      nccl().abort(communicator_);
    else
      nccl().destroy(communicator_);
  }
  NcclPeers(const NcclPeers&) = delete;
  NcclPeers& operator=(const NcclPeers&) = delete;

  // Both in one group; otherwise each side would wait for the other to receive.
  void swap(int other, const void* sent, std::int64_t sent_count, void* received,
            std::int64_t received_count) override {
    check_nccl(nccl().group_start(), "ncclGroupStart");
    if (sent_count > 0)
      check_nccl(nccl().send(sent, static_cast<std::size_t>(sent_count), ncclInt8, other, communicator_,
                             current_stream()),
                 "ncclSend");
    if (received_count > 0)
      check_nccl(nccl().receive(received, static_cast<std::size_t>(received_count), ncclInt8, other,
                                communicator_, current_stream()),
                 "ncclRecv");
    check_nccl(nccl().group_end(), "ncclGroupEnd");
    watch_->enqueued(current_stream());
  }
  void copy(void* to, const void* from, std::int64_t bytes) override {
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, current_stream()),
          "cudaMemcpyAsync");
  }
  void add(float* to, const float* from, std::int64_t count) override { add_floats(to, from, count); }

 private:
  ncclComm_t communicator_ = nullptr;
  std::optional<TransferWatch> watch_;
};

}  // namespace

std::string why_no_peers() {
  try {
    nccl();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string create_rendezvous() {
  ncclUniqueId id;
  check_nccl(nccl().get_unique_id(&id), "ncclGetUniqueId");
  return {reinterpret_cast<const char*>(&id), sizeof id};
}

std::unique_ptr<Peers> join_rendezvous(const std::string& rendezvous, int rank, int count, int ordinal,
                                       const TransferFailed& failed) {
  return std::make_unique<NcclPeers>(rendezvous, rank, count, ordinal, failed);
}

#else

std::string why_no_peers() {
  return "this voxswap was built without NCCL's header";
}
std::string create_rendezvous() {
  fail(Exit::failed, "{}", why_no_peers());
}
std::unique_ptr<Peers> join_rendezvous(const std::string&, int, int, int, const TransferFailed&) {
  fail(Exit::failed, "{}", why_no_peers());
}

#endif

}  // namespace voxswap::net::cuda
