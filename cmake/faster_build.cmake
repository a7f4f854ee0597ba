# Faster builds. Most of a source's time goes to parsing headers and instantiating their templates, so several sources
# are compiled as one (a unity build; VOXSWAP_UNITY=OFF compiles each by itself), with the headers that most of them include
# precompiled: once for all rooms and once for all test programs. Targets with other options (instruction sets, OpenMP,
# ITK's) go without precompiled headers.
set(common <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <span> <string> <vector>
  base/error.h base/file.h base/json.h base/text.h)
list(TRANSFORM common REPLACE "^base/" "${CMAKE_SOURCE_DIR}/base/")
if(VOXSWAP_PRECOMPILED)
  target_precompile_headers(voxswap_metrics PRIVATE ${common})  # the room with the plainest options
  foreach(target data graph backend_cpu backend_reference swap pipeline experiments library cli)
    if(TARGET voxswap_${target})
      target_precompile_headers(voxswap_${target} REUSE_FROM voxswap_metrics)
    endif()
  endforeach()
  if(TARGET test_base)
    target_precompile_headers(test_base PRIVATE <gmock/gmock.h> <gtest/gtest.h> ${common})
    foreach(target cli data experiments metrics pipeline swap)
      if(TARGET test_${target})
        target_precompile_headers(test_${target} REUSE_FROM test_base)
      endif()
    endforeach()
  endif()
endif()
if(VOXSWAP_UNITY)
  foreach(target voxswap_cli voxswap_data voxswap_experiments voxswap_pipeline voxswap_library libvoxswap voxswap_swap test_base test_cli
      test_conformance test_data test_experiments test_metrics test_net test_pipeline test_swap)
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
      # Names of other sources, and types of a source that to the compiler is a header.
      target_compile_options(${target} PRIVATE -Wno-shadow -Wno-subobject-linkage)
    endif()
  endforeach()
endif()
