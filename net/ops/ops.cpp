// The table of operations. To add one, add a file in this folder and a line in net/graph/operation_list.h.
#include "net/ops/ops.h"

#include "net/graph/operation_list.h"

namespace voxswap::net {

const std::vector<const Operation*>& operations() {
#define ROW(operation) &ops::operation(),
#define WINDOWED_ROW(operation) &ops::windowed<ops::operation>(),
  static const std::vector<const Operation*> table = {VOXSWAP_OPERATIONS(ROW)
                                                          VOXSWAP_WINDOWED_OPERATIONS(WINDOWED_ROW)};
#undef WINDOWED_ROW
#undef ROW
  return table;
}

}  // namespace voxswap::net
