# The viewer's page: web/src bundled into one script and one style sheet, which become part of the command (src/server/web.h).
if(ASSAY_WEB AND NOT ASSAY_FUZZ)
  find_program(NODE NAMES node nodejs)
  if(NOT NODE)
    message(FATAL_ERROR "node not found, which bundles the viewer: install nodejs and npm (18 or newer), or configure with -DASSAY_WEB=OFF")
  endif()
  set(ASSAY_WEB_DIR ${PROJECT_SOURCE_DIR}/web)
  set(ASSAY_WEB_OUT ${PROJECT_BINARY_DIR}/web)
  set(ASSAY_WEB_PACKAGES ${ASSAY_WEB_DIR}/node_modules/.installed)
  add_custom_command(OUTPUT ${ASSAY_WEB_PACKAGES} COMMAND ${PROJECT_SOURCE_DIR}/tools/install-web
    DEPENDS ${ASSAY_WEB_DIR}/package.json ${ASSAY_WEB_DIR}/package-lock.json COMMENT "Installing the packages of web/" VERBATIM)
  file(GLOB_RECURSE ASSAY_WEB_SOURCES CONFIGURE_DEPENDS ${ASSAY_WEB_DIR}/src/*.ts ${ASSAY_WEB_DIR}/src/*.tsx ${ASSAY_WEB_DIR}/src/*.css ${ASSAY_WEB_DIR}/src/*.html)
  add_executable(assay_web_pack ${ASSAY_WEB_DIR}/pack.c)
  target_link_libraries(assay_web_pack PRIVATE assay_flags PkgConfig::DEFLATE)
  add_custom_command(OUTPUT ${ASSAY_WEB_OUT}/bundle.c BYPRODUCTS ${ASSAY_WEB_OUT}/assay.js ${ASSAY_WEB_OUT}/report.js ${ASSAY_WEB_OUT}/assay.css ${ASSAY_WEB_OUT}/index.html
    COMMAND ${NODE} ${ASSAY_WEB_DIR}/build.mjs ${ASSAY_WEB_OUT} $<TARGET_FILE:assay_web_pack>
    DEPENDS assay_web_pack ${ASSAY_WEB_SOURCES} ${ASSAY_WEB_DIR}/build.mjs ${ASSAY_WEB_DIR}/tsconfig.json ${ASSAY_WEB_PACKAGES} COMMENT "Bundling the viewer" VERBATIM)
  add_library(assay_web OBJECT ${ASSAY_WEB_OUT}/bundle.c)
else()
  add_library(assay_web OBJECT src/server/web_missing.c)
endif()
target_link_libraries(assay_web PUBLIC assay_flags)
