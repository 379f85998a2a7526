# What `cmake --install` puts under its prefix: the library as one file, its headers, the program, and the package that
# find_package(pawl) finds.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The folders that an embedder needs. Their objects are shared, so that nothing is compiled twice.
set(objects base calendar model policy decide store engine)
list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:pawl_\\1>")
add_library(pawl_embedded STATIC ${objects})
add_library(pawl::pawl ALIAS pawl_embedded)
set_target_properties(pawl_embedded PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME pawl EXPORT_NAME pawl)
target_compile_features(pawl_embedded INTERFACE cxx_std_20)
target_include_directories(pawl_embedded INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# What is added here, pawlConfig.cmake.in has to find. The last two come without a package, and where they are is a
# matter of the machine that links.
target_link_libraries(pawl_embedded PRIVATE
  date::date-tz simdjson::simdjson SQLite::SQLite3 OpenSSL::Crypto Threads::Threads
  $<BUILD_INTERFACE:${PAWL_YAML_LIBRARY}> $<BUILD_INTERFACE:${PAWL_XXHASH_LIBRARY}>
  $<INSTALL_INTERFACE:pawl::yaml> $<INSTALL_INTERFACE:pawl::xxhash>)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/pawl)
configure_package_config_file(cmake/pawlConfig.cmake.in pawlConfig.cmake INSTALL_DESTINATION ${package})
# Before 1.0 the minor version is the one that breaks.
write_basic_package_version_file(pawlConfigVersion.cmake COMPATIBILITY SameMinorVersion)

install(TARGETS pawl)
install(TARGETS pawl_embedded EXPORT pawl)
install(DIRECTORY include/pawl TYPE INCLUDE)
install(EXPORT pawl FILE pawlTargets.cmake NAMESPACE pawl:: DESTINATION ${package})
install(FILES ${PROJECT_BINARY_DIR}/pawlConfig.cmake ${PROJECT_BINARY_DIR}/pawlConfigVersion.cmake DESTINATION ${package})
