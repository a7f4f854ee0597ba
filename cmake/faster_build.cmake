# Faster builds. Most compile time goes to parsing headers and instantiating their templates. Several sources are
# compiled as one (a unity build; VOXSWAP_UNITY=OFF compiles each separately), with the most used headers precompiled.
# Precompiled JSON and file system headers cost a second in each source, even where they are not used: metrics and net
# have a set of headers without them, the other folders and the test programs have sets with them. Targets with other
# options have their own set (OpenMP) or none (instruction sets, ITK's). Folders without loops over voxels use lower
# optimisation levels, which changes no result.
set(plain <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <span> <string> <vector>
  base/error.h base/text.h)
list(TRANSFORM plain REPLACE "^base/" "${CMAKE_SOURCE_DIR}/base/")
set(common ${plain} ${CMAKE_SOURCE_DIR}/base/file.h ${CMAKE_SOURCE_DIR}/base/json.h)
if(VOXSWAP_PRECOMPILED)
  target_precompile_headers(voxswap_metrics PRIVATE ${plain})
  foreach(target graph backend_cpu backend_reference)
    target_precompile_headers(voxswap_${target} REUSE_FROM voxswap_metrics)
  endforeach()
  target_precompile_headers(voxswap_backend_onednn PRIVATE ${plain})
  target_precompile_headers(voxswap_swap PRIVATE ${common})  # has the plainest options of these
  foreach(target data pipeline experiments library cli)
    target_precompile_headers(voxswap_${target} REUSE_FROM voxswap_swap)
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
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT VOXSWAP_SANITIZE)
  target_compile_options(voxswap_pipeline PRIVATE $<$<CONFIG:Release>:-O2>)
  foreach(target voxswap_experiments voxswap_library voxswap_cli)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endforeach()
endif()
if(VOXSWAP_SANITIZE AND NOT VOXSWAP_FUZZ)  # tests spend most of their time in kernels
  foreach(target backend_reference backend_convolution backend_onednn)
    target_compile_options(voxswap_${target} PRIVATE -O2)
  endforeach()
  set_target_properties(voxswap_backend_reference PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)  # made with -O1
endif()
if(VOXSWAP_UNITY)
  file(GLOB same_names CONFIGURE_DEPENDS net/ops/*.cpp net/networks/*.cpp)  # each defines its own infer and build
  set_source_files_properties(${same_names} TARGET_DIRECTORY voxswap_graph PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  foreach(target voxswap_base voxswap_cli voxswap_data voxswap_experiments voxswap_graph voxswap_pipeline
      voxswap_library libvoxswap voxswap_swap test_base test_cli test_conformance test_data test_experiments test_metrics test_net test_pipeline
      test_swap)
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
      # Sources in one unit share names, and the compiler treats included sources as headers.
      target_compile_options(${target} PRIVATE -Wno-shadow -Wno-subobject-linkage)
    endif()
  endforeach()
endif()
