# `cmake --install build/release`, and by `cpack` from there a Debian package (docs/how_to/install.md).
#
# The program is installed with its decoder and its module for MPI in lib/voxswap, where it looks for them; bin/ has a link to it.
install(TARGETS voxswap voxswap-decode RUNTIME DESTINATION lib/voxswap)
if(TARGET voxswap_mpi)
  install(TARGETS voxswap_mpi LIBRARY DESTINATION lib/voxswap)
endif()
install(CODE [[
  set(bin "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/bin")
  file(MAKE_DIRECTORY "${bin}")
  file(CREATE_LINK ../lib/voxswap/voxswap "${bin}/voxswap" SYMBOLIC)
]])
# The library, with what `find_package(voxswap)` needs.
install(TARGETS libvoxswap EXPORT voxswap LIBRARY DESTINATION lib)
install(DIRECTORY include/voxswap DESTINATION include)
install(EXPORT voxswap NAMESPACE voxswap:: DESTINATION lib/cmake/voxswap FILE voxswap-config.cmake)
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

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME voxswap)
set(CPACK_PACKAGE_CONTACT "The voxswap maintainers <maintainers@voxswap.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "trains 3D segmentation networks on whole MRI volumes")
set(CPACK_PACKAGE_DESCRIPTION "One YAML file describes an experiment; one command runs it, from the scans to label maps,
tables, plots and a page. Training steps are planned ahead of time, so that volumes
train that do not fit into memory: what does not fit is swapped or computed again.")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS gnuplot-nox)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
include(CPack)
