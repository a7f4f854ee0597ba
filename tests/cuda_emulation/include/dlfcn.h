// Opens the emulated cuDNN, cuBLAS and NCCL (libraries.cpp) by their file names; replaces the system's header
// of this name.
#pragma once

namespace voxswap::emulation {
void* open_library(const char* file);
void* find_function(void* library, const char* name);
const char* why_not_opened();
}  // namespace voxswap::emulation

enum { RTLD_NOW = 2, RTLD_LOCAL = 0 };
inline void* dlopen(const char* file, int) {
  return voxswap::emulation::open_library(file);
}
inline void* dlsym(void* library, const char* name) {
  return voxswap::emulation::find_function(library, name);
}
inline const char* dlerror() {
  return voxswap::emulation::why_not_opened();
}
// The emulated libraries have no file.
struct Dl_info {
  const char* dli_fname;
};
inline int dladdr(const void*, Dl_info*) {
  return 0;
}
