#include "net/backends/cuda/entry_points.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/keys.h"

namespace voxswap::net::cuda {

namespace {

std::vector<std::string> folders() {
  std::vector<std::string> result = {""};  // where the system's linker looks
  const auto add = [&](const std::string& root) {
    for (const char* library_folder : {"lib64", "lib"}) result.push_back(root + "/" + library_folder + "/");
  };
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable); root != nullptr && *root != '\0') add(root);
  }
  add("/usr/local/cuda");
  return result;
}

void* open_library(const std::string& file) {
  const std::vector<std::string> all = folders();
  std::string last;
  for (const std::string& folder : all) {
    if (void* handle = dlopen((folder + file).c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    if (const char* why = dlerror()) last = why;
  }
  fail(Exit::does_not_fit,
       "the CUDA backend needs {}, which is neither on the system's library path nor in {}. Install it, add "
       "its folder to LD_LIBRARY_PATH, or use {}: cpu (last error: {})",
       file, join({all.begin() + 1, all.end()}, ", "), key::memory_device, last);
}

}  // namespace

EntryPoints::EntryPoints(std::string file) : file_(std::move(file)), handle_(open_library(file_)) {}

void* EntryPoints::address(const char* name) const {
  void* const function = dlsym(handle_, name);
  if (function == nullptr)
    fail(Exit::does_not_fit,
         "{} has no function {}, because its version differs from the one that this program was built for",
         file_, name);
  return function;
}

}  // namespace voxswap::net::cuda
