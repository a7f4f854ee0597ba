# `cmake --install build/release` (docs/building.md).
#
# The program lies with its module for MPI in lib/voxswap, which it looks for beside itself; bin/ has a link to it.
install(TARGETS voxswap RUNTIME DESTINATION lib/voxswap)
if(TARGET voxswap_mpi)
  install(TARGETS voxswap_mpi LIBRARY DESTINATION lib/voxswap)
endif()
install(CODE [[
  set(bin "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/bin")
  file(MAKE_DIRECTORY "${bin}")
  file(CREATE_LINK ../lib/voxswap/voxswap "${bin}/voxswap" SYMBOLIC)
]])
install(DIRECTORY experiments/ DESTINATION share/voxswap/experiments FILES_MATCHING PATTERN "*.yaml" PATTERN "*.schema.json")
install(FILES README.md CITATION.cff DESTINATION share/doc/voxswap)

# What the program writes about itself: its manual page, and completion for shells. Debian wants pages and changes packed.
set(written ${CMAKE_BINARY_DIR}/share)
file(MAKE_DIRECTORY ${written}/man/man1)
add_custom_command(OUTPUT ${written}/man/man1/voxswap.1.gz
  COMMAND voxswap help --manual > ${written}/man/man1/voxswap.1
  COMMAND gzip -9nkf ${written}/man/man1/voxswap.1
  DEPENDS voxswap VERBATIM)
set(completions)
foreach(shell bash zsh fish)
  add_custom_command(OUTPUT ${written}/completion.${shell}
    COMMAND voxswap completion ${shell} > ${written}/completion.${shell} DEPENDS voxswap VERBATIM)
  list(APPEND completions ${written}/completion.${shell})
endforeach()
add_custom_command(OUTPUT ${written}/changelog.gz
  COMMAND gzip -9nc ${CMAKE_SOURCE_DIR}/CHANGELOG.md > ${written}/changelog.gz DEPENDS CHANGELOG.md VERBATIM)
add_custom_target(voxswap_written ALL DEPENDS ${written}/man/man1/voxswap.1.gz ${completions} ${written}/changelog.gz)
install(FILES ${written}/man/man1/voxswap.1.gz DESTINATION share/man/man1)
install(FILES ${written}/completion.bash DESTINATION share/bash-completion/completions RENAME voxswap)
install(FILES ${written}/completion.zsh DESTINATION share/zsh/vendor-completions RENAME _voxswap)
install(FILES ${written}/completion.fish DESTINATION share/fish/vendor_completions.d RENAME voxswap.fish)
install(FILES ${written}/changelog.gz DESTINATION share/doc/voxswap)
install(FILES cmake/copyright DESTINATION share/doc/voxswap)
