# How every folder of Pawl becomes a target.

find_program(PAWL_CCACHE ccache)
if(PAWL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PAWL_CCACHE})
endif()

# What every target of ours is compiled with. Linked privately, so that it does not reach those who use the library.
add_library(pawl_flags INTERFACE)
target_compile_features(pawl_flags INTERFACE cxx_std_20)
target_compile_options(pawl_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wcast-align -Wimplicit-fallthrough -Wno-missing-field-initializers -fno-omit-frame-pointer)
if(PAWL_MUTANTS)
  target_compile_definitions(pawl_flags INTERFACE PAWL_MUTANTS)
endif()
if(PAWL_SANITIZE)
  target_compile_options(pawl_flags INTERFACE -fsanitize=${PAWL_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(pawl_flags INTERFACE -fsanitize=${PAWL_SANITIZE})
  if(PAWL_SANITIZE MATCHES undefined)
    # Half of what GCC needs to compile goes into these two. AddressSanitizer ends a program that follows a null pointer;
    # what is not aligned is left to the fuzz targets, which Clang compiles with both.
    target_compile_options(pawl_flags INTERFACE -fno-sanitize=null,alignment)
  endif()
endif()

# pawl_library(NAME SOURCES … HEADERS … LINKS …): one folder, one static library. Every header is compiled alone.
function(pawl_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;PUBLIC_HEADERS;LINKS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${arg_HEADERS})
  if(arg_PUBLIC_HEADERS)
    target_sources(${name} PUBLIC FILE_SET public_headers TYPE HEADERS
      BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${arg_PUBLIC_HEADERS})
  endif()
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PUBLIC ${arg_LINKS} PRIVATE $<BUILD_INTERFACE:pawl_flags>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  set_target_properties(${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()

# pawl_test(NAME SOURCES … LINKS …): one test program, each TEST a test of ctest. With sanitizers the program is one test:
# starting it two thousand times would take longer than the tests.
function(pawl_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  if(NOT PAWL_TESTS)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINKS} GTest::gtest_main pawl_flags)
  target_compile_definitions(${name} PRIVATE PAWL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(PAWL_SANITIZE)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  else()
    include(GoogleTest)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST)
  endif()
endfunction()
