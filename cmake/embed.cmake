# embed_text(TARGET FILE NAME): the text of FILE becomes the constant NAME in the namespace of its top-level folder, in
# a header NAME.h at the same relative path in the build folder as FILE has among the sources.
#   embed_text(voxswap_pipeline report/page.css page_css)  ->  #include "pipeline/report/page_css.h"
function(embed_text target file name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${file} text)
  file(RELATIVE_PATH room ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  get_filename_component(folder ${file} DIRECTORY)
  set(header ${CMAKE_BINARY_DIR}/embedded/${room}/${folder}/${name}.h)
  file(GENERATE OUTPUT ${header} CONTENT
    "#pragma once\n\nnamespace voxswap::${room} {\n\nconstexpr const char* ${name} = R\"embedded(${text})embedded\";\n\n}\n")
  target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/embedded)
endfunction()
