// Reads weights from files of PyTorch (torch.save), without PyTorch and without running code.
//
// Such a file is a zip archive: data.pkl describes the objects, data/KEY is the content of a storage. The
// pickle is read by a restricted reader (pickle.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "pipeline/record/checkpoint.h"
#include "pipeline/record/pickle.h"

namespace voxswap::pipeline {

class TorchFile {
 public:
  // Throws Exit::bad_data that names the file and what is wrong: truncated, damaged, older than PyTorch 1.6,
  // or with objects that could run code.
  explicit TorchFile(const fs::path& path);

  const Pickle& pickle() const { return *pickle_; }
  // The tensors of a dictionary, such as a state_dict, in its order, without counters. `wanted`: which of
  // them, by name. Throws Exit::bad_data for values that are no tensors of F64, F32, F16 or BF16, that are
  // outside of their storage, and for NaN and infinity.
  std::vector<Tensor> tensors(const PickledValue& dictionary,
                              const std::function<bool(std::string_view name)>& wanted) const;

 private:
  Tensor read(std::string_view name, const PickledValue& tensor) const;

  fs::path path_;
  std::string content_;
  std::map<std::string, std::string_view> entries_;
  std::string prefix_;  // of the entries' names
  std::unique_ptr<Pickle> pickle_;
};

// True if the name ends as PyTorch's files do: .pth or .pt.
bool is_torch_file(const fs::path& path);
// The weights in such a file: its "network_weights" (nnU-Net), "state_dict" or "model", or the whole of it.
std::vector<Tensor> read_torch_weights(const fs::path& path);

}  // namespace voxswap::pipeline
