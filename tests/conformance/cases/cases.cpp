// The table of cases: operation name -> cases.
#include "tests/conformance/cases/cases.h"

#include <map>

namespace voxswap::net {

namespace {

std::map<std::string_view, std::vector<OperationCase>> make_table() {
  std::map<std::string_view, std::vector<OperationCase>> table;
#define ROW(operation) table[#operation] = cases::operation();
#define WINDOWED_ROW(operation) \
  table["windowed_" #operation] = cases::windowed(find_operation(#operation), table.at(#operation));
  VOXSWAP_OPERATIONS(ROW)
  VOXSWAP_WINDOWED_OPERATIONS(WINDOWED_ROW)
#undef WINDOWED_ROW
#undef ROW
  return table;
}

}  // namespace

const std::vector<OperationCase>& cases_of(std::string_view operation) {
  static const std::map<std::string_view, std::vector<OperationCase>> table = make_table();
  return table.at(operation);
}

}  // namespace voxswap::net
