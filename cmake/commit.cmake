# Writes OUT, a header with the commit that is built (empty outside a git checkout); at every build, so that it is never
# that of an earlier one, and only where it differs, so that nothing is compiled for nothing.
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
