#include "base/program.h"

#include <dlfcn.h>
#include <link.h>

namespace voxswap {

fs::path program_folder() {
  static const int here = 0;
  Dl_info info{};
  link_map* module = nullptr;
  const bool known = ::dladdr1(&here, &info, reinterpret_cast<void**>(&module), RTLD_DL_LINKMAP) != 0;
  const bool in_library = known && module != nullptr && module->l_name[0] != '\0';
  return fs::canonical(in_library ? module->l_name : "/proc/self/exe").parent_path();
}

}  // namespace voxswap
