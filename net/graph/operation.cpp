#include "net/graph/operation.h"

#include <cassert>
#include <cstdlib>

namespace voxswap::net {

const Operation& find_operation(std::string_view name) {
  for (const Operation* operation : operations())
    if (operation->name == name) return *operation;
  if (name == exchange_operation().name) return exchange_operation();
  assert(false && "the operation is in the table of net/ops/ops.cpp");
  std::abort();
}

}  // namespace voxswap::net
