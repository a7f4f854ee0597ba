// The functions of a shared library that is opened when it is first needed. It is looked for where the
// system's linker looks, then in the folder lib64 or lib of $CUDA_HOME, $CUDA_PATH and /usr/local/cuda, and
// stays open until the program ends.
#pragma once

#include <string>

namespace voxswap::net::cuda {

class EntryPoints {
 public:
  // Throws Exit::does_not_fit, like a GPU that is not there, with where was looked.
  explicit EntryPoints(std::string file);
  template <class Function>
  void find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(address(name));
  }

 private:
  void* address(const char* name) const;  // throws where the library has no such function

  std::string file_;
  void* handle_;
};

}  // namespace voxswap::net::cuda
