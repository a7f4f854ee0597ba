// Functions of a shared library that is loaded on first use. It is searched for by the system's linker, then
// in the folder lib64 or lib of $CUDA_HOME, $CUDA_PATH and /usr/local/cuda. It stays loaded until the program
// ends.
#pragma once

#include <string>

namespace voxswap::net::cuda {

class EntryPoints {
 public:
  // Throws Exit::does_not_fit, as for a missing GPU, and lists the places searched.
  explicit EntryPoints(std::string file);
  template <class Function>
  void find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(address(name));
  }

 private:
  void* address(const char* name) const;  // throws if the library has no such function

  std::string file_;
  void* handle_;
};

}  // namespace voxswap::net::cuda
