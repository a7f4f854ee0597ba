# Writes OUT, a header with the current commit (empty outside a git checkout). Runs at every build, so that it is never
# outdated, and writes only changes, so that nothing is recompiled needlessly.
#   cmake -DSOURCE=... -DOUT=... -P commit.cmake
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=10 --match=
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(text "#pragma once\n#define VOXSWAP_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUT} "${text}")
endif()
