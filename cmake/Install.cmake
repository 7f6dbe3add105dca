# The library for others, and what `make install` puts where. The command is built from the same objects and does not need the library.
include(CMakePackageConfigHelpers)

add_library(assay_shared SHARED)
target_link_libraries(assay_shared PRIVATE assay_objects)
target_link_options(assay_shared PRIVATE LINKER:--version-script,${PROJECT_SOURCE_DIR}/cmake/assay.map)
set_target_properties(assay_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/assay.map)

# A static library carries no libraries with it: whoever links it needs those of the list as well.
add_library(assay_static STATIC $<TARGET_OBJECTS:assay_objects>)
target_link_libraries(assay_static INTERFACE sqlite3 archive deflate z expat yaml xxhash Threads::Threads stdc++ m)
set_target_properties(assay_static PROPERTIES LINKER_LANGUAGE C)

foreach(library assay_shared assay_static)
  set_target_properties(${library} PROPERTIES OUTPUT_NAME assay)
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
set_target_properties(assay_shared PROPERTIES EXPORT_NAME assay)
set_target_properties(assay_static PROPERTIES EXPORT_NAME static)

set(ASSAY_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/assay)
install(TARGETS assay-command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET assay-mpi)
  install(TARGETS assay-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS assay_shared assay_static assay_capture_shared assay_capture_static EXPORT assayTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/assay/assay.h include/assay/capture.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/assay)
install(EXPORT assayTargets NAMESPACE assay:: DESTINATION ${ASSAY_PACKAGE_DIR})

configure_package_config_file(cmake/assayConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/assayConfig.cmake INSTALL_DESTINATION ${ASSAY_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/assayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/assayConfig.cmake ${PROJECT_BINARY_DIR}/cmake/assayConfigVersion.cmake DESTINATION ${ASSAY_PACKAGE_DIR})

# From the .pc file up to the prefix, so that an installed tree can be moved.
file(RELATIVE_PATH ASSAY_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" ASSAY_PC_PREFIX "${ASSAY_PC_PREFIX}")
foreach(module assay assay-capture)
  configure_file(cmake/${module}.pc.in ${PROJECT_BINARY_DIR}/cmake/${module}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/cmake/${module}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
