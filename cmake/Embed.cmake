# Texts that become part of the program. assay_embed(TARGET SYMBOL FILE…): `const char SYMBOL[]`, the files one behind the other.
function(assay_embed target symbol)
  set(made ${PROJECT_BINARY_DIR}/embedded/${symbol}.c)
  list(JOIN ARGN "|" files)
  add_custom_command(OUTPUT ${made}
    COMMAND ${CMAKE_COMMAND} -DSYMBOL=${symbol} "-DFILES=${files}" -DOUTPUT=${made} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake COMMENT "" VERBATIM)
  target_sources(${target} PRIVATE ${made})
endfunction()
