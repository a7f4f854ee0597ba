# The headers that most sources include, compiled once for all rooms, once for cli and once for all test programs:
# parsing them takes longer than most sources themselves. Targets with other options (instruction sets, OpenMP, ITK's)
# go without.
set(common <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <span> <string> <vector>
  base/error.h base/file.h base/json.h base/text.h)
list(TRANSFORM common REPLACE "^base/" "${CMAKE_SOURCE_DIR}/base/")
target_precompile_headers(voxswap_metrics PRIVATE ${common})  # the room with the plainest options
foreach(target data graph backend_cpu backend_reference swap pipeline experiments library)
  if(TARGET voxswap_${target})
    target_precompile_headers(voxswap_${target} REUSE_FROM voxswap_metrics)
  endif()
endforeach()
if(TARGET voxswap_cli)
  target_precompile_headers(voxswap_cli PRIVATE <CLI/CLI.hpp> ${common})
endif()
if(TARGET test_base)
  target_precompile_headers(test_base PRIVATE <gmock/gmock.h> <gtest/gtest.h> ${common})
  foreach(target cli data experiments metrics pipeline swap)
    if(TARGET test_${target})
      target_precompile_headers(test_${target} REUSE_FROM test_base)
    endif()
  endforeach()
endif()
