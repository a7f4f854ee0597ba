// The table of operations. To add one, write its function in this folder and add a line to
// net/graph/operation_list.h.

#include "net/ops/ops.h"

#include <cassert>
#include <cstdlib>

#include "net/graph/operation.h"
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

const Operation& find_operation(std::string_view name) {
  for (const Operation* operation : operations())
    if (operation->name == name) return *operation;
  for (const Operation* operation : {&exchange_operation(), &send_receive_operation()})
    if (operation->name == name) return *operation;
  assert(false && "the operation is in the table of net/ops/ops.cpp");
  std::abort();
}

}  // namespace voxswap::net
